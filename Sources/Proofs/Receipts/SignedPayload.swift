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
            let notification = try ResponseBodyV2DecodedPayload(fields)
            content = .notification(notification)
            environment = notification.environment
            signedAt = notification.signedDate
            bundleIdentifier = notification.bundleId
        case .appTransaction:
            let appTransaction = try AppTransaction(fields)
            content = .appTransaction(appTransaction)
            environment = appTransaction.receiptType
            signedAt = appTransaction.receiptCreationDate
            bundleIdentifier = appTransaction.bundleId
        case .transaction:
            let transaction = try JWSTransactionDecodedPayload(fields)
            content = .transaction(transaction)
            environment = transaction.environment
            signedAt = transaction.signedDate
            bundleIdentifier = transaction.bundleId
        case .renewalInfo:
            let renewalInfo = try JWSRenewalInfoDecodedPayload(fields)
            content = .renewalInfo(renewalInfo)
            environment = renewalInfo.environment
            signedAt = renewalInfo.signedDate
            bundleIdentifier = nil
        default:
            throw ProofRefusal(
                .payloadInvalid,
                "The payload must be a transaction, renewal information, a notification or an app transaction."
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
