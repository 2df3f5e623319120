/// A proof with a verified signature, chain and content.
public struct VerifiedProof: Sendable {
    /// The signed content. It is indirect, so a proof is passed as a pointer. The result of a throwing function must
    /// stay below 128 bytes, because Swift 6.3 miscompiles some wider ones (swiftlang/swift#90477).
    public indirect enum Content: Sendable {
        case appReceipt(AppReceipt)
        case transaction(JWSTransactionDecodedPayload)
        case renewalInfo(JWSRenewalInfoDecodedPayload)
        case notification(ResponseBodyV2DecodedPayload)
        case appTransaction(AppTransaction)
        case signedPurchase(GooglePlayPurchase)
    }

    public let content: Content
    public let origin: Origin
    public let environment: AppStoreEnvironment
    /// The signing date. For an app receipt or an app transaction, the creation date. For a signed purchase of Google Play, which states no other
    /// date, that of the purchase.
    public let signedAt: Timestamp
    /// The app's bundle identifier. Nil if the format has none, as in renewal information.
    public let bundleIdentifier: String?
    /// The SHA-256 of the signed bytes. The ledger identifies the proof by it, independent of the container.
    public let digest: [UInt8]
    /// The verified transaction inside a notification. Nil if there is none.
    public internal(set) var notifiedTransaction: JWSTransactionDecodedPayload?
    /// The signed form of that transaction. Nil if there is none.
    public var notifiedTransactionProof: SignedPart? { notifiedTransactionProofs.first }
    /// That form, at most one. The array keeps a verified proof small (see `Content`).
    var notifiedTransactionProofs: [SignedPart] = []
    /// The statement of the renewal information inside a notification. Nil if there is none.
    var notifiedRenewal: StatedRenewal?
    /// The certificate chains, each from the leaf to the trusted root: the proof's own chain first, then those of
    /// nested proofs.
    public internal(set) var chains: [[Certificate]]
    /// The fields, or attributes of an app receipt, whose form no decision needs and that were read as absent.
    public internal(set) var unreadableFields: [String] = []

    /// A nested proof.
    public struct SignedPart: Sendable {
        /// The JWS in compact form.
        public let compact: String
        /// The SHA-256 of the signed bytes.
        public let digest: [UInt8]
        public let fingerprints: Fingerprints
    }

    /// The SHA-256 of the first and last certificates of the proof's own chain, or twice that of the key of an app on Google Play.
    public struct Fingerprints: Hashable, Sendable, Codable {
        /// The fingerprint of the trusted root.
        public let anchor: [UInt8]
        public let leaf: [UInt8]
    }

    public let fingerprints: Fingerprints

    /// The statement about a renewal, nested or alone. Nil if there is none.
    public var renewal: StatedRenewal? {
        if case .renewalInfo(let renewalInfo) = content { return StatedRenewal(renewalInfo, digest: digest) }
        return notifiedRenewal
    }

    /// False for a kind of proof that never states the end of a subscription. Then only the store knows if it is paid.
    public var statesEnds: Bool { signedPurchase == nil }

    /// The purchases that can be redeemed. Nil if this kind of proof contains none.
    public var purchases: [ProvenPurchase]? {
        switch content {
        case .appReceipt(let receipt): receipt.inAppPurchases.map { identified(ProvenPurchase($0)) }
        case .transaction(let transaction): [identified(ProvenPurchase(transaction))]
        case .signedPurchase(let purchase): ProvenPurchase.all(of: purchase)
        case .renewalInfo, .notification, .appTransaction: nil
        }
    }

    /// The signed purchase of Google Play. Nil for another proof.
    public var signedPurchase: GooglePlayPurchase? {
        if case .signedPurchase(let purchase) = content { purchase } else { nil }
    }

    /// The purchase in the transaction inside a notification. Nil if there is none.
    public var notifiedPurchase: ProvenPurchase? {
        notifiedTransaction.map { identified(ProvenPurchase($0), by: notifiedTransactionProof?.fingerprints) }
    }

    private func identified(_ purchase: ProvenPurchase, by signer: Fingerprints? = nil) -> ProvenPurchase {
        origin == .xcode ? purchase.identified(inXcodeBy: (signer ?? fingerprints).leaf) : purchase
    }
}

/// A statement of the App Store about the renewal of a subscription.
public struct StatedRenewal: Hashable, Sendable, Codable {
    public let statedAt: Timestamp
    /// The SHA-256 of the signed bytes.
    public let proofDigest: [UInt8]
    public let facts: RenewalFacts

    public init(statedAt: Timestamp, proofDigest: [UInt8], facts: RenewalFacts) {
        self.statedAt = statedAt
        self.proofDigest = proofDigest
        self.facts = facts
    }

    init(_ renewal: JWSRenewalInfoDecodedPayload, digest: [UInt8]) {
        self.init(statedAt: renewal.signedDate, proofDigest: digest, facts: renewal.facts)
    }
}
