import Commerce
import Entitlements
import Figures
import Receipts
import TestSupport
import Testing

/// The rules of the figures, without a database.
@Suite struct UserFiguresTests {
    /// What a case expects of a metric on a day.
    private struct Expected: Hashable {
        let date: String
        let metric: FigureMetric
        let amount: Int64
    }

    private static let app: Int64 = 1

    private static func moment(_ text: String) throws -> Timestamp {
        try #require(Timestamp(rfc3339: text.count == 10 ? text + "T12:00:00Z" : text))
    }

    private static func transaction(
        _ identifier: String,
        of original: String = "1",
        origin: Origin = .appleProduction,
        product: String = "monthly",
        quantity: Int = 1,
        bought: String,
        expires: String? = nil,
        graceEnds: String? = nil,
        refunded: String? = nil,
        price: Int64? = 4_990,
        storefront: String? = "DEU",
        facts: [TransactionFact: StatedValue] = [:]
    ) throws -> BoughtTransaction {
        var stated = facts
        if expires != nil { stated[.type] = .text(ProductType.autoRenewableSubscription.rawValue) }
        if let price { (stated[.price], stated[.currency]) = (.integer(price), .text("EUR")) }
        if let storefront { stated[.storefront] = .text(storefront) }
        return BoughtTransaction(
            app: app,
            transaction: RedeemedTransaction(
                sequence: 1, origin: origin, transactionIdentifier: identifier,
                originalTransactionIdentifier: original, productIdentifier: product, quantity: quantity,
                purchaseDate: try moment(bought), redeemedAt: try moment(bought),
                revocationDate: try refunded.map(moment),
                details: RedeemedTransaction.Details(
                    expiresAt: try expires.map(moment), graceEndsAt: try graceEnds.map(moment),
                    facts: TransactionFacts(stated))))
    }

    private static let trial: [TransactionFact: StatedValue] = [
        .offerType: .integer(1), .offerDiscountType: .text(OfferDiscountType.freeTrial.rawValue),
    ]

    /// The sums of all products, storefronts and currencies.
    private func totals(_ transactions: [BoughtTransaction]) -> Set<Expected> {
        var totals: [String: [FigureMetric: Int64]] = [:]
        for (key, amount) in UserFigures.sums(of: transactions).amounts {
            totals[key.day.description, default: [:]][key.metric, default: 0] += amount
        }
        return Set(
            totals.flatMap { date, amounts in
                amounts.filter { $0.value != 0 }.map { Expected(date: date, metric: $0.key, amount: $0.value) }
            })
    }

    private func check(
        _ transactions: [BoughtTransaction],
        _ expected: [(date: String, metric: FigureMetric, amount: Int64)],
        only metrics: Set<FigureMetric> = Set(FigureMetric.allCases),
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let found = totals(transactions).filter { metrics.contains($0.metric) }
        let wanted = Set(expected.map { Expected(date: $0.date, metric: $0.metric, amount: $0.amount) })
        #expect(found == wanted, sourceLocation: sourceLocation)
    }

    private static let levels: Set<FigureMetric> = [
        .trialsNew, .trialsEnded, .trialsExpired, .subscriptionsNew, .subscriptionsResubscribed, .subscriptionsChanged,
        .subscriptionsRefunded, .subscriptionsExpired, .revenueNew, .revenueResubscribed, .revenueChanged,
        .revenueRefunded, .revenueExpired,
    ]

    @Test func `a purchase counts on its day`() throws {
        check(
            [try Self.transaction("1", product: "coins", quantity: 3, bought: "2026-03-31T23:59:59Z")],
            [
                ("2026-03-31", .units, 3), ("2026-03-31", .transactions, 1), ("2026-03-31", .revenue, 4_990),
                ("2026-03-31", .newCustomers, 1),
            ])
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

    @Test func `a refund counts on its own day, and on the day of the purchase`() throws {
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

    @Test func `what a family shares counts nowhere`() throws {
        let facts: [TransactionFact: StatedValue] = [
            .inAppOwnershipType: .text(InAppOwnershipType.familyShared.rawValue)
        ]
        check([try Self.transaction("1", bought: "2026-03-01", expires: "2026-04-01", facts: facts)], [])
    }

    @Test func `a restored purchase counts once, on the day of the original`() throws {
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

    @Test func `a subscription is active until it ends`() throws {
        check(
            [try Self.transaction("1", bought: "2026-03-01", expires: "2026-04-01")],
            [
                ("2026-03-01", .subscriptionsNew, 1), ("2026-03-01", .revenueNew, 4_990),
                ("2026-04-01", .subscriptionsExpired, 1), ("2026-04-01", .revenueExpired, 4_990),
            ], only: Self.levels)
    }

    @Test func `a renewal moves the end`() throws {
        check(
            [
                try Self.transaction("1", bought: "2026-03-01", expires: "2026-04-01"),
                try Self.transaction("2", bought: "2026-04-01", expires: "2026-05-01"),
            ],
            [
                ("2026-03-01", .subscriptionsNew, 1), ("2026-03-01", .revenueNew, 4_990),
                ("2026-04-01", .renewals, 1), ("2026-05-01", .subscriptionsExpired, 1),
                ("2026-05-01", .revenueExpired, 4_990),
            ], only: Self.levels.union([.renewals]))
    }

    @Test func `a grace period keeps a subscription active`() throws {
        check(
            [try Self.transaction("1", bought: "2026-03-01", expires: "2026-04-01", graceEnds: "2026-04-17")],
            [("2026-04-17", .subscriptionsExpired, 1)], only: [.subscriptionsExpired])
    }

    @Test func `a refund ends a subscription, and another payment resubscribes`() throws {
        check(
            [
                try Self.transaction("1", bought: "2026-03-01", expires: "2026-04-01", refunded: "2026-03-10"),
                try Self.transaction("2", bought: "2026-06-01", expires: "2026-07-01"),
            ],
            [
                ("2026-03-01", .subscriptionsNew, 1), ("2026-03-10", .subscriptionsRefunded, 1),
                ("2026-06-01", .subscriptionsResubscribed, 1), ("2026-07-01", .subscriptionsExpired, 1),
                ("2026-03-01", .revenueNew, 4_990), ("2026-03-10", .revenueRefunded, 4_990),
                ("2026-06-01", .revenueResubscribed, 4_990), ("2026-07-01", .revenueExpired, 4_990),
            ], only: Self.levels)
    }

    @Test func `an upgrade changes the monthly revenue, and loses no subscription`() throws {
        let sums = UserFigures.sums(of: [
            try Self.transaction(
                "1", bought: "2026-03-01", expires: "2026-04-01", facts: [.isUpgraded: .integer(1)]),
            try Self.transaction("2", product: "yearly", bought: "2026-03-11", expires: "2027-03-11", price: 60_000),
        ])
        func amount(_ metric: FigureMetric, _ product: String, _ currency: ByteKey = "") throws -> Int64? {
            let subject = FigureSubject(app: Self.app, origin: .appleProduction, product: product, storefront: "DEU")
            let day = CalendarDay(try Self.moment("2026-03-11"))
            return sums.amounts[FigureKey(day: day, metric: metric, subject: subject, currency: currency)]
        }
        #expect(try amount(.subscriptionsChanged, "monthly") == -1)
        #expect(try amount(.subscriptionsChanged, "yearly") == 1)
        #expect(try amount(.revenueChanged, "monthly", "EUR") == -4_990)
        #expect(try amount(.revenueChanged, "yearly", "EUR") == 5_000)
        #expect(!sums.amounts.keys.contains { $0.metric == .subscriptionsRefunded })
        #expect(
            sums.amounts.keys.filter { $0.metric == .subscriptionsExpired }.map(\.day.description) == ["2027-03-11"])
    }

    @Test func `a trial converts`() throws {
        check(
            [
                try Self.transaction("1", bought: "2026-03-01", expires: "2026-03-08", price: 0, facts: Self.trial),
                try Self.transaction("2", bought: "2026-03-08", expires: "2026-04-08"),
            ],
            [
                ("2026-03-01", .trialsNew, 1), ("2026-03-08", .trialsEnded, 1), ("2026-03-08", .conversions, 1),
                ("2026-03-01", .convertedTrials, 1), ("2026-03-08", .subscriptionsNew, 1),
                ("2026-03-08", .revenueNew, 4_990), ("2026-04-08", .subscriptionsExpired, 1),
                ("2026-04-08", .revenueExpired, 4_990), ("2026-03-08", .units, 1), ("2026-03-01", .newCustomers, 1),
            ], only: Self.levels.union([.conversions, .convertedTrials, .units, .newCustomers, .renewals]))
    }

    @Test func `a trial that nobody pays for expires`() throws {
        check(
            [try Self.transaction("1", bought: "2026-03-01", expires: "2026-03-08", price: 0, facts: Self.trial)],
            [("2026-03-01", .trialsNew, 1), ("2026-03-08", .trialsExpired, 1), ("2026-03-01", .newCustomers, 1)])
    }

    @Test func `origins are told apart, and a customer is new in each`() throws {
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

    @Test(arguments: [
        ("2026-03-01", "2026-03-02", 30_000), ("2026-03-01", "2026-03-04", 10_000), ("2026-03-01", "2026-03-08", 4_000),
        ("2026-03-01", "2026-03-15", 2_000), ("2026-02-01", "2026-03-01", 1_000), ("2026-03-01", "2026-04-01", 1_000),
        ("2026-03-01", "2026-05-01", 500), ("2026-03-01", "2026-06-01", 333), ("2026-03-01", "2026-09-01", 166),
        ("2026-03-01", "2027-03-01", 83),
        // The time of Apple's sandbox: a week, a month and a year.
        ("2026-03-01T00:00:00Z", "2026-03-01T00:03:00Z", 4_000),
        ("2026-03-01T00:00:00Z", "2026-03-01T00:05:00Z", 1_000), ("2026-03-01T00:00:00Z", "2026-03-01T01:00:00Z", 83),
    ])
    func `a price becomes a price for a month`(bought: String, expires: String, monthly: Int64) throws {
        let length = SubscriptionLength(from: try Self.moment(bought), until: try Self.moment(expires))
        #expect(length.monthly(1_000) == monthly)
    }

    @Test func `dates, amounts and texts without bounds do no harm`() throws {
        let long = String(repeating: "x", count: 10_000)
        let extreme = BoughtTransaction(
            app: 1,
            transaction: RedeemedTransaction(
                sequence: 1, origin: .xcode, transactionIdentifier: "1", originalTransactionIdentifier: "1",
                productIdentifier: long, quantity: .max, purchaseDate: Timestamp(millisecondsSince1970: .min),
                redeemedAt: Timestamp(millisecondsSince1970: 0), revocationDate: Timestamp(millisecondsSince1970: .max),
                details: RedeemedTransaction.Details(
                    expiresAt: Timestamp(millisecondsSince1970: .max),
                    graceEndsAt: Timestamp(millisecondsSince1970: .max),
                    facts: TransactionFacts([
                        .price: .integer(.max), .currency: .text("EUR"), .storefront: .text(long),
                        .type: .text(ProductType.autoRenewableSubscription.rawValue),
                    ]))))
        let sums = UserFigures.sums(of: [extreme])
        #expect(sums.amounts.keys.allSatisfy { $0.subject.product == "" && $0.subject.storefront == "" })
        #expect(sums.amounts.keys.contains { $0.metric == .withoutPrice })
    }

    @Test func `the order of the transactions does not matter`() throws {
        let dice = Dice(seed: 17)
        for _ in 0..<200 {
            let transactions = try (0..<6).map { number in
                let start = Int64(dice.number(below: 60))
                let day = try Self.moment("2026-03-01").adding(days: start)
                let end = day.adding(days: [7, 30, 31, 365][dice.number(below: 4)])
                return try Self.transaction(
                    "\(number)", of: "\(dice.number(below: 2))", product: ["a", "b"][dice.number(below: 2)],
                    bought: day.rfc3339, expires: dice.number(below: 4) == 0 ? nil : end.rfc3339,
                    refunded: dice.number(below: 5) == 0 ? day.adding(days: 3).rfc3339 : nil,
                    price: Int64(dice.number(below: 3)) * 1_000, facts: dice.number(below: 4) == 0 ? Self.trial : [:])
            }
            let sums = UserFigures.sums(of: transactions)
            #expect(UserFigures.sums(of: transactions.reversed()) == sums)
            #expect(UserFigures.sums(of: dice.shuffle(transactions)) == sums)
            // What begins ends.
            func sum(_ metrics: FigureMetric...) -> Int64 {
                sums.amounts.filter { metrics.contains($0.key.metric) }.reduce(0) { $0 + $1.value }
            }
            #expect(
                sum(.subscriptionsNew, .subscriptionsResubscribed)
                    == sum(.subscriptionsRefunded, .subscriptionsExpired))
            #expect(sum(.subscriptionsChanged) == 0)
            #expect(sum(.trialsNew) == sum(.trialsEnded, .trialsExpired))
            #expect(
                sum(.revenueNew, .revenueResubscribed, .revenueChanged) == sum(.revenueRefunded, .revenueExpired))
        }
    }
}
