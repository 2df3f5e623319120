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
        case realtimeRequest(DecodedRealtimeRequestBody)
    }

    public let content: Content
    public let origin: Origin
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
    var notifiedRenewal: StatedRenewal? {
        get { notifiedRenewals.first }
        set { notifiedRenewals = newValue.map { [$0] } ?? [] }
    }
    /// That statement, at most one, for the same reason.
    var notifiedRenewals: [StatedRenewal] = []
    /// The number of the app and the account (`appTransactionId`) in an app transaction inside a notification, at most one.
    package internal(set) var notifiedAppTransactions: [String] = []
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

        package init(anchor: [UInt8], leaf: [UInt8]) { (self.anchor, self.leaf) = (anchor, leaf) }
    }

    public let fingerprints: Fingerprints

    /// The environment that the proof states, which is that of its origin.
    public var environment: AppStoreEnvironment { origin.environment }

    /// The statement about a renewal, nested or alone. Nil if there is none.
    public var renewal: StatedRenewal? {
        if case .renewalInfo(let renewalInfo) = content { return StatedRenewal(renewalInfo, digest: digest) }
        return notifiedRenewal
    }

    /// False for a kind of proof that never states the end of a subscription. Then only the store knows if it is paid.
    public var statesEnds: Bool { signedPurchase == nil }

    /// The purchases that can be redeemed. Nil if this kind of proof contains none. A purchase of Google Play is identified by its token,
    /// which is a secret.
    public var purchases: [ProvenPurchase]? { purchases(named: nil) }

    /// The purchases, as a ledger identifies them; nil if this kind of proof contains none.
    ///
    /// - Parameter names: The ledger's names of purchase tokens; nil for the holder of a proof, who has the token.
    package func purchases(named names: PurchaseTokenNames?) -> [ProvenPurchase]? {
        switch content {
        case .appReceipt(let receipt): receipt.inAppPurchases.map { identified(ProvenPurchase($0)) }
        case .transaction(let transaction): [identified(ProvenPurchase(transaction))]
        case .signedPurchase(let purchase): ProvenPurchase.all(of: purchase, named: names)
        case .renewalInfo, .notification, .appTransaction, .realtimeRequest: nil
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
    /// The number of the question that Google Play has answered; 0 for a signed statement.
    package var statementNumber: Int64 = 0
    /// The settings that this statement and the ones before it have told of; nil if they are that of this statement.
    package var settings: RenewalSettings?

    /// The place among all statements about the renewal.
    package var order: StatementOrder { StatementOrder(number: statementNumber, date: statedAt) }

    public init(statedAt: Timestamp, proofDigest: [UInt8], facts: RenewalFacts) {
        self.statedAt = statedAt
        self.proofDigest = proofDigest
        self.facts = facts
    }

    init(_ renewal: JWSRenewalInfoDecodedPayload, digest: [UInt8]) {
        self.init(statedAt: renewal.signedDate, proofDigest: digest, facts: renewal.facts)
    }
}

/// The payload of a verified proof. Each kind of signed JSON has fields that no other kind has.
struct SignedPayload {
    let kind: ProofInspection.Kind
    let content: VerifiedProof.Content
    let environment: String
    let signedAt: Timestamp
    let bundleIdentifier: String?
    /// The fields that were read as absent because of their form.
    let unreadableFields: [String]

    init(_ value: JSONValue) throws(ProofRefusal) {
        let fields = try PayloadFields(value)
        for claim in Self.unsupportedClaims where fields.object[claim] != nil {
            throw ProofRefusal(.payloadInvalid, "The claim \"\(claim)\" is not allowed. Apple never uses it.")
        }
        kind = Self.kind(of: fields.object)
        switch kind {
        case .notification:
            let stated = try ResponseBodyV2DecodedPayload(fields)
            content = .notification(stated)
            (environment, signedAt, bundleIdentifier) = (stated.environment, stated.signedDate, stated.bundleId)
        case .appTransaction:
            let stated = try AppTransaction(fields)
            content = .appTransaction(stated)
            (environment, signedAt, bundleIdentifier) = (
                stated.receiptType, stated.receiptCreationDate, stated.bundleId
            )
        case .transaction:
            let stated = try JWSTransactionDecodedPayload(fields)
            content = .transaction(stated)
            (environment, signedAt, bundleIdentifier) = (stated.environment, stated.signedDate, stated.bundleId)
        case .renewalInfo:
            let stated = try JWSRenewalInfoDecodedPayload(fields)
            content = .renewalInfo(stated)
            (environment, signedAt, bundleIdentifier) = (stated.environment, stated.signedDate, nil)
        case .realtimeRequest:
            let stated = try DecodedRealtimeRequestBody(fields)
            content = .realtimeRequest(stated)
            (environment, signedAt, bundleIdentifier) = (stated.environment, stated.signedDate, nil)
        default:
            throw ProofRefusal(
                .payloadInvalid,
                "The payload must be a transaction, renewal information, a notification, an app transaction or a realtime request."
            )
        }
        unreadableFields = fields.unreadableNames
    }

    /// - Parameter types: The types of the attributes that were read as absent because of their form.
    init(_ receipt: AppReceipt, unreadable types: Set<Int>) {
        kind = .appReceipt
        content = .appReceipt(receipt)
        environment = receipt.environment?.rawValue ?? receipt.receiptType
        signedAt = receipt.creationDate
        bundleIdentifier = receipt.bundleIdentifier
        unreadableFields = types.compactMap { type in
            AppReceipt.Attribute(rawValue: type).map { "\($0)" }
                ?? InAppPurchase.Attribute(rawValue: type).map { "\($0)" }
        }
    }

    /// The JWT claims that limit the use of a token (RFC 7519 section 4.1). Apple never uses them. A verifier that
    /// honors them and one that ignores them would disagree about the payload.
    private static let unsupportedClaims = ["exp", "nbf", "aud"]

    static func kind(of object: JSONObject) -> ProofInspection.Kind {
        if object["notificationType"] != nil { return .notification }
        if object["receiptType"] != nil { return .appTransaction }
        if object["transactionId"] != nil { return .transaction }
        if object["autoRenewStatus"] != nil || object["autoRenewProductId"] != nil { return .renewalInfo }
        if object["userLocale"] != nil { return .realtimeRequest }
        return .otherSignedJSON
    }

    /// Reads only the date, before the payload is trusted. Nil if the payload has no readable date.
    static func date(of payload: Result<JSONValue, JSONSyntaxError>) -> Timestamp? {
        guard case .success(.object(let object)) = payload else { return nil }
        let fields = PayloadFields(object: object)
        let signedDate = try? fields.date("signedDate")
        return signedDate ?? (try? fields.date("receiptCreationDate"))
    }
}
