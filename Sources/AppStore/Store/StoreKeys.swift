import Foundation
import Proofs
import Synchronization

/// The store's two signers, in a folder of their own: one for signed transactions, one for app receipts.
///
/// The certificates below the roots name the store's OCSP responder. They are issued anew for another address; the keys and the roots
/// stay.
final class StoreKeys: Sendable {
    /// One of the two chains, with the names of its files.
    enum Chain: String, CaseIterable {
        /// P-256 for JWS (ES256).
        case transactions
        /// RSA of 2048 bits for app receipts (PKCS#7).
        case receipts

        fileprivate var algorithm: CertificateChain.Algorithm { self == .transactions ? .ellipticCurve : .rsa }
    }

    private struct State {
        /// The chains as they are used, each from its first use on.
        var chains: [Chain: CertificateChain]
        /// The address at which verifiers reach the store; nil while it listens nowhere.
        var address: URL?
    }

    /// The path of the responder below the store's address.
    static let responderPath = "ocsp"

    /// The folder of the keys; nil for those of a named store, whose certificates are in memory.
    private let folder: URL?
    /// The chains from which others are issued.
    private let loaded: [Chain: CertificateChain]
    private let state: Mutex<State>

    /// Loads the keys, or makes them if the folder does not exist. The folder is created complete or not at all, so two
    /// processes at once, or a crash, leave one set of keys.
    init(folder: URL, clock: any WallClock, randomness: Randomness) throws(StoreError) {
        if !FileManager.default.fileExists(atPath: folder.path) {
            do {
                try FileManager.default.createDirectory(
                    at: folder.deletingLastPathComponent(), withIntermediateDirectories: true,
                    attributes: [.posixPermissions: 0o700])
                try PrivateFile.withLock(Self.lock(folder)) {
                    guard !FileManager.default.fileExists(atPath: folder.path) else { return }
                    try Self.make(folder: folder, now: clock.now(), randomness: randomness)
                }
            } catch {
                throw .signingFailed("\(error)")
            }
        }
        self.folder = folder
        loaded = [
            .transactions: try Self.load(.transactions, from: folder),
            .receipts: try Self.load(.receipts, from: folder),
        ]
        state = Mutex(State(chains: loaded))
    }

    /// The same keys for a named store, with a responder of its own. Its certificates are issued at their first use.
    ///
    /// - Parameter path: The path of its routes below the other store's address.
    init(of main: StoreKeys, below path: String) {
        let address = main.state.withLock(\.address)?.appending(path: path)
        (folder, loaded) = (nil, main.loaded)
        state = Mutex(State(chains: address == nil ? main.loaded : [:], address: address))
    }

    /// The chain that signs now.
    func chain(_ chain: Chain) throws -> CertificateChain {
        try state.withLock { state in
            if let known = state.chains[chain] { return known }
            guard let loaded = loaded[chain], let address = state.address else {
                throw StoreError.keysUnreadable(path: folder?.path ?? "")
            }
            let issued = try loaded.naming(ocspResponder: Self.responder(at: address))
            state.chains[chain] = issued
            return issued
        }
    }

    var roots: [Certificate] { Chain.allCases.compactMap { loaded[$0]?.root.certificate } }

    /// Names the responder below an address in the certificates from now on, also in their files. Certificates that name it stay.
    func name(responderAt address: URL) throws {
        let responder = Self.responder(at: address)
        try state.withLock { state in
            state.address = address
            for (chain, known) in state.chains where known.leaf.certificate.ocspResponders != [responder] {
                let issued = try known.naming(ocspResponder: responder)
                state.chains[chain] = issued
                guard let folder else { continue }
                // The two files fit each other at any moment, because the keys and the names are the same.
                try PrivateFile.withLock(Self.lock(folder)) {
                    for (place, link) in [(Place.intermediate, issued.intermediate), (.leaf, issued.leaf)] {
                        try PrivateFile.replace(
                            Self.file(chain, place, "cer", in: folder), with: link.certificate.der)
                    }
                }
            }
        }
    }

    /// The text in a certificate, whose notation separates several by commas.
    private static func responder(at address: URL) -> String {
        address.appending(path: responderPath).absoluteString.replacing(",", with: "%2C")
    }

    /// The responder that answers for the certificates.
    ///
    /// - Parameter verdict: The verdict on a certificate of a place in the chain; nil for one that is unknown.
    func ocspResponder(_ verdict: (Place, Certificate) -> OCSPStatus.Verdict?) throws -> OCSPResponder {
        OCSPResponder(
            try Chain.allCases.flatMap { chain in
                let chain = try self.chain(chain)
                return [(Place.leaf, chain.leaf, chain.intermediate), (.intermediate, chain.intermediate, chain.root)]
                    .map { place, link, issuer in
                        OCSPResponder.Subject(
                            link.certificate, issuer: issuer, verdict: verdict(place, link.certificate))
                    }
            })
    }

    /// Twenty years, more than the life of any data directory.
    private static let validityDays: Int64 = 20 * 365

    enum Place: String, CaseIterable {
        case leaf
        case intermediate
        case root
    }

    private static func lock(_ folder: URL) -> URL { folder.appendingPathExtension("lock") }

    private static func file(_ chain: Chain, _ place: Place, _ type: String, in folder: URL) -> URL {
        folder.appending(path: "\(chain.rawValue)-\(place.rawValue).\(type)", directoryHint: .notDirectory)
    }

    private static func load(_ chain: Chain, from folder: URL) throws(StoreError) -> CertificateChain {
        let links = Place.allCases.compactMap { place -> CertificateChain.Link? in
            guard let der = try? Data(contentsOf: file(chain, place, "cer", in: folder)),
                let certificate = Certificate(der: [UInt8](der)),
                let pem = try? String(contentsOf: file(chain, place, "pem", in: folder), encoding: .utf8),
                let key = try? PrivateKey(pem: pem), certificate.publicKey == key.publicKey
            else { return nil }
            return CertificateChain.Link(certificate: certificate, key: key)
        }
        guard links.count == Place.allCases.count else { throw .keysUnreadable(path: folder.path) }
        return CertificateChain(root: links[2], intermediate: links[1], leaf: links[0])
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

/// A status of the store's certificates that makes verifiers with online checks refuse its proofs (OCSP).
package enum CertificateStatus: String, Sendable, Codable, CaseIterable {
    /// The certificates of the signers are revoked.
    case revokedLeaf
    /// The certificates of the authorities that issued the signers' are revoked.
    case revokedIntermediate
    /// The responder knows no certificate.
    case unknown
    /// The responder does not answer.
    case unavailable

    /// The verdict on a certificate; nil for an unknown one. A revocation takes every proof, so its date is the first day.
    fileprivate func verdict(on place: StoreKeys.Place, _ certificate: Certificate) -> OCSPStatus.Verdict? {
        switch (self, place) {
        case (.unknown, _): nil
        case (.revokedLeaf, .leaf), (.revokedIntermediate, .intermediate): .revoked(at: certificate.notBefore)
        case (.revokedLeaf, _), (.revokedIntermediate, _), (.unavailable, _): .good
        }
    }
}

/// The store's OCSP responder (RFC 6960).
extension Store {
    /// The validity of an answer, in seconds. It is short, because a tester changes the status.
    private static let ocspLifetime: Int64 = 300

    /// Names the store's OCSP responder in its certificates from now on.
    ///
    /// - Parameter address: The address at which verifiers reach the store.
    package func nameResponder(at address: URL) throws(StoreError) {
        do { try issuer.keys.name(responderAt: address) } catch { throw fault(error) }
    }

    /// The answer to a request about the store's certificates; nil while the responder is unavailable. Verifiers go by the machine's
    /// clock.
    func ocspAnswer(to request: [UInt8]) throws(StoreError) -> [UInt8]? {
        let status = try settings().certificateStatus
        guard status != .unavailable else { return nil }
        do {
            return try issuer.keys.ocspResponder { place, certificate in
                guard let status else { return .good }
                return status.verdict(on: place, certificate)
            }.answer(to: request, at: machineClock.now().secondsSince1970, validFor: Self.ocspLifetime)
        } catch { throw fault(error) }
    }
}
