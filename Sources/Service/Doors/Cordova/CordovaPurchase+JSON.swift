import Proofs

extension CordovaPurchase {
    /// The name of the store (`Platform.APPLE_APPSTORE`).
    private static let platform = "ios-appstore"

    /// The plugin's form. A member without a value is absent. Dates are in milliseconds since 1970.
    package var json: JSONValue {
        var object: JSONObject = [
            "id": .string(productIdentifier),
            "platform": .string(Self.platform),
            "purchaseId": .string(purchaseIdentifier),
            "transactionId": .string(transactionIdentifier),
            "purchaseDate": .integer(purchaseDate.millisecondsSince1970),
            "isExpired": .bool(isExpired),
            "quantity": .integer(quantity),
        ]
        func add(_ name: String, _ value: JSONValue?) {
            if let value { _ = object.add(name, value) }
        }
        add("lastRenewalDate", lastRenewalDate.map { .integer($0.millisecondsSince1970) })
        add("expiryDate", expiryDate.map { .integer($0.millisecondsSince1970) })
        add("renewalIntent", renewalIntent.map { .string($0.rawValue) })
        add("renewalIntentChangeDate", renewalIntentChangeDate.map { .integer($0.millisecondsSince1970) })
        add("cancelationReason", cancelationReason.map { .string($0.rawValue) })
        add("discountId", discountIdentifier.map { .string($0) })
        add("priceConsentStatus", priceConsent.map { .string($0.rawValue) })
        // Only of subscriptions.
        if lastRenewalDate != nil {
            add("isBillingRetryPeriod", .bool(isBillingRetryPeriod))
            add("isTrialPeriod", .bool(isTrialPeriod))
            add("isIntroPeriod", .bool(isIntroPeriod))
        }
        return .object(object)
    }
}
