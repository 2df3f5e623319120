import Proofs

package enum ProofFieldMeaning {
    private static let maximumLength = 64

    /// The meaning of a field. Nil for an unknown field, or one whose name says it.
    package static func phrase(of name: String) -> Phrase? {
        // Names come from strangers, and hashing a long name of combined characters is slow.
        guard name.utf8.count <= maximumLength, name.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        return fields[name]
    }

    /// The meaning of a number in a field. Nil if it is an amount, or unknown.
    static func phrase(ofNumber digits: String, in name: String) -> Phrase? {
        guard name.utf8.count <= maximumLength, digits.utf8.count <= 4, name.utf8.allSatisfy({ $0 < 0x80 }) else {
            return nil
        }
        return numbers[name]?[digits]
    }

    private static let fields: [String: Phrase] = {
        var fields = others
        for fact in TransactionFact.allCases { fields["\(fact)"] = Phrase(stated: fact.field.meaning) }
        for fact in RenewalFact.allCases { fields["\(fact)"] = Phrase(stated: fact.field.meaning) }
        for attribute in AppReceipt.Attribute.allCases { fields["\(attribute)"] = Phrase(stated: attribute.meaning) }
        for attribute in InAppPurchase.Attribute.allCases { fields["\(attribute)"] = Phrase(stated: attribute.meaning) }
        return fields
    }()

    /// The fields outside the tables of `Receipts`.
    private static let others: [String: Phrase] = [
        "alg": "signature algorithm",
        "kid": "key",
        "typ": "type of the token",
        "x5c": "certificate chain",
        "contentType": "type of the content",
        "digestAlgorithm": "hash function",
        "signatureAlgorithm": "signature algorithm",
        "signerSerialNumber": "serial number of the signer's certificate",
        "acknowledged": "the app has acknowledged the purchase",
        "bundleVersion": "version of the app",
        "consumptionRequestReason": "reason of the refund request",
        "data": "the affected app and purchase",
        "deviceVerification": "binding to the device",
        "deviceVerificationNonce": "input of the binding",
        "externalPurchaseToken": "purchase outside the App Store",
        "notificationType": "event",
        "notificationUUID": "identifier of the notification",
        "originalPlatform": "platform of the first download",
        "preorderDate": "pre-order",
        "purchaseState": "state of the payment",
        "purchaseToken": "identifier of the purchase",
        "revocationDate": "refund or revocation",
        "revocationReason": "reason of the refund",
        "signedAppTransactionInfo": "signed app transaction",
        "signedRenewalInfo": "signed renewal information",
        "signedTransactionInfo": "signed transaction",
        "status": "state of the subscription",
        "subtype": "detail of the event",
        "summary": "extension of many subscriptions",
        "tokenCreationDate": "creation of the token",
        "unclaimInfo": "seats without a claim",
        "version": "version of the format",
    ]

    /// The numbers with a meaning (App Store Server API; App Store Receipts).
    private static let numbers: [String: [String: Phrase]] = [
        "purchaseState": ["0": "paid", "4": "payment pending"],
        "autoRenewStatus": ["0": Phrase("off", context: "number"), "1": Phrase("on", context: "number")],
        "expirationIntent": [
            "1": "the customer cancelled", "2": "billing error",
            "3": "no consent to a price increase",
            "4": "product not available", "5": "another reason",
        ],
        "offerType": [
            "1": "introductory", "2": "promotional",
            "3": "offer code",
            "4": "win-back",
        ],
        "priceIncreaseStatus": [
            "0": "not answered yet", "1": "agreed",
        ],
        "productType": [
            "0": "non-consumable", "1": "consumable",
            "2": "non-renewing subscription", "3": "auto-renewable subscription",
        ],
        "revocationReason": [
            "0": "another reason", "1": "an issue in the app",
        ],
        "status": [
            "1": Phrase("active", context: "number"), "2": "expired", "3": "billing retry",
            "4": "grace period", "5": "revoked",
        ],
    ]
}
