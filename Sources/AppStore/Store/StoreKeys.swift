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

    private static func file(_ chain: Chain, _ place: Place, _ type: String, in folder: URL) -> URL {
        folder.appending(path: "\(chain.rawValue)-\(place.rawValue).\(type)", directoryHint: .notDirectory)
    }

    private static func load(_ chain: Chain, from folder: URL) throws(StoreError) -> SigningIdentity {
        let certificates = Place.allCases.compactMap { place in
            (try? Data(contentsOf: file(chain, place, "cer", in: folder))).flatMap { Certificate(der: [UInt8]($0)) }
        }
        guard certificates.count == Place.allCases.count, let leaf = certificates.first,
            let pem = try? String(contentsOf: file(chain, .leaf, "pem", in: folder), encoding: .utf8),
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
                try PrivateFile.create(link.certificate.der, at: file(chain, place, "cer", in: unfinished))
                try PrivateFile.create(Array(try link.key.pem().utf8), at: file(chain, place, "pem", in: unfinished))
            }
        }
        try FileManager.default.moveItem(at: unfinished, to: folder)
    }
}

/// A key that signs proofs, with its certificate chain.
struct SigningIdentity: Sendable {
    let key: PrivateKey
    /// The certificates of the leaf, the intermediate and the root, in this order.
    let chain: [Certificate]
}

/// The store's identity for TLS: a certificate for Apple's host names, issued by a local authority. Clients have to trust
/// the authority.
package struct ServerIdentity: Sendable {
    /// The hosts of the App Store Server API and of verifyReceipt, old and new, the placeholder of Apple's libraries for local
    /// testing, and this machine.
    package static let hostNames = [
        "api.storekit.apple.com", "api.storekit-sandbox.apple.com", "api.storekit.itunes.apple.com",
        "api.storekit-sandbox.itunes.apple.com", "buy.itunes.apple.com", "sandbox.itunes.apple.com",
        "local-testing-base-url", "localhost", "127.0.0.1",
    ]

    /// The validity of the authority, and of the server's certificate, in days. Each start makes a new server certificate.
    /// Clients reject one that is valid for more than 398 days.
    private static let authorityDays: Int64 = 20 * 365
    private static let certificateDays: Int64 = 90

    /// The file of the authority's certificate, in PEM.
    package let authority: URL
    /// The file of the server's certificate and the authority's, in PEM.
    package let certificate: URL
    /// The file of the server's private key, in PEM.
    package let key: URL

    /// Makes the server's certificate in a folder, and the authority if the folder has none.
    package init(folder: URL, clock: any WallClock, randomness: Randomness) throws(StoreError) {
        authority = folder.appending(path: "authority.pem", directoryHint: .notDirectory)
        certificate = folder.appending(path: "server.pem", directoryHint: .notDirectory)
        key = folder.appending(path: "server-key.pem", directoryHint: .notDirectory)
        let (certificate, key) = (certificate, key)
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            try PrivateFile.withLock(folder.appendingPathExtension("lock")) {
                let issuer = Issuer(clock: clock, randomness: randomness)
                let authority = try issuer.authority(in: folder)
                let server = try issuer.certificate(
                    .leaf, "Till Local Store", days: Self.certificateDays, serverNames: Self.hostNames, below: authority
                )
                try PrivateFile.replace(
                    certificate, with: Array((server.certificate.pem + authority.certificate.pem).utf8))
                try PrivateFile.replace(key, with: Array(try server.key.pem().utf8))
            }
        } catch let error as StoreError {
            throw error
        } catch {
            throw .signingFailed("\(error)")
        }
    }

    /// Issues certificates, each with a P-256 key.
    private struct Issuer {
        typealias Link = (certificate: Certificate, key: PrivateKey)

        let clock: any WallClock
        let randomness: Randomness

        /// The authority of a folder. A missing one is made.
        func authority(in folder: URL) throws -> Link {
            let certificateFile = folder.appending(path: "authority.cer", directoryHint: .notDirectory)
            let keyFile = folder.appending(path: "authority-key.pem", directoryHint: .notDirectory)
            // The key is written last: if it exists, the other files do.
            if let pem = try? String(contentsOf: keyFile, encoding: .utf8) {
                let key = try PrivateKey(pem: pem)
                guard let certificate = Certificate(der: [UInt8](try Data(contentsOf: certificateFile))),
                    certificate.publicKey == key.publicKey
                else { throw StoreError.keysUnreadable(path: folder.path) }
                return (certificate, key)
            }
            let made = try certificate(.root, "Till Local TLS", days: ServerIdentity.authorityDays)
            try PrivateFile.replace(certificateFile, with: made.certificate.der)
            try PrivateFile.replace(
                folder.appending(path: "authority.pem", directoryHint: .notDirectory),
                with: Array(made.certificate.pem.utf8))
            try PrivateFile.replace(keyFile, with: Array(try made.key.pem().utf8))
            return made
        }

        func certificate(
            _ role: CertificateTemplate.Role,
            _ commonName: String,
            days: Int64,
            serverNames: [String] = [],
            below issuer: Link? = nil
        ) throws -> Link {
            let now = clock.now()
            let key = try PrivateKey.generate(.p256)
            // A day back, for a client whose clock is behind. A leading 1 keeps the number positive.
            let certificate = try CertificateTemplate(
                role: role, commonName: commonName, organization: "Till", serialNumber: [1] + randomness.bytes(15),
                notBefore: now.adding(days: -1).secondsSince1970, notAfter: now.adding(days: days).secondsSince1970,
                serverNames: serverNames
            ).issue(for: key.publicKey, issuer: issuer?.certificate, signer: issuer?.key ?? key, digest: .sha256)
            return (certificate, key)
        }
    }
}
