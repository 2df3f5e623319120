import Entitlements
import Features
import Proofs
import TestSupport
import Testing

/// The rules of subscriptions and trials, without a database.
@Suite struct SubscriptionTimelineTests: FigureSuite {
    private static let levels: Set<FigureMetric> = [
        .trialsNew, .trialsEnded, .trialsExpired, .subscriptionsNew, .subscriptionsResubscribed, .subscriptionsChanged,
        .subscriptionsRefunded, .subscriptionsExpired, .revenueNew, .revenueResubscribed, .revenueChanged,
        .revenueRefunded, .revenueExpired,
    ]

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

    private static let migrated: [TransactionFact: StatedValue] = [.previousOriginalTransactionId: .text("1")]

    @Test func `a subscription that was migrated goes on at its price, and is renewed once`() throws {
        for (bought, expires) in [("2026-03-10", "2026-04-01"), ("2026-04-01", "2026-05-01")] {
            let isFree = expires == "2026-04-01"
            let moved = try Self.transaction(
                "8", of: "8", product: "generic", bought: bought, expires: expires, price: isFree ? 0 : 4_990,
                facts: Self.migrated)
            let renewal = try Self.transaction(
                "9", of: "8", product: "generic", bought: "2026-04-01", expires: "2026-05-01", facts: Self.migrated)
            let transactions =
                [try Self.transaction("1", bought: "2026-03-01", expires: "2026-04-01"), moved]
                + (isFree ? [renewal] : [])
            for order in [transactions, transactions.reversed()] {
                check(
                    order,
                    [
                        ("2026-03-01", .subscriptionsNew, 1), ("2026-03-01", .revenueNew, 4_990),
                        ("2026-04-01", .renewals, 1), ("2026-05-01", .subscriptionsExpired, 1),
                        ("2026-05-01", .revenueExpired, 4_990), ("2026-03-01", .newCustomers, 1),
                        ("2026-03-01", .transactions, 1), ("2026-04-01", .transactions, 1),
                    ], only: Self.levels.union([.renewals, .newCustomers, .transactions]))
            }
        }
    }

    @Test func `a free trial goes on after a migration, and converts with the first payment`() throws {
        check(
            [
                try Self.transaction("1", bought: "2026-03-01", expires: "2026-03-15", price: 0, facts: Self.trial),
                try Self.transaction(
                    "8", of: "8", product: "generic", bought: "2026-03-08", expires: "2026-03-15", price: 0,
                    facts: Self.migrated),
                try Self.transaction(
                    "9", of: "8", product: "generic", bought: "2026-03-15", expires: "2026-04-15",
                    facts: Self.migrated),
            ],
            [
                ("2026-03-01", .trialsNew, 1), ("2026-03-15", .trialsEnded, 1),
                ("2026-03-15", .subscriptionsNew, 1), ("2026-03-15", .revenueNew, 4_990),
                ("2026-03-15", .conversions, 1), ("2026-04-15", .subscriptionsExpired, 1),
                ("2026-04-15", .revenueExpired, 4_990),
            ], only: Self.levels.union([.conversions, .renewals]))
    }

    @Test func `three parts are one subscription`() throws {
        let parts = try [("1", "2026-03-01", "2026-04-01"), ("2", "2026-04-01", "2026-05-01")].map {
            try Self.transaction($0, of: $0, bought: $1, expires: $2, facts: $0 == "1" ? [:] : Self.migrated)
        }
        let last = try Self.transaction(
            "3", of: "3", bought: "2026-05-01", expires: "2026-06-01",
            facts: [.previousOriginalTransactionId: .text("2")])
        check(
            [last] + parts,
            [("2026-03-01", .subscriptionsNew, 1), ("2026-06-01", .subscriptionsExpired, 1)],
            only: [.subscriptionsNew, .subscriptionsResubscribed, .subscriptionsExpired, .subscriptionsRefunded])
    }

    @Test func `an end is no longer open if the customer has come back on the same day`() throws {
        check(
            [
                try Self.transaction("1", bought: "2026-03-01", expires: "2026-04-01"),
                try Self.transaction("2", bought: "2026-04-01T18:00:00Z", expires: "2026-05-01"),
            ],
            [
                ("2026-03-01", .subscriptionsNew, 1), ("2026-04-01", .subscriptionsRefunded, 1),
                ("2026-04-01", .subscriptionsResubscribed, 1), ("2026-05-01", .subscriptionsExpired, 1),
                ("2026-03-01", .revenueNew, 4_990), ("2026-04-01", .revenueRefunded, 4_990),
                ("2026-04-01", .revenueResubscribed, 4_990), ("2026-05-01", .revenueExpired, 4_990),
            ], only: Self.levels)
    }

    @Test func `a period that Google Play cuts short has the monthly revenue of its plan until it ends`() throws {
        let funded = try Self.moment("2026-04-01").millisecondsSince1970
        check(
            [
                try Self.transaction(
                    "1", bought: "2026-03-01", expires: "2026-03-04", facts: [.expiresDate: .integer(funded)])
            ],
            [
                ("2026-03-01", .subscriptionsNew, 1), ("2026-03-01", .revenueNew, 4_990),
                ("2026-03-04", .subscriptionsExpired, 1), ("2026-03-04", .revenueExpired, 4_990),
            ], only: Self.levels)
    }

    private static let added: [TransactionFact: StatedValue] = [.additionalTransactionReason: .text("SEAT_ADDITION")]

    @Test func `added seats raise the monthly revenue until the period ends, and are no renewal`() throws {
        check(
            [
                try Self.transaction("1", bought: "2026-03-01", expires: "2026-04-01", facts: Self.added),
                try Self.transaction("2", bought: "2026-03-17", expires: "2026-04-01", price: 2_000, facts: Self.added),
            ],
            [
                ("2026-03-01", .subscriptionsNew, 1), ("2026-03-01", .revenueNew, 4_990),
                // The price of two weeks is that of half a month.
                ("2026-03-17", .revenueChanged, 4_000), ("2026-04-01", .subscriptionsExpired, 1),
                ("2026-04-01", .revenueExpired, 8_990), ("2026-03-01", .revenue, 4_990),
                ("2026-03-17", .revenue, 2_000),
            ], only: Self.levels.union([.renewals, .revenue]))
    }

    @Test func `a refund of added seats lowers the monthly revenue, and ends no subscription`() throws {
        check(
            [
                try Self.transaction("1", bought: "2026-03-01", expires: "2026-04-01", facts: Self.added),
                try Self.transaction(
                    "2", bought: "2026-03-17", expires: "2026-04-01", refunded: "2026-03-20", price: 2_000,
                    facts: Self.added),
                try Self.transaction("3", bought: "2026-04-01", expires: "2026-05-01", price: 6_000),
            ],
            [
                ("2026-03-01", .subscriptionsNew, 1), ("2026-03-01", .revenueNew, 4_990),
                ("2026-03-17", .revenueChanged, 4_000), ("2026-03-20", .revenueChanged, -4_000),
                ("2026-04-01", .renewals, 1), ("2026-04-01", .revenueChanged, 1_010),
                ("2026-05-01", .subscriptionsExpired, 1), ("2026-05-01", .revenueExpired, 6_000),
                ("2026-03-20", .refunds, 1), ("2026-03-20", .refundedRevenue, 2_000),
            ], only: Self.levels.union([.renewals, .refunds, .refundedRevenue]))
    }

    @Test func `added seats keep a subscription whose first seats are refunded`() throws {
        check(
            [
                try Self.transaction(
                    "1", bought: "2026-03-01", expires: "2026-04-01", refunded: "2026-03-20", facts: Self.added),
                try Self.transaction("2", bought: "2026-03-17", expires: "2026-04-01", price: 2_000, facts: Self.added),
            ],
            [
                ("2026-03-01", .subscriptionsNew, 1), ("2026-04-01", .subscriptionsExpired, 1),
                ("2026-03-01", .revenueNew, 4_990), ("2026-03-17", .revenueChanged, 4_000),
                ("2026-03-20", .revenueChanged, -4_990), ("2026-04-01", .revenueExpired, 4_000),
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
            return sums.amounts.first { key, _ in
                (key.day, key.metric, key.subject, key.currency) == (day, metric, subject, currency)
            }?.value
        }
        #expect(try amount(.subscriptionsChanged, "monthly") == -1)
        #expect(try amount(.subscriptionsChanged, "yearly") == 1)
        #expect(try amount(.revenueChanged, "monthly", "EUR") == -4_990)
        #expect(try amount(.revenueChanged, "yearly", "EUR") == 5_000)
        #expect(!sums.amounts.keys.contains { $0.metric == .subscriptionsRefunded })
        #expect(
            sums.amounts.keys.filter { $0.metric == .subscriptionsExpired }.map(\.day.description) == ["2027-03-11"])
    }

    @Test func `of two periods that begin at one moment, the one that was upgraded was never active`() throws {
        let upgraded: [TransactionFact: StatedValue] = [.isUpgraded: .integer(1)]
        check(
            [
                try Self.transaction(
                    "1", product: "yearly", bought: "2026-03-01", expires: "2027-03-01", price: 60_000, facts: upgraded),
                try Self.transaction("2", product: "monthly", bought: "2026-03-01", expires: "2026-04-01"),
            ],
            [
                ("2026-03-01", .subscriptionsNew, 1), ("2026-03-01", .revenueNew, 4_990),
                ("2026-04-01", .subscriptionsExpired, 1), ("2026-04-01", .revenueExpired, 4_990),
            ], only: Self.levels)
    }

    @Test func `of two periods that begin at one moment, the purchase has replaced the renewal`() throws {
        func reason(_ reason: TransactionReason) -> [TransactionFact: StatedValue] {
            [.transactionReason: .text(reason.rawValue)]
        }
        check(
            [
                try Self.transaction(
                    "1", product: "yearly", bought: "2026-03-01", expires: "2027-03-01", price: 60_000,
                    facts: reason(.renewal)),
                try Self.transaction(
                    "2", product: "monthly", bought: "2026-03-01", expires: "2026-04-01", facts: reason(.purchase)),
            ],
            [
                ("2026-03-01", .subscriptionsNew, 1), ("2026-03-01", .revenueNew, 4_990),
                ("2026-04-01", .subscriptionsExpired, 1), ("2026-04-01", .revenueExpired, 4_990),
            ], only: Self.levels)
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

    @Test func `a trial without a payment expires`() throws {
        check(
            [try Self.transaction("1", bought: "2026-03-01", expires: "2026-03-08", price: 0, facts: Self.trial)],
            [
                ("2026-03-01", .trialsNew, 1), ("2026-03-08", .trialsExpired, 1), ("2026-03-01", .newCustomers, 1),
                ("2026-03-01", .trials, 1), ("2026-03-08", .trials, -1),
            ])
    }

    @Test(arguments: [
        ("2026-03-01", "2026-03-02", 30_000), ("2026-03-01", "2026-03-04", 10_000), ("2026-03-01", "2026-03-08", 4_000),
        ("2026-03-01", "2026-03-15", 2_000), ("2026-02-01", "2026-03-01", 1_000), ("2026-03-01", "2026-04-01", 1_000),
        ("2026-03-01", "2026-05-01", 500), ("2026-03-01", "2026-06-01", 333), ("2026-03-01", "2026-09-01", 166),
        ("2026-03-01", "2027-03-01", 83),
        // The durations of Apple's sandbox for a week, a month and a year.
        ("2026-03-01T00:00:00Z", "2026-03-01T00:03:00Z", 4_000),
        ("2026-03-01T00:00:00Z", "2026-03-01T00:05:00Z", 1_000), ("2026-03-01T00:00:00Z", "2026-03-01T01:00:00Z", 83),
    ])
    func `a price becomes a price for a month`(bought: String, expires: String, monthly: Int64) throws {
        let length = SubscriptionLength(from: try Self.moment(bought), until: try Self.moment(expires))
        #expect(length.monthly(1_000) == monthly)
    }

    /// The metrics that raise a net sum, and those that lower it.
    private static let nets: [(net: FigureMetric, added: [FigureMetric], subtracted: [FigureMetric])] = [
        (.trials, [.trialsNew], [.trialsEnded, .trialsExpired]),
        (
            .subscriptions, [.subscriptionsNew, .subscriptionsResubscribed, .subscriptionsChanged],
            [.subscriptionsRefunded, .subscriptionsExpired]
        ),
        (
            .monthlyRevenue, [.revenueNew, .revenueResubscribed, .revenueChanged],
            [.revenueRefunded, .revenueExpired]
        ),
    ]

    @Test func `a net sum is that of its parts, on each day and of each subject`() throws {
        let dice = Dice(seed: 23)
        for _ in 0..<50 {
            let transactions = try (0..<8).map { number in
                let day = try Self.moment("2026-03-01").adding(days: Int64(dice.number(below: 60)))
                return try Self.transaction(
                    "\(number)", of: "\(dice.number(below: 2))", product: ["a", "b"][dice.number(below: 2)],
                    bought: day.rfc3339, expires: day.adding(days: 30).rfc3339,
                    refunded: dice.number(below: 4) == 0 ? day.adding(days: 3).rfc3339 : nil,
                    facts: dice.number(below: 4) == 0 ? Self.trial : [:])
            }
            let amounts = UserFigures.sums(of: transactions).amounts
            for key in amounts.keys {
                for (net, added, subtracted) in Self.nets {
                    func amount(_ metric: FigureMetric) -> Int64 {
                        amounts.first {
                            $0.key.metric == metric
                                && ($0.key.day, $0.key.subject, $0.key.currency) == (key.day, key.subject, key.currency)
                        }?.value ?? 0
                    }
                    let parts = added.reduce(0) { $0 + amount($1) } - subtracted.reduce(0) { $0 + amount($1) }
                    #expect(amount(net) == parts)
                }
            }
        }
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
            // Every subscription that begins also ends.
            func sum(_ metrics: FigureMetric...) -> Int64 {
                sums.amounts.filter { metrics.contains($0.key.metric) }.reduce(0) { $0 + $1.value }
            }
            #expect(
                sum(.subscriptionsNew, .subscriptionsResubscribed)
                    == sum(.subscriptionsRefunded, .subscriptionsExpired))
            #expect(sum(.subscriptionsChanged) == 0)
            #expect(sum(.trialsNew) == sum(.trialsEnded, .trialsExpired))
            #expect((sum(.trials), sum(.subscriptions), sum(.monthlyRevenue)) == (0, 0, 0))
            #expect(
                sum(.revenueNew, .revenueResubscribed, .revenueChanged) == sum(.revenueRefunded, .revenueExpired))
        }
    }
}

/// Prices of plans, and payments.
extension SubscriptionTimelineTests {
    private static func plan(_ price: Int64, _ name: String = "m", isProrated: Bool = false) -> [TransactionFact:
        StatedValue]
    {
        var facts: [TransactionFact: StatedValue] = [
            .recurringPrice: .integer(price), .basePlanId: .text(name), .orderId: .text("GPA.1"),
        ]
        if isProrated { facts[.isProrated] = .integer(1) }
        return facts
    }

    private static let intro: [TransactionFact: StatedValue] = [
        .offerType: .integer(1), .offerDiscountType: .text(OfferDiscountType.payAsYouGo.rawValue),
    ]

    /// The last period of some, and its price for a month.
    private static func prices() throws -> [(String, [RedeemedTransaction], Int64)] {
        let month = try transaction("1", bought: "2026-03-01", expires: "2026-04-01", facts: plan(4_990))
        func next(
            _ expires: String, price: Int64?, _ facts: [TransactionFact: StatedValue]
        ) throws -> RedeemedTransaction {
            try transaction("2", product: "gold", bought: "2026-03-11", expires: expires, price: price, facts: facts)
        }
        return [
            (
                "the plan's price, whatever tax the order has",
                [try transaction("2", bought: "2026-03-11", expires: "2026-04-11", price: 5_440, facts: plan(4_990))],
                4_990
            ),
            (
                "without the right to see orders",
                [
                    try transaction(
                        "2", bought: "2026-03-11", expires: "2026-04-11", price: nil,
                        facts: plan(4_990).merging([.currency: .text("EUR")]) { $1 })
                ], 4_990
            ),
            ("a base plan of a year", [month, try next("2027-03-11", price: 49_990, plan(49_990, "y"))], 4_165),
            (
                "ten days for the value of the old plan",
                [month, try next("2026-03-21", price: 0, plan(9_990, isProrated: true))], 9_990
            ),
            (
                "twenty-five days of a year for the value of the old plan",
                [
                    month,
                    try next(
                        "2026-04-05", price: 0,
                        plan(49_990, "y").merging([.replacementMode: .text("WITH_TIME_PRORATION")]) { $1 }),
                ], 4_165
            ),
            (
                "the difference until the old date",
                [month, try next("2026-03-31", price: 3_330, plan(9_990, isProrated: true))], 9_990
            ),
            (
                "the full price, and the rest of the old plan",
                [month, try next("2027-03-20", price: 49_990, plan(49_990, "y", isProrated: true))], 4_165
            ),
            (
                "the full price in a prorated phase with the rest of a year",
                [
                    try transaction(
                        "1", bought: "2026-03-01", expires: "2027-03-01", price: 49_990, facts: plan(49_990, "y")),
                    try next(
                        "2026-09-09", price: 9_990,
                        plan(9_990, isProrated: true).merging([.replacementMode: .text("CHARGE_FULL_PRICE")]) { $1 }),
                ], 9_990
            ),
            (
                "an add-on until the date of its base",
                [try transaction("2", bought: "2026-03-16", expires: "2026-04-01", price: 5_000, facts: plan(10_000))],
                10_000
            ),
            (
                "an add-on after its trial, until the date of its base",
                [
                    try transaction(
                        "1", bought: "2026-03-01", expires: "2026-03-08", price: 0,
                        facts: plan(10_000).merging(trial) { $1 }),
                    try transaction(
                        "2", bought: "2026-03-08", expires: "2026-03-28", price: 6_667,
                        facts: plan(10_000, isProrated: true)),
                ], 10_000
            ),
            (
                "signed up again for the time that is paid",
                [
                    month,
                    try transaction("2", bought: "2026-03-16", expires: "2026-04-01", price: 0, facts: plan(4_990)),
                ], 4_990
            ),
            (
                "an introductory price at Google Play, as long as it lasts",
                [
                    try transaction(
                        "2", bought: "2026-03-11", expires: "2026-04-11", price: 990,
                        facts: plan(4_990).merging(intro) { $1 })
                ], 990
            ),
            (
                "an introductory price at the App Store, as long as it lasts",
                [try transaction("2", bought: "2026-03-11", expires: "2026-04-11", price: 990, facts: intro)], 990
            ),
        ]
    }

    @Test(arguments: 0..<13) func `the monthly revenue is that of the plan`(index: Int) throws {
        let (name, transactions, monthly) = try Self.prices()[index]
        let amounts = UserFigures.sums(of: transactions).amounts
        let end = try #require(amounts.keys.filter { $0.metric == .revenueExpired }.max { $0.day < $1.day })
        #expect(amounts[end] == monthly, "\(name)")
    }

    @Test func `the first whole period of a plan tells its length`() throws {
        let facts = Self.plan(9_990, isProrated: true)
        check(
            [
                try Self.transaction(
                    "1", bought: "2026-03-01", expires: "2027-03-01", price: 49_990, facts: Self.plan(49_990, "y")),
                try Self.transaction(
                    "2", product: "gold", bought: "2026-06-01", expires: "2026-06-21", price: 0, facts: facts),
                try Self.transaction(
                    "3", product: "gold", bought: "2026-06-21", expires: "2026-07-21", price: 9_990,
                    facts: Self.plan(9_990)),
            ],
            [
                ("2026-03-01", .revenueNew, 4_165), ("2026-06-01", .revenueChanged, 9_990 - 4_165),
                ("2026-07-21", .revenueExpired, 9_990),
            ], only: [.revenueNew, .revenueChanged, .revenueExpired, .revenueRefunded])
    }

    @Test func `a trial goes on with another plan until something is paid`() throws {
        let trial = try Self.transaction(
            "1", bought: "2026-03-01", expires: "2026-03-15", price: 0, facts: Self.trial)
        func changed(price: Int64?) throws -> RedeemedTransaction {
            try Self.transaction(
                "2", product: "gold", bought: "2026-03-05", expires: "2026-03-15", price: price,
                facts: Self.plan(9_990, isProrated: true))
        }
        let paid = try Self.transaction(
            "3", product: "gold", bought: "2026-03-15", expires: "2026-04-15", price: 9_990, facts: Self.plan(9_990))
        let metrics: Set<FigureMetric> = [
            .trialsNew, .trialsEnded, .trialsExpired, .conversions, .convertedTrials, .units, .subscriptionsNew,
        ]
        for price in [0, nil] as [Int64?] {
            check(
                [trial, try changed(price: price)],
                [("2026-03-01", .trialsNew, 1), ("2026-03-15", .trialsExpired, 1)], only: metrics)
            check(
                [trial, try changed(price: price), paid],
                [
                    ("2026-03-01", .trialsNew, 1), ("2026-03-15", .trialsEnded, 1), ("2026-03-15", .conversions, 1),
                    ("2026-03-01", .convertedTrials, 1), ("2026-03-15", .units, 1),
                    ("2026-03-15", .subscriptionsNew, 1),
                ], only: metrics)
        }
        check(
            [trial, try changed(price: 500)],
            [
                ("2026-03-01", .trialsNew, 1), ("2026-03-05", .trialsEnded, 1), ("2026-03-05", .conversions, 1),
                ("2026-03-01", .convertedTrials, 1), ("2026-03-05", .units, 1), ("2026-03-05", .subscriptionsNew, 1),
            ], only: metrics)
    }

    @Test func `a period of nothing after a trial is no conversion`() throws {
        check(
            [
                try Self.transaction("1", bought: "2026-03-01", expires: "2026-03-08", price: 0, facts: Self.trial),
                try Self.transaction("2", bought: "2026-03-08", expires: "2026-04-08", price: 0),
                try Self.transaction("3", bought: "2026-04-08", expires: "2026-05-08"),
            ], [("2026-04-08", .conversions, 1), ("2026-03-01", .convertedTrials, 1)],
            only: [.conversions, .convertedTrials])
    }

    @Test func `the sums of money are those of the charges`() throws {
        let dice = Dice(seed: 53)
        for _ in 0..<100 {
            let transactions = try (0..<8).map { number in
                let day = try Self.moment("2026-03-01").adding(days: Int64(dice.number(below: 60)))
                let price = Int64(dice.number(below: 4)) * 1_000
                var facts: [TransactionFact: StatedValue] = dice.number(below: 4) == 0 ? Self.trial : [:]
                if dice.number(below: 3) == 0 {
                    facts[.orderId] = .text("GPA.\(number)")
                    facts[.refundedAmount] = .integer(price / 2)
                    facts[.refundedAt] = .integer(day.adding(days: 2).millisecondsSince1970)
                }
                return try Self.transaction(
                    "\(number)", of: "\(dice.number(below: 3))", product: ["a", "b"][dice.number(below: 2)],
                    bought: day.rfc3339, expires: dice.number(below: 3) == 0 ? nil : day.adding(days: 30).rfc3339,
                    refunded: dice.number(below: 4) == 0 ? day.adding(days: 3).rfc3339 : nil, price: price,
                    facts: facts)
            }
            let charges = transactions.charges.filter { !PurchasePeriod.Terms($0.facts).isTrial }
            let amounts = UserFigures.sums(of: transactions).amounts
            func sum(_ metric: FigureMetric) -> Int64 {
                amounts.filter { $0.key.metric == metric }.reduce(0) { $0 + $1.value }
            }
            #expect(sum(.revenue) == charges.compactMap(\.paidAmount).reduce(0, +))
            #expect(sum(.refundedRevenue) == charges.compactMap { $0.paidBack?.amount }.reduce(0, +))
            #expect(sum(.refunds) == Int64(charges.count { $0.paidBack != nil }))
        }
    }
}
