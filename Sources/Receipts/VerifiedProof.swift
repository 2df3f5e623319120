import Commerce
import Signatures

/// A proof whose signature, chain and content have been checked.
public struct VerifiedProof: Sendable {
    /// What was signed. Indirect, so that a proof is handed on as a pointer, however wide its content: what throwing
    /// functions return stays below 128 bytes, where Swift 6.3 miscompiles some of them (swiftlang/swift#90477).
    public indirect enum Content: Sendable {
        case appReceipt(AppReceipt)
        case transaction(JWSTransactionDecodedPayload)
        case renewalInfo(JWSRenewalInfoDecodedPayload)
        case notification(ResponseBodyV2DecodedPayload)
        case appTransaction(AppTransaction)
    }

    public let content: Content
    public let origin: Origin
    public let environment: AppStoreEnvironment
    /// When it was signed; for an app receipt and an app transaction, when it was created.
    public let signedAt: Timestamp
    /// The app it is for; nil where the format names none, as in renewal information.
    public let bundleIdentifier: String?
    /// The SHA-256 of what was signed, by which the ledger remembers it: one for one content, however it is wrapped.
    public let digest: [UInt8]
    /// The transaction inside a notification, verified like the notification itself; nil where there is none.
    public internal(set) var notifiedTransaction: JWSTransactionDecodedPayload?
    /// The signed form of that transaction; nil where there is none.
    public internal(set) var notifiedTransactionProof: SignedPart?
    /// The renewal information inside a notification, verified likewise; nil where there is none.
    public internal(set) var notifiedRenewalInfo: JWSRenewalInfoDecodedPayload?
    /// The SHA-256 of what was signed of that renewal information.
    var notifiedRenewalInfoDigest: [UInt8]?
    /// The chains that vouch for it, each leaf first, the trusted root last: its own, then those of the proofs inside it.
    public internal(set) var chains: [[Certificate]]

    /// A proof inside another. A class, so that a verified proof stays small (see `Content`).
    public final class SignedPart: Sendable {
        /// The JWS.
        public let compact: String
        /// The SHA-256 of what was signed.
        public let digest: [UInt8]
        public let fingerprints: Fingerprints

        init(compact: String, digest: [UInt8], fingerprints: Fingerprints) {
            self.compact = compact
            self.digest = digest
            self.fingerprints = fingerprints
        }
    }

    /// The SHA-256 of the certificates that end and begin the proof's own chain.
    public struct Fingerprints: Hashable, Sendable, Codable {
        /// Of the trusted root.
        public let anchor: [UInt8]
        public let leaf: [UInt8]

        public init(anchor: [UInt8], leaf: [UInt8]) {
            self.anchor = anchor
            self.leaf = leaf
        }
    }

    public let fingerprints: Fingerprints

    /// The statement about a renewal, in a notification or alone; nil where there is none.
    public var renewal: StatedRenewal? {
        if case .renewalInfo(let renewalInfo) = content { return StatedRenewal(renewalInfo, digest: digest) }
        guard let notifiedRenewalInfo, let notifiedRenewalInfoDigest else { return nil }
        return StatedRenewal(notifiedRenewalInfo, digest: notifiedRenewalInfoDigest)
    }

    /// What can be redeemed; nil when this kind of proof holds no purchases.
    public var purchases: [ProvenPurchase]? {
        switch content {
        case .appReceipt(let receipt): receipt.inAppPurchases.map(ProvenPurchase.init)
        case .transaction(let transaction): [ProvenPurchase(transaction)]
        case .renewalInfo, .notification, .appTransaction: nil
        }
    }
}
