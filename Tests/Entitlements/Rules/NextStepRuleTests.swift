import Entitlements
import Foundation
import Proofs
import TestSupport
import Testing

/// The next step of a subscription, by what its store states. Each case names the page that it follows.
@Suite struct NextStepRuleTests {
    /// The moment of the statements, at which one period ends that has begun 30 days before, unless a case says otherwise.
    private static let now = Timestamp(secondsSince1970: 1_790_000_000)

    private static func day(_ days: Int64) -> Timestamp { now.adding(days: days) }

    /// The page of the lifecycle at developer.android.com/google/play/billing/lifecycle/subscriptions.
    private static func lifecycle(_ section: String) -> String { "lifecycle/subscriptions, \"\(section)\"" }

    /// A page at developers.google.com/android-publisher/api-ref/rest/v3.
    private static let reference = "purchases.subscriptionsv2"
    /// A page at developer.android.com/google/play/billing.
    private static let prices = "price-changes, \"Price increases\""
    private static func apple(_ field: String) -> String { "App Store Server API, `\(field)`" }

    /// The step in a few words, such as "renews as premium:monthly on 20 at 9900000 KRW".
    private static func words(_ status: PurchaseStatus) -> String {
        func days(_ moment: Timestamp?) -> String {
            moment.map { String(($0.secondsSince1970 - now.secondsSince1970) / 86_400) } ?? "?"
        }
        switch status.next {
        case .renews(let period):
            let product = [period.productIdentifier, period.basePlanIdentifier].compactMap(\.self).joined(
                separator: ":")
            let price = period.price.map { " at \($0.milliunits) \($0.currency)" } ?? ""
            return "renews as \(product) on \(days(period.beginsAt))\(price)"
        case .ends(let reason): return reason.map { "ends: \($0.rawValue)" } ?? "ends"
        case .grace(let end): return "grace until \(days(end))"
        case .onHold(let end): return "on hold until \(days(end))"
        case .paused(let end): return "paused until \(days(end))"
        case .prepaid: return "prepaid"
        case .unknown: return "unknown"
        }
    }

    // MARK: Google Play

    /// An answer of the Play Developer API.
    struct PlayCase: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The page of the expected step.
        let page: String
        let state: String
        /// The days from the answer until `expiryTime`.
        var end: Int64 = 20
        var item =
            #""autoRenewingPlan":{"autoRenewEnabled":true,"recurringPrice":{"currencyCode":"KRW","units":"9900"}}"#
        /// Further line items.
        var others: [String] = []
        /// Further members of the answer.
        var more = ""
        /// The days after the answer.
        var after: Int64 = 0
        let step: String
        let status: PurchaseState
        var renews: Bool?
        /// Who or what has canceled, as the API names it.
        var canceler: String?
    }

    private static let off = #""autoRenewingPlan":{}"#
    private static let renewal = "renews as premium:monthly on 20 at 9900000 KRW"

    private static func canceled(_ context: String) -> String { #","canceledStateContext":{"\#(context)":{}}"# }

    /// A plan with a price increase to 12,000 won.
    private static func increase(
        _ state: String, mode: String = "PRICE_INCREASE", enabled: Bool = false, charge: Int64? = 20
    ) -> String {
        let time = charge.map { #","expectedNewPriceChargeTime":"\#(day($0).rfc3339)""# } ?? ""
        return """
            "autoRenewingPlan":{"autoRenewEnabled":\(enabled),"recurringPrice":{"currencyCode":"KRW","units":"9900"},\
            "priceChangeDetails":{"newPrice":{"currencyCode":"KRW","units":"12000"},"priceChangeMode":"\(mode)",\
            "priceChangeState":"\(state)"\(time)}}
            """
    }

    static let playCases: [PlayCase] = [
        PlayCase(
            testDescription: "active", page: lifecycle("Subscription renewals"), state: "ACTIVE", step: renewal,
            status: .active, renews: true),
        PlayCase(
            testDescription: "active, without auto-renewal or a reason", page: "\(reference), `autoRenewEnabled`",
            state: "ACTIVE", item: off, step: "ends", status: .willNotRenew, renews: false),
        PlayCase(
            testDescription: "a plan that is neither auto-renewing nor prepaid", page: "\(reference), `lineItems[]`",
            state: "ACTIVE", item: #""other":1"#, step: "unknown", status: .active),
        PlayCase(
            testDescription: "a pause is planned", page: lifecycle("Paused subscriptions"), state: "ACTIVE",
            step: renewal, status: .active, renews: true),
        PlayCase(
            testDescription: "the silent day after the end", page: lifecycle("Silent grace period"), state: "ACTIVE",
            end: 0, step: "renews as premium:monthly on 0 at 9900000 KRW", status: .active, renews: true),
        PlayCase(
            testDescription: "after the silent day", page: lifecycle("Silent grace period"), state: "ACTIVE", end: 0,
            after: 1, step: "ends", status: .expired, renews: false),
        PlayCase(
            testDescription: "in the grace period", page: lifecycle("Grace period"), state: "IN_GRACE_PERIOD", end: 3,
            step: "grace until 3", status: .gracePeriod, renews: true),
        PlayCase(
            testDescription: "in a grace period whose end is not moved on yet", page: lifecycle("Grace period"),
            state: "IN_GRACE_PERIOD", end: 0, step: "grace until 2", status: .gracePeriod, renews: true),
        PlayCase(
            testDescription: "the grace period is over, and nothing is stated since",
            page: lifecycle("Account hold"), state: "IN_GRACE_PERIOD", end: 3, after: 4, step: "on hold until 60",
            status: .billingRetry, renews: true),
        PlayCase(
            testDescription: "on hold", page: lifecycle("Account hold"), state: "ON_HOLD", end: -2,
            step: "on hold until 60", status: .billingRetry, renews: true),
        PlayCase(
            testDescription: "on hold at once, though the end is in the future", page: lifecycle("Account hold"),
            state: "ON_HOLD", step: "on hold until 60", status: .billingRetry, renews: true),
        PlayCase(
            testDescription: "on hold, the longest time after the last word", page: lifecycle("Account hold"),
            state: "ON_HOLD", end: -2, after: 60, step: "ends", status: .expired, renews: false),
        PlayCase(
            testDescription: "on hold after a pause of three months", page: lifecycle("Paused subscriptions"),
            state: "ON_HOLD", end: -92, step: "on hold until 60", status: .billingRetry, renews: true),
        PlayCase(
            testDescription: "canceled on hold", page: lifecycle("Cancellations"), state: "CANCELED", end: -2,
            item: off, more: canceled("userInitiatedCancellation"), step: "ends: customerCancelled", status: .expired,
            renews: false, canceler: "user"),
        PlayCase(
            testDescription: "canceled at the end of the hold", page: lifecycle("Account hold"), state: "CANCELED",
            end: -30, item: off, more: canceled("systemInitiatedCancellation"), step: "ends: billingError",
            status: .expired, renews: false, canceler: "system"),
        PlayCase(
            testDescription: "paused", page: lifecycle("Paused subscriptions"), state: "PAUSED", end: 0,
            more: #","pausedStateContext":{"autoResumeTime":"\#(day(30).rfc3339)"}"#, step: "paused until 30",
            status: .paused, renews: true),
        PlayCase(
            testDescription: "paused at once, though the end is in the future",
            page: lifecycle("Paused subscriptions"), state: "PAUSED", step: "paused until ?", status: .paused,
            renews: true),
        PlayCase(
            testDescription: "paused, until the store says otherwise", page: "\(reference), `pausedStateContext`",
            state: "PAUSED", end: 0, more: #","pausedStateContext":{"autoResumeTime":"\#(day(30).rfc3339)"}"#,
            after: 31, step: "paused until 30", status: .paused, renews: true),
        PlayCase(
            testDescription: "canceled by the customer", page: lifecycle("Cancellations"), state: "CANCELED",
            item: off, more: canceled("userInitiatedCancellation"), step: "ends: customerCancelled",
            status: .willNotRenew, renews: false, canceler: "user"),
        PlayCase(
            testDescription: "canceled by Google Play", page: lifecycle("Cancellations"), state: "CANCELED", item: off,
            more: canceled("systemInitiatedCancellation"), step: "ends: billingError", status: .willNotRenew,
            renews: false, canceler: "system"),
        PlayCase(
            testDescription: "canceled by the developer", page: lifecycle("Cancellations"), state: "CANCELED",
            item: off, more: canceled("developerInitiatedCancellation"), step: "ends: developerCancelled",
            status: .willNotRenew, renews: false, canceler: "developer"),
        PlayCase(
            testDescription: "canceled by a replacement", page: "\(reference), `canceledStateContext`",
            state: "CANCELED", item: off, more: canceled("replacementCancellation"), step: "ends: replaced",
            status: .willNotRenew, renews: false, canceler: "replacement"),
        PlayCase(
            testDescription: "canceled in a way that is added later", page: "\(reference), `canceledStateContext`",
            state: "CANCELED", item: off, more: canceled("laterCancellation"), step: "ends", status: .willNotRenew,
            renews: false),
        PlayCase(
            testDescription: "an increase that awaits the customer's consent", page: prices, state: "ACTIVE",
            item: increase("OUTSTANDING", enabled: true), step: "renews as premium:monthly on 20 at 12000000 KRW",
            status: .active, renews: true),
        PlayCase(
            testDescription: "an increase without consent", page: prices, state: "CANCELED",
            item: increase("OUTSTANDING"), more: canceled("systemInitiatedCancellation"),
            step: "ends: customerDidNotConsentToPriceIncrease", status: .willNotRenew, renews: false,
            canceler: "priceIncrease"),
        PlayCase(
            testDescription: "an increase without consent that is withdrawn with the subscription", page: prices,
            state: "CANCELED", item: increase("CANCELED", charge: nil), more: canceled("systemInitiatedCancellation"),
            step: "ends: customerDidNotConsentToPriceIncrease", status: .willNotRenew, renews: false,
            canceler: "priceIncrease"),
        PlayCase(
            testDescription: "the end by an increase without consent", page: prices, state: "EXPIRED", end: -1,
            item: increase("OUTSTANDING", charge: -1), more: canceled("systemInitiatedCancellation"),
            step: "ends: customerDidNotConsentToPriceIncrease", status: .expired, renews: false,
            canceler: "priceIncrease"),
        PlayCase(
            testDescription: "an increase of a later renewal cancels nothing", page: prices, state: "CANCELED",
            item: increase("OUTSTANDING", charge: 51), more: canceled("systemInitiatedCancellation"),
            step: "ends: billingError", status: .willNotRenew, renews: false, canceler: "system"),
        PlayCase(
            testDescription: "an increase that needs no consent cancels nothing", page: prices, state: "CANCELED",
            item: increase("OUTSTANDING", mode: "OPT_OUT_PRICE_INCREASE"),
            more: canceled("systemInitiatedCancellation"), step: "ends: billingError", status: .willNotRenew,
            renews: false, canceler: "system"),
        PlayCase(
            testDescription: "the customer cancels while an increase is open", page: lifecycle("Price changes"),
            state: "CANCELED", item: increase("OUTSTANDING"), more: canceled("userInitiatedCancellation"),
            step: "ends: customerCancelled", status: .willNotRenew, renews: false, canceler: "user"),
        PlayCase(
            testDescription: "a step-up in Korea without consent", page: lifecycle("Price step-up consent"),
            state: "CANCELED",
            item: #""autoRenewingPlan":{"priceStepUpConsentDetails":{"state":"PENDING","newPrice":"#
                + #"{"currencyCode":"KRW","units":"12000"}}}"#, more: canceled("systemInitiatedCancellation"),
            step: "ends: customerDidNotConsentToPriceIncrease", status: .willNotRenew, renews: false,
            canceler: "priceIncrease"),
        PlayCase(
            testDescription: "an installment plan that is canceled for the end of its commitment",
            page: lifecycle("Cancellations"), state: "ACTIVE",
            item: #""autoRenewingPlan":{"autoRenewEnabled":true,"installmentDetails":{"pendingCancellation":{}}}"#,
            step: "ends: customerCancelled", status: .willNotRenew, renews: false, canceler: "user"),
        PlayCase(
            testDescription: "a deferred replacement renews as the new product and plan",
            page: "\(reference), `DeferredItemReplacement`", state: "ACTIVE",
            item: off + #","deferredItemReplacement":{"productId":"gold"}"#,
            others: [
                #"{"productId":"gold","offerDetails":{"basePlanId":"yearly"},"autoRenewingPlan":{"autoRenewEnabled":true,"#
                    + #""recurringPrice":{"currencyCode":"KRW","units":"99000"}}}"#
            ], step: "renews as gold:yearly on 20 at 99000000 KRW", status: .active, renews: true),
        PlayCase(
            testDescription: "a deferred replacement that is canceled", page: lifecycle("Cancellations"),
            state: "CANCELED", item: off + #","deferredItemReplacement":{"productId":"gold"}"#,
            more: canceled("userInitiatedCancellation"), step: "ends: customerCancelled", status: .willNotRenew,
            renews: false, canceler: "user"),
        PlayCase(
            testDescription: "a product that leaves the subscription", page: "\(reference), `DeferredItemRemoval`",
            state: "ACTIVE",
            item: #""autoRenewingPlan":{"autoRenewEnabled":true},"deferredItemRemoval":{}"#,
            step: "ends: customerCancelled", status: .willNotRenew, renews: false, canceler: "user"),
        PlayCase(
            testDescription: "ended by the customer", page: lifecycle("Expirations"), state: "EXPIRED", end: -1,
            item: off, more: canceled("userInitiatedCancellation"), step: "ends: customerCancelled", status: .expired,
            renews: false, canceler: "user"),
        PlayCase(
            testDescription: "ended by Google Play", page: lifecycle("Expirations"), state: "EXPIRED", end: -1,
            item: off, more: canceled("systemInitiatedCancellation"), step: "ends: billingError", status: .expired,
            renews: false, canceler: "system"),
        PlayCase(
            testDescription: "ended by the developer", page: lifecycle("Expirations"), state: "EXPIRED", end: -1,
            item: off, more: canceled("developerInitiatedCancellation"), step: "ends: developerCancelled",
            status: .expired, renews: false, canceler: "developer"),
        PlayCase(
            testDescription: "ended at once, though the end is in the future", page: lifecycle("Revocations"),
            state: "EXPIRED", item: off, step: "ends", status: .expired, renews: false),
        PlayCase(
            testDescription: "prepaid", page: lifecycle("Handle lifecycle for prepaid plans"), state: "ACTIVE",
            item: #""prepaidPlan":{"allowExtendAfterTime":"\#(day(1).rfc3339)"}"#, step: "prepaid", status: .active,
            renews: false),
        PlayCase(
            testDescription: "prepaid, without a silent day", page: lifecycle("Handle lifecycle for prepaid plans"),
            state: "ACTIVE", end: 0, item: #""prepaidPlan":{}"#, step: "ends", status: .expired, renews: false),
        PlayCase(
            testDescription: "prepaid, after its end", page: "lifecycle/subscriptions, fields for prepaid plans",
            state: "CANCELED", end: -1, item: #""prepaidPlan":{}"#, step: "ends", status: .expired, renews: false),
    ]

    private static func answer(_ example: PlayCase) throws -> GooglePlayStatement {
        let first = """
            {"productId":"premium","latestSuccessfulOrderId":"GPA.1","expiryTime":"\(day(example.end).rfc3339)",\
            "offerDetails":{"basePlanId":"monthly"},\(example.item)}
            """
        let text = """
            {"subscriptionState":"SUBSCRIPTION_STATE_\(example.state)","startTime":"\(day(-122).rfc3339)",\
            "lineItems":[\(([first] + example.others).joined(separator: ","))]\(example.more)}
            """
        return try GooglePlayAnswer(subscription: Array(text.utf8), about: "token", of: "com.example.garden")
            .statement(.init(realm: .google, askedAt: now, named: .test))
    }

    @Test(arguments: playCases) func `the answer of Google Play says what comes next`(example: PlayCase) throws {
        let stated = try #require(try Self.answer(example).purchases.first)
        let purchase = stated.purchase
        let transaction = RedeemedTransaction(
            sequence: 1, origin: .googleProduction, transactionIdentifier: purchase.transactionIdentifier,
            originalTransactionIdentifier: purchase.originalTransactionIdentifier,
            productIdentifier: purchase.productIdentifier, purchaseDate: purchase.purchaseDate, redeemedAt: Self.now,
            expiresAt: purchase.expiresDate, graceEndsAt: stated.renewal?.facts.date(.gracePeriodExpiresDate),
            facts: purchase.facts)
        let status = try #require(
            PurchaseStatus(
                [transaction], .autoRenewableSubscription, stated.renewal, at: Self.day(example.after)))
        #expect(Self.words(status) == example.step, "\(example.page)")
        #expect(status.state == example.status, "\(example.page)")
        #expect(status.renews == example.renews, "\(example.page)")
        #expect(status.ending?.canceler == example.canceler, "\(example.page)")
    }

    @Test func `nothing is stated of a purchase whose payment is outstanding`() throws {
        let pending = PlayCase(testDescription: "", page: "", state: "PENDING", step: "", status: .expired)
        #expect(try Self.answer(pending).purchases.isEmpty)
    }

    // MARK: The App Store

    /// The renewal information of the App Store about a period that ends after 20 days.
    struct AppleCase: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let page: String
        let renewal: [RenewalFact: StatedValue]?
        var grace: Int64?
        var transaction: [TransactionFact: StatedValue] = [:]
        var after: Int64 = 0
        let step: String
        let status: PurchaseState
        var renews: Bool?
        var canceler: String?
    }

    static let appleCases: [AppleCase] = [
        AppleCase(
            testDescription: "renewal is on", page: apple("autoRenewStatus"),
            renewal: [
                .autoRenewStatus: .integer(1), .autoRenewProductId: .text("gold"),
                .renewalDate: .integer(day(20).millisecondsSince1970), .renewalPrice: .integer(9990),
                .currency: .text("EUR"),
            ], step: "renews as gold on 20 at 9990 EUR", status: .active, renews: true),
        AppleCase(
            testDescription: "the customer has turned renewal off", page: apple("autoRenewStatus"),
            renewal: [.autoRenewStatus: .integer(0)], step: "ends: customerCancelled", status: .willNotRenew,
            renews: false, canceler: "user"),
        AppleCase(
            testDescription: "the customer lets a commitment end", page: apple("commitmentAutoRenewStatus"),
            renewal: [
                .autoRenewStatus: .integer(1), .commitmentInfo: .text(#"{"commitmentAutoRenewStatus":0}"#),
            ], step: "ends: customerCancelled", status: .willNotRenew, renews: false, canceler: "user"),
        AppleCase(
            testDescription: "nothing is stated", page: apple("JWSRenewalInfo"), renewal: nil, step: "unknown",
            status: .active),
        AppleCase(
            testDescription: "in the grace period", page: apple("gracePeriodExpiresDate"),
            renewal: [.autoRenewStatus: .integer(1), .isInBillingRetryPeriod: .integer(1)], grace: 36, after: 30,
            step: "grace until 36", status: .gracePeriod, renews: true),
        AppleCase(
            testDescription: "renewal is turned off in the grace period", page: apple("autoRenewStatus"),
            renewal: [.autoRenewStatus: .integer(0), .isInBillingRetryPeriod: .integer(1)], grace: 36, after: 30,
            step: "grace until 36", status: .gracePeriod, renews: false, canceler: "user"),
        AppleCase(
            testDescription: "billing retry", page: apple("isInBillingRetryPeriod"),
            renewal: [.autoRenewStatus: .integer(1), .isInBillingRetryPeriod: .integer(1)], grace: 36, after: 40,
            step: "on hold until 80", status: .billingRetry, renews: true),
        AppleCase(
            testDescription: "after 60 days of billing retry",
            page: "App Store Server Notifications, DID_FAIL_TO_RENEW",
            renewal: [
                .autoRenewStatus: .integer(1), .isInBillingRetryPeriod: .integer(1), .expirationIntent: .integer(2),
            ], after: 80, step: "ends: billingError", status: .expired, renews: false, canceler: "system"),
        AppleCase(
            testDescription: "ended by the customer", page: apple("expirationIntent"),
            renewal: [.autoRenewStatus: .integer(0), .expirationIntent: .integer(1)], after: 20,
            step: "ends: customerCancelled", status: .expired, renews: false, canceler: "user"),
        AppleCase(
            testDescription: "the end of what was turned off, before the App Store states it",
            page: apple("autoRenewStatus"), renewal: [.autoRenewStatus: .integer(0)], after: 20,
            step: "ends: customerCancelled", status: .expired, renews: false, canceler: "user"),
        AppleCase(
            testDescription: "ended without consent", page: apple("expirationIntent"),
            renewal: [.autoRenewStatus: .integer(1), .expirationIntent: .integer(3)], after: 20,
            step: "ends: customerDidNotConsentToPriceIncrease", status: .expired, renews: false,
            canceler: "priceIncrease"),
        AppleCase(
            testDescription: "ended, because the product was not available", page: apple("expirationIntent"),
            renewal: [.autoRenewStatus: .integer(1), .expirationIntent: .integer(4)], after: 20,
            step: "ends: productNotAvailable", status: .expired, renews: false),
        AppleCase(
            testDescription: "upgraded", page: apple("isUpgraded"), renewal: [.autoRenewStatus: .integer(1)],
            transaction: [.isUpgraded: .integer(1)], step: "unknown", status: .active, renews: nil),
        AppleCase(
            testDescription: "upgraded, and ended before the new period is known", page: apple("isUpgraded"),
            renewal: [.autoRenewStatus: .integer(1)], transaction: [.isUpgraded: .integer(1)], after: 20,
            step: "ends: replaced", status: .upgraded, renews: false, canceler: "replacement"),
    ]

    @Test(arguments: appleCases) func `the renewal information of the App Store says what comes next`(
        example: AppleCase
    ) throws {
        let transaction = RedeemedTransaction(
            sequence: 1, origin: .appleProduction, transactionIdentifier: "1", originalTransactionIdentifier: "1",
            productIdentifier: "premium", purchaseDate: Self.day(-10), redeemedAt: Self.now,
            expiresAt: Self.day(20), graceEndsAt: example.grace.map(Self.day),
            facts: TransactionFacts(example.transaction))
        let renewal = example.renewal.map {
            StatedRenewal(statedAt: Self.now, proofDigest: [], facts: RenewalFacts($0))
        }
        let status = try #require(
            PurchaseStatus([transaction], .autoRenewableSubscription, renewal, at: Self.day(example.after)))
        #expect(Self.words(status) == example.step, "\(example.page)")
        #expect(status.state == example.status, "\(example.page)")
        #expect(status.renews == example.renews, "\(example.page)")
        #expect(status.ending?.canceler == example.canceler, "\(example.page)")
    }

    @Test func `a word of the audit log names one reason`() {
        for reason in ExpirationReason.allCases where reason.canceler != nil {
            #expect(ExpirationReason(canceler: reason.canceler) == reason)
        }
        #expect(ExpirationReason(canceler: nil) == nil && ExpirationReason(canceler: "nobody") == nil)
    }
}
