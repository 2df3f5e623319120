import Entitlements
import Features
import Proofs
import TestSupport
import Testing

/// The rules of sales, without a database.
@Suite struct UserFiguresTests: FigureSuite {
    @Test func `a purchase is counted on its day`() throws {
        check(
            [try Self.transaction("1", product: "coins", quantity: 3, bought: "2026-03-31T23:59:59Z")],
            [
                ("2026-03-31", .units, 3), ("2026-03-31", .transactions, 1), ("2026-03-31", .revenue, 4_990),
                ("2026-03-31", .newCustomers, 1), ("2026-03-31", .payers, 1), ("2026-03-31", .payersNew, 1),
            ])
    }

    @Test func `a user pays once in a month, and for the first time once`() throws {
        check(
            [
                try Self.transaction("1", of: "1", bought: "2026-03-01", expires: "2026-03-08", facts: Self.trial),
                try Self.transaction("2", of: "2", product: "gift", bought: "2026-03-02", price: 0),
                try Self.transaction("3", of: "3", product: "coins", bought: "2026-03-05"),
                try Self.transaction("4", of: "4", product: "gate", bought: "2026-03-31"),
                try Self.transaction("5", of: "5", product: "coins", bought: "2026-05-01"),
            ],
            [
                ("2026-03-05", .payersNew, 1), ("2026-03-05", .payers, 1), ("2026-05-01", .payers, 1),
            ], only: [.payers, .payersNew])
    }

    @Test func `a price that was not stated is no revenue, and is counted`() throws {
        let priced: [TransactionFact: StatedValue] = [.price: .integer(4_990)]
        for facts in [[:], priced, [.price: .integer(-1), .currency: .text("EUR")]] {
            check(
                [try Self.transaction("1", bought: "2026-03-31", price: nil, facts: facts)],
                [("2026-03-31", .withoutPrice, 1), ("2026-03-31", .transactions, 1)],
                only: [.revenue, .withoutPrice, .transactions])
        }
    }

    @Test func `a refund is counted on its own day, and on the day of the purchase`() throws {
        let part: [TransactionFact: StatedValue] = [
            .revocationType: .text(RevocationType.refundProrated.rawValue), .revocationPercentage: .integer(25_000),
        ]
        let unknown: [TransactionFact: StatedValue] = [
            .revocationType: .text(RevocationType.refundProrated.rawValue)
        ]
        let amounts: [([TransactionFact: StatedValue], Int64?)] = [([:], 4_990), (part, 1_247), (unknown, nil)]
        for (facts, amount) in amounts {
            check(
                [try Self.transaction("1", bought: "2026-03-01", refunded: "2026-04-02", facts: facts)],
                [
                    ("2026-03-01", .revenue, 4_990), ("2026-03-01", .refundedTransactions, 1),
                    ("2026-04-02", .refunds, 1),
                ] + (amount.map { [("2026-04-02", .refundedRevenue, $0)] } ?? []),
                only: [.revenue, .refunds, .refundedRevenue, .refundedTransactions])
        }
    }

    @Test(arguments: [InAppOwnershipType.familyShared, .assigned])
    func `a purchase that another customer has paid for is not counted`(ownership: InAppOwnershipType) throws {
        let facts: [TransactionFact: StatedValue] = [.inAppOwnershipType: .text(ownership.rawValue)]
        check([try Self.transaction("1", bought: "2026-03-01", expires: "2026-04-01", facts: facts)], [])
    }

    /// The facts of eight seats.
    struct Seats: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The JSON of `multiSeatInfo`; nil if it was not stated.
        var info: String?
        /// Nil if the amount is unknown.
        let revenue: Int64?
    }

    private static let tiers = #"{"price":9990,"quantity":5},{"price":7990,"quantity":3}"#

    static let seats = [
        Seats(
            testDescription: "the tiers are exact, and the price is a rounded average",
            info: #"{"invitationManagement":"APPLE","priceTiers":[\#(tiers)]}"#, revenue: 73_920),
        Seats(testDescription: "without tiers, the price is that of a seat", info: "{}", revenue: 73_912),
        Seats(testDescription: "no tier", info: #"{"priceTiers":[]}"#, revenue: 73_912),
        Seats(testDescription: "tiers in an unknown form", info: #"{"priceTiers":[{"new":1}]}"#, revenue: 73_912),
        Seats(testDescription: "a subscription with a quantity", revenue: 73_912),
        Seats(
            testDescription: "a refund of some seats states no amount",
            info: #"{"priceTiers":[\#(tiers)],"revokedSeatQuantity":2}"#, revenue: 73_920),
        Seats(
            testDescription: "an amount beyond each currency",
            info: #"{"priceTiers":[{"price":9223372036854775807,"quantity":2}]}"#, revenue: nil),
    ]

    @Test(arguments: seats) func `the revenue of seats is the sum of their prices`(seats: Seats) throws {
        let transaction = try Self.transaction(
            "1", quantity: 8, bought: "2026-03-01", expires: "2026-04-01", price: 9_239,
            facts: seats.info.map { [.multiSeatInfo: .text($0)] } ?? [:])
        let amounts: [(String, FigureMetric, Int64)] =
            seats.revenue.map { [("2026-03-01", .revenue, $0), ("2026-03-01", .revenueNew, $0)] }
            ?? [("2026-03-01", .withoutPrice, 1)]
        check(
            [transaction], [("2026-03-01", .units, 8), ("2026-03-01", .transactions, 1)] + amounts,
            only: [.units, .transactions, .revenue, .withoutPrice, .revenueNew, .refundedRevenue, .refunds])
    }

    @Test func `the refund of all seats takes back their prices`() throws {
        let facts: [TransactionFact: StatedValue] = [.multiSeatInfo: .text("{\"priceTiers\":[\(Self.tiers)]}")]
        check(
            [
                try Self.transaction(
                    "1", quantity: 8, bought: "2026-03-01", expires: "2026-04-01", refunded: "2026-03-02", price: 9_240,
                    facts: facts)
            ], [("2026-03-02", .refundedRevenue, 73_920), ("2026-03-02", .refunds, 1)],
            only: [.refundedRevenue, .refunds])
    }

    @Test func `a restored purchase is counted once, on the day of the original`() throws {
        let facts: [TransactionFact: StatedValue] = [
            .type: .text(ProductType.nonConsumable.rawValue),
            .originalPurchaseDate: .integer(try Self.moment("2025-01-01").millisecondsSince1970),
        ]
        let restored = try Self.transaction("9", bought: "2026-03-01", facts: facts)
        let original = try Self.transaction("1", bought: "2025-01-01", facts: facts)
        for transactions in [[restored], [restored, original]] {
            check(transactions, [("2025-01-01", .units, 1)], only: [.units])
        }
    }

    @Test func `origins are counted separately, and a customer is new in each`() throws {
        let sums = UserFigures.sums(of: [
            try Self.transaction("1", of: "1", bought: "2026-03-01"),
            try Self.transaction("2", of: "2", bought: "2026-03-02"),
            try Self.transaction("1", of: "1", origin: .appleSandbox, bought: "2026-03-03"),
        ])
        let customers = sums.amounts.filter { $0.key.metric == .newCustomers }
        #expect(
            customers.map { "\($0.key.day) \($0.key.subject.origin.rawValue) \($0.value)" }.sorted() == [
                "2026-03-01 apple/Production 1", "2026-03-03 apple/Sandbox 1",
            ])
    }

    @Test func `extreme dates, amounts and texts cause no crash`() throws {
        let long = String(repeating: "x", count: 10_000)
        let extreme = RedeemedTransaction(
            sequence: 1, origin: .xcode, transactionIdentifier: "1", originalTransactionIdentifier: "1",
            productIdentifier: long, quantity: .max, purchaseDate: Timestamp(millisecondsSince1970: .min),
            redeemedAt: Timestamp(millisecondsSince1970: 0), revocationDate: Timestamp(millisecondsSince1970: .max),
            appNumber: 1, expiresAt: Timestamp(millisecondsSince1970: .max),
            graceEndsAt: Timestamp(millisecondsSince1970: .max),
            facts: TransactionFacts([
                .price: .integer(.max), .currency: .text("EUR"), .storefront: .text(long),
                .type: .text(ProductType.autoRenewableSubscription.rawValue),
            ]))
        let sums = UserFigures.sums(of: [extreme])
        #expect(sums.amounts.keys.allSatisfy { $0.subject.product == "" && $0.subject.storefront == "" })
        #expect(sums.amounts.keys.contains { $0.metric == .withoutPrice })
    }
}
