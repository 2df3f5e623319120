import Foundation
import Proofs
import TestSupport
import Testing

/// The moment of the questions, and the texts of answers of the Play Developer API.
enum PlayAnswers {
    static let token = "aaaabbbbccccddddeeeeffff.AO-J1Oz_-"
    /// The name of the token, which identifies its purchases.
    static let name = PurchaseTokenNames.test.name(of: token)
    static let packageName = "com.example.garden"
    /// 2026-09-21T14:13:20Z.
    static let now = Timestamp(secondsSince1970: 1_790_000_000)
    static let user = "5e2f3b0e-6b1f-4d6e-8c1a-0123456789ab"

    /// The moment some days after the question, in Google's form.
    static func day(_ days: Int64) -> String { now.adding(days: days).rfc3339 }

    /// A subscription of a monthly plan, which began ten days before the question.
    ///
    /// - Parameters:
    ///   - state: The last part of Google's word.
    ///   - item: The members of the line item beside its product and its order.
    ///   - more: Further members.
    static func subscription(_ state: String, item: String, more: String = "") -> String {
        subscription(
            state, items: [#"{"productId":"premium","latestSuccessfulOrderId":"GPA.1",\#(item)}"#], more: more)
    }

    static func subscription(_ state: String, items: [String], more: String = "") -> String {
        """
        {"kind":"androidpublisher#subscriptionPurchaseV2","subscriptionState":"SUBSCRIPTION_STATE_\(state)",\
        "startTime":"\(day(-10))","regionCode":"KR","acknowledgementState":"ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED",\
        "lineItems":[\(items.joined(separator: ","))]\(more)}
        """
    }

    static let renewing =
        #""autoRenewingPlan":{"autoRenewEnabled":true,"recurringPrice":{"currencyCode":"KRW","units":"9900"}}"#

    /// A one-time purchase of yesterday.
    static func product(_ state: String, item: String = #""quantity":1"#, more: String = "") -> String {
        product(state, items: [#"{"productId":"seeds","productOfferDetails":{\#(item)}}"#], more: more)
    }

    static func product(_ state: String, items: [String], more: String = "") -> String {
        """
        {"productLineItem":[\(items.joined(separator: ","))],"purchaseStateContext":{"purchaseState":"\(state)"},\
        "acknowledgementState":"ACKNOWLEDGEMENT_STATE_PENDING"\(more)}
        """
    }

    static let paid = #","orderId":"GPA.1","purchaseCompletionTime":"\#(day(-1))""#

    /// An order of a period or a purchase.
    static func order(_ identifier: String = "GPA.1", _ state: String = "PROCESSED", items: [String], more: String = "")
        throws -> GooglePlayOrder
    {
        let text = """
            {"orderId":"\(identifier)","createTime":"\(day(-10))","state":"\(state)",\
            "lineItems":[\(items.joined(separator: ","))]\(more)}
            """
        return try GooglePlayOrder(Array(text.utf8), identifier: identifier)
    }

    /// The order of a month of the subscription.
    static func month(_ state: String = "PROCESSED", until days: Int64 = 20, more: String = "") throws
        -> GooglePlayOrder
    {
        try order(
            "GPA.1", state,
            items: [
                #"{"productId":"premium","total":{"currencyCode":"KRW","units":"9900"},"subscriptionDetails":"#
                    + #"{"servicePeriodStartTime":"\#(day(-9))","servicePeriodEndTime":"\#(day(days))"}}"#
            ], more: more)
    }

    static func statement(
        _ text: String, isProduct: Bool = false, realm: Realm = .google, originalToken: String? = nil,
        orders: [GooglePlayOrder] = [], lines: [GooglePlayLines.Product] = [], rentals: [GooglePlayRental] = []
    ) throws -> GooglePlayStatement {
        let bytes = Array(text.utf8)
        let answer =
            isProduct
            ? try GooglePlayAnswer(product: bytes, about: token, of: packageName)
            : try GooglePlayAnswer(subscription: bytes, about: token, of: packageName)
        return answer.statement(
            .init(
                realm: realm, askedAt: now, named: .test, originalToken: originalToken, orders: orders,
                lines: GooglePlayLines(lines), rentals: rentals))
    }
}

/// The statements of Google Play about subscriptions.
@Suite struct GooglePlayAnswerTests {
    private typealias Answers = PlayAnswers
    private static let (now, day) = (Answers.now, Int64(86_400_000))

    /// A state with the end of its line item, and what follows.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        /// The days from the question until the end of the line item; nil for an item that is not owned yet.
        let end: Int64?
        let state: GooglePlayState
        /// The days until the paid time ends; nil for no purchase.
        let paid: Int64?
        var grace: Int64?
        var renews: Bool? = true
        var isRetried = false

        var testDescription: String { "\(name) until \(end.map(String.init) ?? "never")" }
    }

    static let cases: [Case] = [
        Case(name: "PENDING", end: nil, state: .pending, paid: nil),
        Case(name: "PENDING", end: 20, state: .pending, paid: nil),
        Case(name: "PENDING_PURCHASE_CANCELED", end: 20, state: .paymentCanceled, paid: nil),
        Case(name: "ACTIVE", end: 20, state: .active, paid: 20),
        Case(name: "ACTIVE", end: nil, state: .active, paid: nil),
        // The charge was declined, and Google Play says nothing of it for a day.
        Case(name: "ACTIVE", end: 0, state: .active, paid: 0, grace: 1),
        Case(name: "ACTIVE", end: -1, state: .active, paid: -1),
        // Google Play moves the end on while the state has access.
        Case(name: "IN_GRACE_PERIOD", end: -1, state: .inGracePeriod, paid: -1, grace: 2, isRetried: true),
        Case(name: "IN_GRACE_PERIOD", end: 3, state: .inGracePeriod, paid: 0, grace: 3, isRetried: true),
        Case(name: "ON_HOLD", end: -2, state: .onHold, paid: -2, isRetried: true),
        Case(name: "ON_HOLD", end: 20, state: .onHold, paid: 0, isRetried: true),
        Case(name: "PAUSED", end: -2, state: .paused, paid: -2),
        Case(name: "PAUSED", end: 20, state: .paused, paid: 0),
        Case(name: "CANCELED", end: 20, state: .canceled, paid: 20, renews: false),
        Case(name: "CANCELED", end: -2, state: .canceled, paid: -2, renews: false),
        Case(name: "EXPIRED", end: -2, state: .expired, paid: -2, renews: false),
        Case(name: "EXPIRED", end: 20, state: .expired, paid: 0, renews: false),
        // An unknown state grants nothing, and ends nothing that was granted.
        Case(name: "INVENTED_LATER", end: 20, state: .unknown, paid: nil),
        Case(name: "UNSPECIFIED", end: 20, state: .unknown, paid: nil),
    ]

    @Test(arguments: cases) func `a state gives access until its end, or none`(_ expected: Case) throws {
        let end = expected.end.map { #""expiryTime":"\#(Answers.day($0))","# } ?? ""
        let statement = try Answers.statement(Answers.subscription(expected.name, item: end + Answers.renewing))
        #expect(statement.state == expected.state && statement.isSubscription)
        #expect(statement.statedState == "SUBSCRIPTION_STATE_" + expected.name)
        #expect(statement.purchases.count == (expected.paid == nil ? 0 : 1))
        guard let paid = expected.paid, let stated = statement.purchases.first else { return }
        #expect(stated.purchase.expiresDate == Self.now.adding(days: paid))
        #expect(stated.purchase.facts.date(.expiresDate) == Self.now.adding(days: paid))
        #expect(stated.purchase.revocationDate == nil)
        let facts = try #require(stated.renewal).facts
        #expect(facts.date(.gracePeriodExpiresDate) == expected.grace.map { Self.now.adding(days: $0) })
        #expect(facts.bool(.autoRenewStatus) == expected.renews)
        #expect(facts.bool(.isInBillingRetryPeriod) == expected.isRetried)
        #expect((facts[.renewalPrice] != nil) == (expected.renews == true))
    }

    /// A promotion code that many customers may use is stated; of one for a single customer, its kind is (`SignupPromotion`).
    @Test(
        arguments: [
            (#"{"vanityCode":{"promotionCode":"SPRING"}}"#, "GPA.1", "SPRING"), (#"{"oneTimeCode":{}}"#, "GPA.1", nil),
            (#"{"vanityCode":{"promotionCode":"SPRING"}}"#, "GPA.1..0", nil),
            (#"{"oneTimeCode":{}}"#, "GPA.1..0", nil),
        ] as [(String, String, String?)])
    func `the first period has the promotion code`(promotion: String, order: String, code: String?) throws {
        let item =
            #""expiryTime":"\#(Answers.day(20))","signupPromotion":\#(promotion),\#(Answers.renewing)"#
        let text = Answers.subscription("ACTIVE", item: item).replacing(#""GPA.1""#, with: #""\#(order)""#)
        let statement = try Answers.statement(text)
        let facts = try #require(statement.purchases.first).purchase.facts
        #expect(facts.text(.promotionCode) == code)
        #expect(facts.bool(.hasOneTimeCode) == (promotion.contains("oneTimeCode") && order == "GPA.1" ? true : nil))
    }

    @Test func `a cancellation has its time and the reason of the customer, without the customer's words`() throws {
        let more = #"""
            ,"canceledStateContext":{"userInitiatedCancellation":{"cancelTime":"\#(Answers.day(-1))",
            "cancelSurveyResult":{"reason":"CANCEL_SURVEY_REASON_OTHERS","reasonUserInput":"I move to the sea."}}}
            """#
        let text = Answers.subscription("CANCELED", item: #""expiryTime":"\#(Answers.day(20))""#, more: more)
        let facts = try #require(try Answers.statement(text).purchases.first?.renewal).facts
        #expect(facts.date(.cancelTime) == Self.now.adding(days: -1) && facts.canceler == .user)
        #expect(facts.text(.cancelSurveyReason) == "CANCEL_SURVEY_REASON_OTHERS")
        #expect(!facts.values.values.contains { "\($0)".contains("sea") })
    }

    @Test(arguments: ["IN_GRACE_PERIOD": "inGracePeriodStateContext", "ON_HOLD": "onHoldStateContext"])
    func `a declined renewal has its order`(state: String, member: String) throws {
        let more = #","\#(member)":{"renewalDeclined":{"pendingOrderId":"GPA.1..3"}}"#
        let item = #""expiryTime":"\#(Answers.day(-1))",\#(Answers.renewing)"#
        let statement = try Answers.statement(Answers.subscription(state, item: item, more: more))
        #expect(try #require(statement.purchases.first?.renewal).facts.text(.pendingOrderId) == "GPA.1..3")
    }

    @Test func `a plan in installments has its payments, a step-up its deadline, and a prepaid plan its extension`()
        throws
    {
        func facts(_ plan: String) throws -> RenewalFacts {
            let text = Answers.subscription("ACTIVE", item: #""expiryTime":"\#(Answers.day(20))",\#(plan)"#)
            return try #require(try Answers.statement(text).purchases.first?.renewal).facts
        }
        let counts = #"{"initialCommittedPaymentsCount":12,"remainingCommittedPaymentsCount":3}"#
        let installments = try facts(#""autoRenewingPlan":{"autoRenewEnabled":true,"installmentDetails":\#(counts)}"#)
        #expect(installments.text(.installmentDetails) == counts)
        let stepUp = try facts(
            #""autoRenewingPlan":{"autoRenewEnabled":true,"priceStepUpConsentDetails":"#
                + #"{"state":"PENDING","consentDeadlineTime":"\#(Answers.day(12))"}}"#)
        #expect(stepUp.date(.consentDeadlineTime) == Self.now.adding(days: 12))
        #expect(stepUp.integer(.priceIncreaseStatus) == 0)
        let completed = try facts(
            #""autoRenewingPlan":{"autoRenewEnabled":true,"priceStepUpConsentDetails":{"state":"COMPLETED"}}"#)
        #expect(completed.text(.priceChangeState) == "COMPLETED" && completed[.priceIncreaseStatus] == nil)
        let prepaid = try facts(#""prepaidPlan":{"allowExtendAfterTime":"\#(Answers.day(5))"}"#)
        #expect(prepaid.date(.allowExtendAfterTime) == Self.now.adding(days: 5))
    }

    @Test func `every field that counts is read`() throws {
        let item =
            #""expiryTime":"\#(Answers.day(20))","offerDetails":{"basePlanId":"monthly","offerId":"spring"},"#
            + #""offerPhase":{"freeTrial":{}},\#(Answers.renewing)"#
        let more =
            #","externalAccountIdentifiers":{"obfuscatedExternalAccountId":"\#(Answers.user)","#
            + #""obfuscatedExternalProfileId":"p"},"linkedPurchaseToken":"earlier","testPurchase":{},"later":[1]"#
        let text = Answers.subscription("ACTIVE", item: item, more: more)
        let statement = try Answers.statement(text, orders: [Answers.month()])
        #expect(statement.packageName == Answers.packageName && statement.purchaseToken == Answers.token)
        #expect(statement.linkedPurchaseToken == "earlier")
        #expect(statement.origin == .googleTest && statement.isAcknowledged && statement.acknowledgeBy == nil)
        #expect(statement.obfuscatedAccountId == Answers.user && !statement.isReplaced)
        #expect(statement.askedAt == Self.now)
        #expect(statement.digest == DigestAlgorithm.sha256.digest(of: Array(text.utf8)))
        let stated = try #require(statement.purchases.first)
        let (purchase, facts) = (stated.purchase, stated.purchase.facts)
        #expect(purchase.transactionIdentifier == "GPA.1")
        #expect(purchase.originalTransactionIdentifier == Answers.name)
        #expect(purchase.productIdentifier == "premium" && purchase.quantity == 1)
        #expect(purchase.purchaseDate == Self.now.adding(days: -9))
        #expect(purchase.appAccountToken == UUID(uuidString: Answers.user))
        #expect(purchase.productType == .autoRenewableSubscription)
        #expect(facts.text(.orderId) == "GPA.1" && facts.text(.transactionReason) == "PURCHASE")
        #expect(facts.integer(.price) == 9_900_000 && facts.text(.currency) == "KRW")
        #expect(facts.text(.storefront) == "KOR" && facts.date(.signedDate) == Self.now)
        #expect(facts.date(.originalPurchaseDate) == Self.now.adding(days: -10))
        #expect(facts.text(.offerIdentifier) == "spring" && facts.text(.offerDiscountType) == "FREE_TRIAL")
        #expect(facts.integer(.offerType) == 1)
        #expect(facts.text(.obfuscatedAccountId) == Answers.user && facts.text(.obfuscatedProfileId) == "p")
        #expect(facts.text(.basePlanId) == "monthly")
        let renewal = try #require(stated.renewal)
        #expect(renewal.statedAt == Self.now && renewal.proofDigest == statement.digest)
        #expect(renewal.facts.date(.renewalDate) == Self.now.adding(days: 20))
        #expect(renewal.facts.integer(.renewalPrice) == 9_900_000)
        #expect(renewal.facts.text(.autoRenewProductId) == "premium")
        #expect(renewal.facts.date(.recentSubscriptionStartDate) == Self.now.adding(days: -10))
    }

    @Test func `a false value is omitted, and a prepaid plan never renews`() throws {
        for (plan, status) in [(#""autoRenewingPlan":{}"#, 0), (#""prepaidPlan":{}"#, 0), (#""other":1"#, nil)]
            as [(String, Int64?)]
        {
            let text = Answers.subscription("ACTIVE", item: #""expiryTime":"\#(Answers.day(20))","# + plan)
            let facts = try #require(try Answers.statement(text).purchases.first?.renewal).facts
            #expect(facts.integer(.autoRenewStatus) == status, "\(plan)")
            #expect(facts[.renewalDate] == nil, "\(plan)")
        }
    }

    @Test func `each renewal is a transaction of its own, with the first token as its original`() throws {
        let items = [
            #"{"productId":"premium","expiryTime":"\#(Answers.day(20))","latestSuccessfulOrderId":"GPA.1..3"}"#
        ]
        let stated = try #require(
            try Answers.statement(Answers.subscription("ACTIVE", items: items), originalToken: "first").purchases.first)
        #expect(stated.purchase.transactionIdentifier == "GPA.1..3")
        #expect(stated.purchase.originalTransactionIdentifier == PurchaseTokenNames.test.name(of: "first"))
        #expect(stated.purchase.facts.text(.transactionReason) == "RENEWAL")
    }

    @Test func `products of one token are purchases of their own`() throws {
        func item(_ product: String, _ order: String?) -> String {
            let order = order.map { #","latestSuccessfulOrderId":"\#($0)""# } ?? ""
            return #"{"productId":"\#(product)","expiryTime":"\#(Answers.day(20))"\#(order)}"#
        }
        func identifiers(_ items: [String]) throws -> [String] {
            try Answers.statement(Answers.subscription("ACTIVE", items: items)).purchases.map {
                "\($0.purchase.transactionIdentifier) of \($0.purchase.originalTransactionIdentifier)"
            }
        }
        let (main, other) = (Answers.name, "\(Answers.name):b")
        #expect(
            try identifiers([item("a", "GPA.1"), item("b", "GPA.1")]) == ["GPA.1 of \(main)", "GPA.1:b of \(other)"])
        #expect(
            try identifiers([item("a", "GPA.1"), item("b", "GPA.2")]) == ["GPA.1 of \(main)", "GPA.2:b of \(other)"])
        #expect(try identifiers([item("a", nil)]) == ["\(main) of \(main)"])
        #expect(try identifiers([item("a", nil), item("b", nil)]) == ["\(main) of \(main)", "\(other) of \(other)"])
        // The same product twice is one transaction.
        #expect(try identifiers([item("a", "GPA.1"), item("a", "GPA.1")]) == ["GPA.1 of \(main)"])
    }

    @Test func `a deferred replacement grants the new product at its renewal only`() throws {
        let old = """
            {"productId":"basic","expiryTime":"\(Answers.day(20))","latestSuccessfulOrderId":"GPA.1",\
            \(Answers.renewing),"deferredItemReplacement":{"productId":"premium"}}
            """
        let new =
            #"{"productId":"premium","offerDetails":{"basePlanId":"yearly"},"autoRenewingPlan":"#
            + #"{"autoRenewEnabled":true,"recurringPrice":{"currencyCode":"KRW","units":"99000"}}}"#
        let text = Answers.subscription(
            "ACTIVE", items: [old.replacing(#""autoRenewEnabled":true,"#, with: ""), new],
            more: #","linkedPurchaseToken":"earlier""#)
        let statement = try Answers.statement(text)
        #expect(statement.purchases.map(\.purchase.productIdentifier) == ["basic"])
        #expect(statement.purchases.first?.purchase.transactionIdentifier == "GPA.1")
        let facts = try #require(statement.purchases.first?.renewal).facts
        #expect(facts.bool(.autoRenewStatus) == true && facts.text(.autoRenewProductId) == "premium")
        #expect(facts.text(.autoRenewBasePlanId) == "yearly" && facts.integer(.renewalPrice) == 99_000_000)
    }

    @Test func `what is replaced keeps its paid end, without a refund`() throws {
        let text = Answers.subscription(
            "EXPIRED", item: #""expiryTime":"\#(Answers.day(-1))","autoRenewingPlan":{}"#,
            more: #","canceledStateContext":{"replacementCancellation":{}}"#)
        let statement = try Answers.statement(text, orders: [Answers.month("PARTIALLY_REFUNDED")])
        #expect(statement.isReplaced)
        #expect(statement.purchases.first?.purchase.revocationDate == nil)
        // The successor's beginning ends it, once the service knows it. The order states what was paid for.
        #expect(statement.purchases.first?.purchase.expiresDate == Self.now.adding(days: 20))
    }

    @Test func `a replaced period that the ledger knows keeps its end`() throws {
        let text = Answers.subscription(
            "EXPIRED", item: #""expiryTime":"\#(Answers.day(-1))","autoRenewingPlan":{}"#,
            more: #","canceledStateContext":{"replacementCancellation":{}}"#)
        let known = GooglePlayLines.Product(
            "premium", in: "", of: Answers.token, charge: "GPA.1", orderId: "GPA.1", from: Self.now.adding(days: -10),
            to: Self.now.adding(days: 20))
        let stated = try #require(try Answers.statement(text, lines: [known]).purchases.first)
        #expect(stated.purchase.expiresDate == Self.now.adding(days: 20))
        // Without the replacement, the answer ends it.
        let canceled = text.replacing("replacementCancellation", with: "developerInitiatedCancellation")
        let other = try #require(try Answers.statement(canceled, lines: [known]).purchases.first)
        #expect(other.purchase.expiresDate == Self.now.adding(days: -1))
    }

    @Test func `after a deferred replacement, the new item has taken the place of the old one`() throws {
        let old =
            #"{"productId":"basic","expiryTime":"\#(Answers.day(0))","latestSuccessfulOrderId":"GPA.1","#
            + #""autoRenewingPlan":{}}"#
        let new =
            #"{"productId":"premium","expiryTime":"\#(Answers.day(30))","latestSuccessfulOrderId":"GPA.2","#
            + Answers.renewing + #","itemReplacement":{"productId":"basic","replacementMode":"DEFERRED"}}"#
        let statement = try Answers.statement(Answers.subscription("ACTIVE", items: [old, new]))
        let stated = statement.purchases
        #expect(stated.map(\.purchase.productIdentifier) == ["basic", "premium"])
        #expect(stated.map { $0.renewal == nil } == [true, false])
        #expect(stated.map { $0.purchase.facts.text(.replacementMode) } == [nil, "DEFERRED"])
        // An item that is kept replaces nothing.
        let kept = old.replacing(
            #""autoRenewingPlan":{}"#,
            with: Answers.renewing + #","itemReplacement":{"productId":"basic","replacementMode":"KEEP_EXISTING"}"#)
        let keeping = try Answers.statement(Answers.subscription("ACTIVE", items: [kept]))
        #expect(keeping.purchases.map { $0.renewal == nil } == [false])
    }

    @Test func `a subscription that is bought again in the Play Store names the ended one and its account`() throws {
        let context =
            #","outOfAppPurchaseContext":{"expiredPurchaseToken":"ended","expiredExternalAccountIdentifiers":"#
            + #"{"obfuscatedExternalAccountId":"ada"}}"#
        let item = #""expiryTime":"\#(Answers.day(20))","# + Answers.renewing
        let statement = try Answers.statement(Answers.subscription("ACTIVE", item: item, more: context))
        #expect(statement.expiredPurchaseToken == "ended" && statement.linkedPurchaseToken == nil)
        #expect(statement.obfuscatedAccountId == "ada")
        // An account of the purchase itself counts.
        let own = context + #","externalAccountIdentifiers":{"obfuscatedExternalAccountId":"bob"}"#
        #expect(
            try Answers.statement(Answers.subscription("ACTIVE", item: item, more: own)).obfuscatedAccountId == "bob")
    }

    @Test func `in a grace period, the paid time ends with the order`() throws {
        let text = Answers.subscription(
            "IN_GRACE_PERIOD", item: #""expiryTime":"\#(Answers.day(5))","# + Answers.renewing)
        func paid(_ orders: [GooglePlayOrder], _ lines: [GooglePlayLines.Product] = []) throws -> Timestamp? {
            try Answers.statement(text, orders: orders, lines: lines).purchases.first?.purchase.expiresDate
        }
        #expect(try paid([Answers.month(until: -2)]) == Self.now.adding(days: -2))
        #expect(try paid([Answers.month(until: 5)]) == Self.now)
        let known = GooglePlayLines.Product(
            "premium", in: "", of: Answers.token, charge: "GPA.1", orderId: "GPA.1", from: Self.now.adding(days: -30),
            to: Self.now.adding(days: -1))
        #expect(try paid([], [known]) == Self.now.adding(days: -1))
        // The grace period does not become paid time when it ends.
        for state in ["ON_HOLD", "EXPIRED"] {
            let text = Answers.subscription(state, item: #""expiryTime":"\#(Answers.day(0))","# + Answers.renewing)
            let later = try Answers.statement(text, lines: [known])
            #expect(later.purchases.first?.purchase.expiresDate == Self.now.adding(days: -1))
        }
        let stated = try #require(try Answers.statement(text, lines: [known]).purchases.first)
        #expect(stated.purchase.purchaseDate == Self.now.adding(days: -30))
    }

    @Test(
        arguments: [
            // The state of the order, the end of its period in days, and if the period is taken back.
            ("REFUNDED", 20, true), ("PARTIALLY_REFUNDED", 20, true), ("PROCESSED", 20, false),
            // A refund of a subscription that has ended in time.
            ("REFUNDED", -1, false), ("PARTIALLY_REFUNDED", -1, false),
            // The refund has ended a grace period.
            ("REFUNDED", -8, true), ("PARTIALLY_REFUNDED", -8, true),
        ] as [(String, Int64, Bool)])
    func `a refund revokes a period that has ended before its time`(state: String, end: Int64, isRevoked: Bool) throws {
        let item = #""expiryTime":"\#(Answers.day(-1))","autoRenewingPlan":{}"#
        let history =
            state == "REFUNDED"
            ? #","orderHistory":{"refundEvent":{"eventTime":"\#(Answers.day(-1))"}}"#
            : #","orderHistory":{"partialRefundEvents":[{"state":"PROCESSED_SUCCESSFULLY","createTime":"#
                + #""\#(Answers.day(-2))","processTime":"\#(Answers.day(-1))"}]}"#
        let order = try Answers.month(state, until: end, more: history)
        let purchase = try #require(
            try Answers.statement(Answers.subscription("EXPIRED", item: item), orders: [order]).purchases.first
        ).purchase
        #expect(purchase.revocationDate == (isRevoked ? Self.now.adding(days: -1) : nil))
        #expect(purchase.revocationReason == (isRevoked ? 0 : nil))
        // The order has the time that was paid for, also of a period that ends before it.
        #expect(purchase.expiresDate == Self.now.adding(days: isRevoked ? end : -1))
        #expect(purchase.facts.date(.expiresDate) == Self.now.adding(days: end))
        let type = state == "REFUNDED" ? "REFUND_FULL" : "REFUND_PRORATED"
        #expect(purchase.facts.text(.revocationType) == (isRevoked ? type : nil))
        // Money alone that is paid back leaves the subscription.
        let active = Answers.subscription("ACTIVE", item: #""expiryTime":"\#(Answers.day(20))","# + Answers.renewing)
        #expect(
            try Answers.statement(active, orders: [order]).purchases.first?.purchase.revocationDate == nil)
    }

    @Test func `a refund leaves the end to which a charge was deferred`() throws {
        let item = #""expiryTime":"\#(Answers.day(-1))","autoRenewingPlan":{}"#
        let history = #","orderHistory":{"refundEvent":{"eventTime":"\#(Answers.day(-1))"}}"#
        let known = GooglePlayLines.Product(
            "premium", in: "", of: Answers.token, charge: "GPA.1", orderId: "GPA.1", from: Self.now.adding(days: -38),
            to: Self.now.adding(days: 10))
        let purchase = try #require(
            try Answers.statement(
                Answers.subscription("EXPIRED", item: item),
                orders: [try Answers.month("REFUNDED", until: -8, more: history)], lines: [known]
            ).purchases.first
        ).purchase
        // The customer had access until the refund, later than the order's own end.
        #expect(purchase.revocationDate == Self.now.adding(days: -1))
        #expect(purchase.expiresDate == Self.now.adding(days: 10))
    }

    @Test(
        arguments: [
            (#"{"userInitiatedCancellation":{"cancelTime":"2026-09-01T00:00:00Z"}}"#, 1),
            (#"{"systemInitiatedCancellation":{}}"#, 2), (#"{"developerInitiatedCancellation":{}}"#, 5),
            (#"{"replacementCancellation":{}}"#, 5), ("{}", nil),
        ] as [(String, Int64?)])
    func `an ended subscription has the reason of its end`(context: String, intent: Int64?) throws {
        let item = #""expiryTime":"\#(Answers.day(-1))","autoRenewingPlan":{}"#
        let more = #","canceledStateContext":"# + context
        let ended = try Answers.statement(Answers.subscription("EXPIRED", item: item, more: more))
        #expect(ended.purchases.first?.renewal?.facts.integer(.expirationIntent) == intent)
        let canceled = try Answers.statement(Answers.subscription("CANCELED", item: item, more: more))
        #expect(canceled.purchases.first?.renewal?.facts[.expirationIntent] == nil)
    }

    @Test(
        arguments: [
            ("OUTSTANDING", "PRICE_INCREASE", 10, 0, 12_000_000), ("CONFIRMED", "PRICE_INCREASE", 10, 1, 12_000_000),
            ("OUTSTANDING", "OPT_OUT_PRICE_INCREASE", 10, 1, 12_000_000),
            ("CONFIRMED", "PRICE_DECREASE", 10, nil, 12_000_000),
            // The next renewal still has the old price.
            ("OUTSTANDING", "PRICE_INCREASE", 40, 0, 9_900_000), ("APPLIED", "PRICE_INCREASE", 10, nil, 9_900_000),
            ("CANCELED", "PRICE_INCREASE", 10, nil, 9_900_000), ("LATER", "PRICE_INCREASE", 10, nil, 9_900_000),
        ] as [(String, String, Int64, Int64?, Int64)])
    func `a change of the price has the customer's answer`(
        state: String, mode: String, charge: Int64, answer: Int64?, price: Int64
    ) throws {
        let plan = """
            "autoRenewingPlan":{"autoRenewEnabled":true,"recurringPrice":{"currencyCode":"KRW","units":"9900"},\
            "priceChangeDetails":{"newPrice":{"currencyCode":"KRW","units":"12000"},"priceChangeMode":"\(mode)",\
            "priceChangeState":"\(state)","expectedNewPriceChargeTime":"\(Answers.day(charge))"}}
            """
        let item = #""expiryTime":"\#(Answers.day(20))","# + plan
        let facts = try #require(
            try Answers.statement(Answers.subscription("ACTIVE", item: item)).purchases.first?.renewal
        ).facts
        #expect(facts.integer(.priceIncreaseStatus) == answer)
        #expect(facts.integer(.renewalPrice) == price)
    }

    /// The days until the consent, which come before the second renewal in the last case.
    @Test(arguments: [(12, 12_000_000), (40, 9_900_000)] as [(Int64, Int64)])
    func `a step-up is the price of the renewal at its deadline`(deadline: Int64, price: Int64) throws {
        let plan = """
            "autoRenewingPlan":{"autoRenewEnabled":true,"recurringPrice":{"currencyCode":"KRW","units":"9900"},\
            "priceStepUpConsentDetails":{"newPrice":{"currencyCode":"KRW","units":"12000"},"state":"CONFIRMED",\
            "consentDeadlineTime":"\(Answers.day(deadline))"}}
            """
        let item = #""expiryTime":"\#(Answers.day(20))","# + plan
        let facts = try #require(
            try Answers.statement(Answers.subscription("ACTIVE", item: item)).purchases.first?.renewal
        ).facts
        #expect(facts.integer(.priceIncreaseStatus) == 1 && facts.integer(.renewalPrice) == price)
    }

    @Test func `a pause names its end, and a canceled installment plan its commitment`() throws {
        let item = #""expiryTime":"\#(Answers.day(-1))","# + Answers.renewing
        let paused = Answers.subscription(
            "PAUSED", item: item, more: #","pausedStateContext":{"autoResumeTime":"\#(Answers.day(30))"}"#)
        let pause = try #require(try Answers.statement(paused).purchases.first?.renewal).facts
        #expect(pause.date(.renewalDate) == Self.now.adding(days: 30))
        #expect(pause.date(.autoResumeTime) == Self.now.adding(days: 30) && pause.isPaused)
        let plan = #""autoRenewingPlan":{"autoRenewEnabled":true,"installmentDetails":{"pendingCancellation":{}}}"#
        let installment = Answers.subscription("ACTIVE", item: #""expiryTime":"\#(Answers.day(20))","# + plan)
        let facts = try #require(try Answers.statement(installment).purchases.first?.renewal).facts
        #expect(facts.integer(.autoRenewStatus) == 1 && facts.commitmentAutoRenewStatus == 0)
    }

    @Test func `a local Play has origins of its own`() throws {
        let item = #""expiryTime":"\#(Answers.day(20))","# + Answers.renewing
        let (real, test) = (
            Answers.subscription("ACTIVE", item: item),
            Answers.subscription("ACTIVE", item: item, more: #","testPurchase":{}"#)
        )
        #expect(try Answers.statement(real).origin == .googleProduction)
        #expect(try Answers.statement(real, realm: .localPlay).origin == .localPlayProduction)
        #expect(try Answers.statement(test, realm: .localPlay).origin == .localPlayTest)
    }

    @Test func `the deadline of an acknowledgement follows the plan and the tester`() throws {
        func deadline(_ state: String, _ plan: String, until days: Int64, more: String = "") throws -> Timestamp? {
            let item = #"{"productId":"p","expiryTime":"\#(Answers.day(days))",\#(plan)}"#
            let text = """
                {"subscriptionState":"SUBSCRIPTION_STATE_\(state)","startTime":"\(Answers.day(-1))",\
                "acknowledgementState":"ACKNOWLEDGEMENT_STATE_PENDING","lineItems":[\(item)]\(more)}
                """
            return try Answers.statement(text).acknowledgeBy
        }
        let (renewing, prepaid) = (Answers.renewing, #""prepaidPlan":{}"#)
        #expect(try deadline("ACTIVE", renewing, until: 20) == Self.now.adding(days: 2))
        #expect(try deadline("CANCELED", renewing, until: 20) == Self.now.adding(days: 2))
        #expect(try deadline("ACTIVE", prepaid, until: 20) == Self.now.adding(days: 2))
        #expect(try deadline("ACTIVE", prepaid, until: 3) == Self.now.adding(days: 1))
        #expect(
            try deadline("ACTIVE", renewing, until: 20, more: #","testPurchase":{}"#)
                == Self.now.adding(days: -1).adding(seconds: 180))
        for state in ["PENDING", "EXPIRED", "PENDING_PURCHASE_CANCELED", "LATER"] {
            #expect(try deadline(state, renewing, until: 20) == nil, "\(state)")
        }
        // A purchase without a date is acknowledged, too.
        let undated = #"{"subscriptionState":"SUBSCRIPTION_STATE_ACTIVE","lineItems":[]}"#
        #expect(try Answers.statement(undated).acknowledgeBy == Self.now.adding(days: 3))
    }
}
