import Foundation
import PlayStore
import Proofs
import Testing

/// The rules of a catalog's resources and of disputed payments, without a database. `make test-google` drives the writes.
@Suite struct CatalogRulesTests {
    private static let packageName = "com.example.garden"
    private static let start = Timestamp(secondsSince1970: 1_790_000_000)

    private func decoded<Value: Decodable>(_ json: String) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(json.utf8))
    }

    /// The field and the reason of a refusal; nil if the resource is valid.
    private func refusal<Value>(_ check: () throws -> Value) -> String? {
        do {
            _ = try check()
            return nil
        } catch let error as PublisherError {
            return "\(error.reason) \(error.location ?? "")"
        } catch {
            return "\(error)"
        }
    }

    private static func plan(_ more: String = "", region: String = "US", currency: String = "USD") -> String {
        """
        {"productId": "gold", "listings": [{"languageCode": "en-US", "title": "Gold"}], "basePlans": [{
            "basePlanId": "monthly", "autoRenewingBasePlanType": {"billingPeriodDuration": "P1M"},
            "regionalConfigs": [{"regionCode": "\(region)", "newSubscriberAvailability": true,
                "price": {"currencyCode": "\(currency)", "units": "5"}}]\(more)
        }]}
        """
    }

    @Test(arguments: [
        (plan(), nil),
        (plan(region: "DE", currency: "EUR"), nil),
        // The Play knows no currency of the region.
        (plan(region: "BG", currency: "EUR"), nil),
        (plan(region: "DE"), "invalidValue subscription.basePlans.regionalConfigs.price"),
        (plan(region: "us"), "invalidValue subscription.basePlans.regionalConfigs.regionCode"),
        (plan(#", "offerTags": [{"tag": "a-tag"}]"#), nil),
        (plan(#", "offerTags": [{"tag": "A tag"}]"#), "invalidValue subscription.basePlans.offerTags.tag"),
        (plan(#", "prepaidBasePlanType": {"billingPeriodDuration": "P1M"}"#), "invalidValue subscription.basePlans"),
    ]) func `a subscription of a catalog is checked`(json: String, expected: String?) throws {
        let product: CatalogSubscription = try decoded(json)
        #expect(refusal { try product.checked(in: Self.packageName) } == expected)
    }

    private static let settings = "subscription.taxAndComplianceSettings"
    private static let rates = "\(settings).taxRateInfoByRegionCode"
    private static let ages = "\(settings).regionalProductAgeRatingInfos"

    private static func rate(_ region: String, _ fields: String) -> String {
        #""taxRateInfoByRegionCode": {"\#(region)": {\#(fields)}}"#
    }

    private static func rating(_ region: String, _ tier: String = "PRODUCT_AGE_RATING_TIER_EVERYONE") -> String {
        #"{"regionCode": "\#(region)", "productAgeRatingTier": "\#(tier)"}"#
    }

    private static func ratings(_ ratings: String) -> String {
        #""regionalProductAgeRatingInfos": [\#(ratings)]"#
    }

    /// The settings of a subscription, each with its refusal. The United States alone tax streaming, and have ages of products.
    private static let taxes: [(String, String?)] = [
        (#""productTaxCategoryCode": "digital", "isTokenizedDigitalAsset": false"#, nil),
        (#""eeaWithdrawalRightType": "WITHDRAWAL_RIGHT_SERVICE""#, nil),
        (#""eeaWithdrawalRightType": "GOODS""#, "invalidValue \(settings).eeaWithdrawalRightType"),
        (rate("DE", #""taxTier": "TAX_TIER_NEWS_2""#), nil),
        (rate("DE", #""taxTier": "TAX_TIER_FOOD""#), "invalidValue \(rates).taxTier"),
        (rate("Germany", ""), "invalidValue \(rates)"),
        (rate("US", #""streamingTaxType": "STREAMING_TAX_TYPE_TELCO_AUDIO_RENTAL""#), nil),
        (rate("US", #""streamingTaxType": "STREAMING_TAX_TYPE_TELCO_TEXT""#), "invalidValue \(rates).streamingTaxType"),
        (rate("DE", #""streamingTaxType": "STREAMING_TAX_TYPE_UNSPECIFIED""#), nil),
        (
            rate("DE", #""streamingTaxType": "STREAMING_TAX_TYPE_TELCO_VIDEO_SALES""#),
            "invalidValue \(rates).streamingTaxType"
        ),
        (rate("US", #""eligibleForStreamingServiceTaxRate": true"#), nil),
        (rate("DE", #""eligibleForStreamingServiceTaxRate": false"#), nil),
        (
            rate("DE", #""eligibleForStreamingServiceTaxRate": true"#),
            "invalidValue \(rates).eligibleForStreamingServiceTaxRate"
        ),
        (ratings(rating("US")), nil),
        (ratings(rating("US", "OLD")), "invalidValue \(ages).productAgeRatingTier"),
        (ratings(rating("KR")), "invalidValue \(ages).regionCode"),
        (ratings("\(rating("US")), \(rating("US"))"), "invalidValue \(ages)"),
    ]

    @Test(arguments: taxes) func `the taxes of a subscription are checked`(settings: String, expected: String?) throws {
        let product: CatalogSubscription = try decoded(
            """
            {"productId": "gold", "listings": [{"languageCode": "en-US", "title": "Gold"}],
                "taxAndComplianceSettings": {\(settings)}}
            """)
        #expect(refusal { try product.checked(in: Self.packageName) } == expected)
    }

    private static let configs = "oneTimeProduct.taxAndComplianceSettings.regionalTaxConfigs"
    private static let right = "oneTimeProduct.purchaseOptions.taxAndComplianceSettings.withdrawalRightType"

    private static let regionalTaxes: [(String, String, String?)] = [
        (#"{"regionCode": "FR", "taxTier": "TAX_TIER_BOOKS_1"}, {"regionCode": "US"}"#, "DIGITAL_CONTENT", nil),
        (#"{"taxTier": "TAX_TIER_BOOKS_1"}"#, "SERVICE", "required \(configs).regionCode"),
        (#"{"regionCode": "fr"}"#, "SERVICE", "invalidValue \(configs).regionCode"),
        (#"{"regionCode": "FR"}, {"regionCode": "FR"}"#, "SERVICE", "invalidValue \(configs)"),
        (#"{"regionCode": "FR", "taxTier": "BOOKS"}"#, "SERVICE", "invalidValue \(configs).taxTier"),
        ("", "GOODS", "invalidValue \(right)"),
    ]

    @Test(arguments: regionalTaxes)
    func `the taxes of a one-time product are checked`(configs: String, right: String, expected: String?) throws {
        let product: OneTimeProduct = try decoded(
            """
            {"productId": "seeds", "listings": [{"languageCode": "en-US", "title": "Seeds"}],
                "taxAndComplianceSettings": {"regionalTaxConfigs": [\(configs)]},
                "purchaseOptions": [{"purchaseOptionId": "buy", "buyOption": {},
                    "taxAndComplianceSettings": {"withdrawalRightType": "WITHDRAWAL_RIGHT_\(right)"}}]}
            """)
        #expect(refusal { try product.checked(in: Self.packageName) } == expected)
    }

    private static func offer(_ config: String, _ more: String = "") -> String {
        """
        {"productId": "gold", "basePlanId": "monthly", "offerId": "trial", "phases": [{"duration": "P1W",
            "recurrenceCount": 1, "regionalConfigs": [{"regionCode": "US", \(config)}]}]\(more)}
        """
    }

    @Test(arguments: [
        (offer(#""free": {}"#), nil),
        (offer(#""relativeDiscount": 0.5"#), nil),
        (offer(#""relativeDiscount": 1"#), "invalidValue subscriptionOffer.phases.regionalConfigs.relativeDiscount"),
        (offer(#""free": {}, "relativeDiscount": 0.5"#), "invalidValue subscriptionOffer.phases.regionalConfigs"),
        (offer(#""free": {}"#, #", "regionalConfigs": [{"regionCode": "US"}]"#), nil),
        (
            offer(#""free": {}"#, #", "regionalConfigs": [{"regionCode": "KR"}]"#),
            "invalidValue subscriptionOffer.phases.regionalConfigs"
        ),
        (
            offer(#""free": {}"#, #", "targeting": {"upgradeRule": {"scope": {"anySubscriptionInApp": {}}}}"#),
            "invalidValue subscriptionOffer.targeting.upgradeRule.scope"
        ),
    ]) func `an offer of a catalog is checked`(json: String, expected: String?) throws {
        let offer: CatalogOffer = try decoded(json)
        #expect(refusal { try offer.checked(in: Self.packageName) } == expected)
    }

    private func answer(_ preference: String, token: String = "token") throws -> RefundReviewRequest {
        try decoded(
            #"{"pendingRefundToken":"\#(token)","refundPreference":"\#(preference)","sampleContentProvided":true}"#)
    }

    private func review() -> RefundReview {
        RefundReview(orderId: "GPA.1", packageName: Self.packageName, pendingRefundToken: "token", at: Self.start)
    }

    @Test(arguments: [("DECLINE", false), ("APPROVE", true), ("NEUTRAL", true)])
    func `only a developer who declines keeps a disputed payment`(preference: String, isRefunded: Bool) throws {
        var review = review()
        #expect(review.deadline == Self.start.adding(days: 1))
        try review.take(answer(preference))
        // The first answer counts.
        try review.take(answer(isRefunded ? "DECLINE" : "APPROVE"))
        #expect(review.state == .answered)
        let decision = review.decide()
        #expect(decision == isRefunded)
        try review.take(answer("NEUTRAL"))
        #expect(review.state == (isRefunded ? .refunded : .kept))
    }

    @Test func `a disputed payment without an answer is refunded, and a late answer is refused`() throws {
        var review = review()
        #expect(throws: PublisherError.self) { try review.take(answer("DECLINE", token: "another")) }
        #expect(throws: PublisherError.self) { try review.take(answer("MAYBE")) }
        #expect(review.state == .open)
        let decision = review.decide()
        #expect(decision && review.state == .refunded)
        #expect(throws: PublisherError.self) { try review.take(answer("DECLINE")) }
    }
}
