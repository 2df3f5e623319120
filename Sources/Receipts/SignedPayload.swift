import Commerce
import StrictJSON

/// The payload of a verified JWS, its kind told by the fields that only that kind has.
struct SignedPayload {
    let content: VerifiedProof.Content
    let environment: String
    let signedAt: Timestamp
    let bundleIdentifier: String?

    init(_ value: JSONValue) throws(PayloadError) {
        let object = try PayloadFields(value).object
        if object["notificationType"] != nil {
            let notification = try ResponseBodyV2DecodedPayload(object)
            content = .notification(notification)
            environment = notification.environment
            signedAt = notification.signedDate
            bundleIdentifier = notification.bundleId
        } else if object["receiptType"] != nil {
            let appTransaction = try AppTransaction(object)
            content = .appTransaction(appTransaction)
            environment = appTransaction.receiptType
            signedAt = appTransaction.receiptCreationDate
            bundleIdentifier = appTransaction.bundleId
        } else if object["transactionId"] != nil {
            let transaction = try JWSTransactionDecodedPayload(object)
            content = .transaction(transaction)
            environment = transaction.environment
            signedAt = transaction.signedDate
            bundleIdentifier = transaction.bundleId
        } else if object["autoRenewStatus"] != nil || object["autoRenewProductId"] != nil {
            let renewalInfo = try JWSRenewalInfoDecodedPayload(object)
            content = .renewalInfo(renewalInfo)
            environment = renewalInfo.environment
            signedAt = renewalInfo.signedDate
            bundleIdentifier = nil
        } else {
            throw PayloadError(message: "It is no transaction, renewal information, notification or app transaction.")
        }
    }

    /// The date alone, before anything of the payload is believed; nil when there is none to be read.
    static func date(of payload: Result<JSONValue, any Error>) -> Timestamp? {
        guard case .success(.object(let object)) = payload else { return nil }
        let fields = PayloadFields(object)
        let signedDate = try? fields.date("signedDate")
        return signedDate ?? (try? fields.date("receiptCreationDate"))
    }
}
