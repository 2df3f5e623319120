import Proofs
import TestSupport
import Testing

/// What an order of Google Play says of money that was paid back
/// (developers.google.com/android-publisher/api-ref/rest/v3/orders: State, OrderHistory, RefundDetails).
@Suite struct GooglePlayOrderRefundTests {
    private typealias Answers = PlayAnswers

    private static func line(_ product: String, _ total: String?) -> String {
        let total = total.map { #","total":\#(money($0))"# } ?? ""
        return #"{"productId":"\#(product)"\#(total)}"#
    }

    private static func money(_ units: String) -> String { #"{"currencyCode":"KRW","units":"\#(units)"}"# }

    private static func part(_ amount: String?, _ state: String = "PROCESSED_SUCCESSFULLY", day: Int64 = -1) -> String {
        let details = amount.map { #","refundDetails":{"total":\#(money($0)),"tax":\#(money("0"))}"# } ?? ""
        return
            #"{"createTime":"\#(Answers.day(day))","processTime":"\#(Answers.day(day))","state":"\#(state)"\#(details)}"#
    }

    private static func parts(_ parts: String...) -> String {
        #","orderHistory":{"partialRefundEvents":[\#(parts.joined(separator: ","))]}"#
    }

    struct Case: CustomTestStringConvertible {
        let testDescription: String
        let state: String
        var lines = [line("base", "4990")]
        var history = ""
        /// The products that the customer does not have any more.
        var gone: [String] = []
        /// The amount of each product: nil for no refund, empty for an unknown amount.
        let refunds: [String: [Int64]]
    }

    private static let two = [line("base", "4990"), line("gold", "9990")]

    static let cases = [
        Case(testDescription: "processed", state: "PROCESSED", refunds: [:]),
        Case(testDescription: "a refund that was requested", state: "PENDING_REFUND", refunds: [:]),
        Case(
            testDescription: "a refund that was requested after a part", state: "PENDING_REFUND",
            history: parts(part("2000")), refunds: ["base": [2_000_000]]),
        Case(testDescription: "a whole refund", state: "REFUNDED", refunds: ["base": [4_990_000]]),
        Case(
            testDescription: "a chargeback", state: "REFUNDED",
            history:
                #","orderHistory":{"refundEvent":{"eventTime":"\#(Answers.day(-1))","refundReason":"CHARGEBACK"}}"#,
            refunds: ["base": [4_990_000]]),
        Case(testDescription: "canceled before it was processed", state: "CANCELED", refunds: ["base": [4_990_000]]),
        Case(
            testDescription: "a whole refund of several lines", state: "REFUNDED", lines: two,
            refunds: ["base": [4_990_000], "gold": [9_990_000]]),
        Case(
            testDescription: "a part", state: "PARTIALLY_REFUNDED", history: parts(part("2000")),
            refunds: ["base": [2_000_000]]),
        Case(
            testDescription: "several parts", state: "PARTIALLY_REFUNDED", history: parts(part("2000"), part("500")),
            refunds: ["base": [2_500_000]]),
        Case(
            testDescription: "a part that is pending", state: "PARTIALLY_REFUNDED",
            history: parts(part("2000", "PENDING"), part("500")), refunds: ["base": [500_000]]),
        Case(
            testDescription: "nothing but what is pending", state: "PARTIALLY_REFUNDED",
            history: parts(part("2000", "PENDING")), refunds: [:]),
        Case(testDescription: "a part without a history", state: "PARTIALLY_REFUNDED", refunds: ["base": []]),
        Case(
            testDescription: "a part without an amount", state: "PARTIALLY_REFUNDED", history: parts(part(nil)),
            refunds: ["base": []]),
        Case(
            testDescription: "a part of a line without a total", state: "PARTIALLY_REFUNDED",
            lines: [line("base", nil)], history: parts(part("2000")), refunds: ["base": [2_000_000]]),
        Case(
            testDescription: "an item that is gone", state: "PARTIALLY_REFUNDED", lines: two,
            history: parts(part("7000")), gone: ["gold"], refunds: ["gold": [7_000_000]]),
        Case(
            testDescription: "the only line of the amount", state: "PARTIALLY_REFUNDED", lines: two,
            history: parts(part("9990")), refunds: ["gold": [9_990_000]]),
        Case(
            testDescription: "an item, and later the other one", state: "PARTIALLY_REFUNDED", lines: two,
            history: parts(part("9990"), part("4990")), refunds: ["base": [4_990_000], "gold": [9_990_000]]),
        Case(
            testDescription: "a part of both, in proportion", state: "PARTIALLY_REFUNDED",
            lines: [line("base", "5000"), line("gold", "10000")], history: parts(part("3000")),
            refunds: ["base": [1_000_000], "gold": [2_000_000]]),
        Case(
            testDescription: "a remainder of the division", state: "PARTIALLY_REFUNDED",
            lines: [line("base", "1"), line("gold", "1"), line("gem", "1")], history: parts(part("1")),
            gone: ["base", "gold", "gem"],
            refunds: ["base": [333], "gold": [333], "gem": [334]]),
    ]

    @Test(arguments: cases) func `a refund belongs to the lines of the order`(example: Case) throws {
        let order = try Answers.order("GPA.1", example.state, items: example.lines, more: example.history)
        for product in ["base", "gold", "gem", "other"] {
            let refund = order.refund(of: product) { example.gone.contains($0) }
            let expected = example.refunds[product]
            #expect((refund == nil) == (expected == nil), "\(product)")
            #expect(refund?.amount == expected?.first, "\(product)")
        }
        guard example.gone.isEmpty else { return }
        let isOfSome = !example.refunds.isEmpty && example.refunds.count < example.lines.count
        #expect(order.isRefundOfSomeProducts == isOfSome)
    }

    @Test func `money that is paid back leaves the goods, and has the date of the last refund`() throws {
        let history = Self.parts(Self.part("2000", day: -5), Self.part("500", day: -3), Self.part("900", "PENDING"))
        let order = try Answers.month("PARTIALLY_REFUNDED", more: history)
        let active = Answers.subscription("ACTIVE", item: #""expiryTime":"\#(Answers.day(20))","# + Answers.renewing)
        let stated = try #require(try Answers.statement(active, orders: [order]).purchases.first).purchase
        #expect(stated.revocationDate == nil)
        #expect(stated.facts.integer(.refundedAmount) == 2_500_000)
        #expect(stated.facts.date(.refundedAt) == Answers.now.adding(days: -3))
        // Without the order, nothing is known of it.
        let unknown = try #require(try Answers.statement(active).purchases.first).purchase
        #expect(unknown.facts[.refundedAmount] == nil && unknown.facts[.refundedAt] == nil)
        #expect(unknown.facts.integer(.recurringPrice) == 9_900_000 && unknown.facts.text(.currency) == "KRW")
    }

    @Test func `the money of an add-on that is taken back is its own`() throws {
        let lines = [
            #"{"productId":"premium","total":\#(Self.money("9900"))}"#,
            #"{"productId":"gold","total":\#(Self.money("9900"))}"#,
        ]
        let order = try Answers.order("GPA.1", "PARTIALLY_REFUNDED", items: lines, more: Self.parts(Self.part("9900")))
        let active = Answers.subscription("ACTIVE", item: #""expiryTime":"\#(Answers.day(20))","# + Answers.renewing)
        let base = try #require(try Answers.statement(active, orders: [order]).purchases.first).purchase
        #expect(base.productIdentifier == "premium" && base.facts[.refundedAmount] == nil)
    }

    @Test(
        arguments: [
            (#""prorationPeriod":{}"#, true), (#""prorationPeriod":{"originalOfferPhaseType":"FREE_TRIAL"}"#, true),
            (#""basePrice":{}"#, false), (#""freeTrial":{}"#, false),
        ])
    func `the time for the value of a replaced plan is known`(phase: String, isProrated: Bool) throws {
        let item = #""expiryTime":"\#(Answers.day(20))","offerPhase":{\#(phase)},"# + Answers.renewing
        let stated = try #require(try Answers.statement(Answers.subscription("ACTIVE", item: item)).purchases.first)
        #expect(stated.purchase.facts.bool(.isProrated) == (isProrated ? true : nil))
    }
}
