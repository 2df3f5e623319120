import Foundation
import Proofs

/// The store's two signers, in a folder of their own: one for signed transactions, one for app receipts.
struct StoreKeys: Sendable {
    /// The P-256 key for JWS (ES256).
    let transactionSigner: SigningIdentity
    /// The RSA key of 2048 bits for app receipts (PKCS#7).
    let receiptSigner: SigningIdentity

    /// Loads the keys, or makes them if the folder does not exist. The folder is created complete or not at all, so two
    /// processes at once, or a crash, leave one set of keys.
    init(folder: URL, clock: any WallClock, randomness: Randomness) throws(StoreError) {
        if !FileManager.default.fileExists(atPath: folder.path) {
            do {
                try FileManager.default.createDirectory(
                    at: folder.deletingLastPathComponent(), withIntermediateDirectories: true,
                    attributes: [.posixPermissions: 0o700])
                try PrivateFile.withLock(folder.appendingPathExtension("lock")) {
                    guard !FileManager.default.fileExists(atPath: folder.path) else { return }
                    try Self.make(folder: folder, now: clock.now(), randomness: randomness)
                }
            } catch {
                throw .signingFailed("\(error)")
            }
        }
        transactionSigner = try Self.load(.transactions, from: folder)
        receiptSigner = try Self.load(.receipts, from: folder)
    }

    /// One of the two chains, with the names of its files.
    private enum Chain: String, CaseIterable {
        case transactions
        case receipts

        var algorithm: CertificateChain.Algorithm { self == .transactions ? .ellipticCurve : .rsa }
    }

    /// Twenty years, more than the life of any data directory.
    private static let validityDays: Int64 = 20 * 365

    private enum Place: String, CaseIterable {
        case leaf
        case intermediate
        case root
    }

    private static func certificateFile(_ chain: Chain, _ place: Place, in folder: URL) -> URL {
        folder.appending(path: "\(chain.rawValue)-\(place.rawValue).cer", directoryHint: .notDirectory)
    }

    private static func keyFile(_ chain: Chain, _ place: Place, in folder: URL) -> URL {
        folder.appending(path: "\(chain.rawValue)-\(place.rawValue).pem", directoryHint: .notDirectory)
    }

    private static func load(_ chain: Chain, from folder: URL) throws(StoreError) -> SigningIdentity {
        let certificates = Place.allCases.compactMap { place in
            (try? Data(contentsOf: certificateFile(chain, place, in: folder))).flatMap { Certificate(der: [UInt8]($0)) }
        }
        guard certificates.count == Place.allCases.count, let leaf = certificates.first,
            let pem = try? String(contentsOf: keyFile(chain, .leaf, in: folder), encoding: .utf8),
            let key = try? PrivateKey(pem: pem), leaf.publicKey == key.publicKey
        else { throw .keysUnreadable(path: folder.path) }
        return SigningIdentity(key: key, chain: certificates)
    }

    /// Makes the keys beside the folder, and renames it when they are all on disk. The caller holds the lock.
    private static func make(folder: URL, now: Timestamp, randomness: Randomness) throws {
        let unfinished = folder.appendingPathExtension("unfinished")
        // A crash may have left it.
        try? FileManager.default.removeItem(at: unfinished)
        try FileManager.default.createDirectory(
            at: unfinished, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        for chain in Chain.allCases {
            // A day back, for a verifier whose clock is behind.
            let made = try CertificateChain.make(
                chain.algorithm, name: "Till Local \(chain.rawValue.capitalized)",
                validity: now.adding(days: -1).secondsSince1970...now.adding(days: validityDays).secondsSince1970,
                randomBytes: randomness.bytes)
            for (place, link) in zip(Place.allCases, [made.leaf, made.intermediate, made.root]) {
                try PrivateFile.create(link.certificate.der, at: certificateFile(chain, place, in: unfinished))
                try PrivateFile.create(Array(try link.key.pem().utf8), at: keyFile(chain, place, in: unfinished))
            }
        }
        try FileManager.default.moveItem(at: unfinished, to: folder)
    }
}
