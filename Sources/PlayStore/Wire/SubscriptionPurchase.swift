/// The state of a subscription purchase in the first version of the API (`SubscriptionPurchase`).
///
/// Google's libraries since November 2025 lack it; older ones read it until 31 August 2027 (Google's page "Deprecations").
package struct SubscriptionPurchase: Codable, Hashable, Sendable {
    package static let kind = "androidpublisher#subscriptionPurchase"

    package struct IntroductoryPrice: Codable, Hashable, Sendable {
        package var introductoryPriceCurrencyCode: String?
        package var introductoryPriceAmountMicros: Int64Text?
        package var introductoryPricePeriod: String?
        package var introductoryPriceCycles: Int32?
    }

    package struct SubscriptionPriceChange: Codable, Hashable, Sendable {
        package var newPrice: ExternalTransaction.Amount?
        /// 0 the customer has not agreed yet, 1 accepted.
        package var state: Int32?
    }

    package struct CancelSurveyResult: Codable, Hashable, Sendable {
        /// 0 another reason, 1 not enough usage, 2 technical issues, 3 the cost, 4 a better app.
        package var cancelSurveyReason: Int32?
        package var userInputCancelReason: String?
    }

    package var kind: String?
    package var startTimeMillis: Int64Text?
    package var expiryTimeMillis: Int64Text?
    package var autoResumeTimeMillis: Int64Text?
    package var autoRenewing: Bool?
    package var priceCurrencyCode: String?
    package var priceAmountMicros: Int64Text?
    package var introductoryPriceInfo: IntroductoryPrice?
    package var priceChange: SubscriptionPriceChange?
    package var countryCode: String?
    /// 0 pending, 1 received, 2 a free trial, 3 a pending change of the plan; nil for a purchase that is canceled or has expired.
    package var paymentState: Int32?
    /// 0 the customer, 1 the system, 2 a replacement, 3 the developer; nil for a purchase that is not canceled.
    package var cancelReason: Int32?
    package var userCancellationTimeMillis: Int64Text?
    package var cancelSurveyResult: CancelSurveyResult?
    package var orderId: String?
    package var linkedPurchaseToken: String?
    /// 0 a license tester; nil for any other purchase without a code.
    package var purchaseType: Int32?
    /// 0 a code for one customer, 1 a code for many.
    package var promotionType: Int32?
    package var promotionCode: String?
    /// 0 not acknowledged, 1 acknowledged.
    package var acknowledgementState: Int32?
    package var obfuscatedExternalAccountId: String?
    package var obfuscatedExternalProfileId: String?
}

extension SubscriptionRequests {
    /// The body of `purchases.subscriptions.defer`.
    package struct FirstDefer: Codable, Sendable {
        package struct Info: Codable, Sendable {
            package var expectedExpiryTimeMillis: Int64Text?
            package var desiredExpiryTimeMillis: Int64Text?
        }

        package var deferralInfo: Info?
    }

    /// The answer to it.
    package struct FirstDeferred: Codable, Sendable {
        package var newExpiryTimeMillis: Int64Text?
    }
}
