import Entitlements
import Features
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The sums that the ledger keeps, in either database.
@Suite struct FigureLedgerTests: LedgerSuite {
    let fixture: LedgerFixture
    /// Noon of a day in the month after `now`.
    private let clock: ManualClock
    private let figures: FigureService

    init() throws {
        fixture = try LedgerFixture()
        clock = ManualClock(try #require(Timestamp(rfc3339: "2026-11-10T12:00:00Z")))
        figures = fixture.ledger.figures(clock: clock)
    }

    private static func facts(
        price: Int64? = 4_990,
        type: ProductType = .consumable,
        storefront: String = "DEU"
    ) -> TransactionFacts {
        var facts = TransactionFacts([
            .type: .text(type.rawValue), .storefront: .text(storefront), .signedDate: .integer(1),
        ])
        if let price { (facts[.price], facts[.currency]) = (.integer(price), .text("EUR")) }
        return facts
    }

    private func moment(_ date: String) throws -> Timestamp {
        try #require(Timestamp(rfc3339: date + "T12:00:00Z"))
    }

    private func subscribed(
        _ transaction: String,
        from start: String,
        to end: String,
        revoked: String? = nil,
        price: Int64 = 4_990
    ) throws -> Claim {
        claim(
            transaction, original: "1", origin: .localProduction, bought: try moment(start),
            revoked: try revoked.map(moment), signedAt: try moment(revoked ?? start),
            expiresAt: try moment(end), facts: Self.facts(price: price, type: .autoRenewableSubscription))
    }

    private func rollUp() async throws {
        try await figures.rollUp()
        #expect(try fixture.problems() == [])
    }

    private func points(
        _ figure: Figure,
        _ environment: FigureQuery.Environment = .production,
        by interval: FigureInterval = .month,
        from first: String = "2026-09-01",
        to last: String = "2026-11-10",
        group: FigureQuery.Group? = nil,
        product: String? = nil,
        store: PurchaseStore? = nil
    ) async throws -> [String: [Int64]] {
        let query = try FigureQuery(
            figure, in: environment, by: interval, from: try #require(CalendarDay(first)),
            to: try #require(CalendarDay(last)), group: group, product: product, store: store)
        let answer = try await figures.answer(query)
        return Dictionary(
            uniqueKeysWithValues: answer.series.map { series in
                let name = [series.group, series.currency].compactMap(\.self).joined(separator: " ")
                return (name, series.points.map(\.value))
            })
    }

    @Test func `the sales of each store are summed, whatever their origins`() async throws {
        func claims(_ identifiers: String, from origin: Origin, price: Int64) throws -> Claim {
            claim(identifiers, origin: origin, bought: try moment("2026-10-01"), facts: Self.facts(price: price))
        }
        _ = try await redeem(
            claims("1", from: .appleProduction, price: 1000), claims("2", from: .localProduction, price: 2000),
            claims("3", from: .googleProduction, price: 4000), for: alice)
        _ = try await redeem(
            claims("4", from: .localPlayProduction, price: 8000), claims("5", from: .googleTest, price: 500),
            for: bob)
        try await rollUp()
        #expect(
            try await points(.revenue, group: .store)
                == ["app_store EUR": [0, 3000, 0], "play_store EUR": [0, 12_000, 0]])
        #expect(try await points(.revenue, store: .appStore) == ["EUR": [0, 3000, 0]])
        #expect(try await points(.revenue, .sandbox, store: .playStore) == ["EUR": [0, 500, 0]])
        #expect(
            try await points(.units, group: .origin, store: .playStore)
                == ["google/Production": [0, 1, 0], "localPlay/Production": [0, 1, 0]])
        #expect(try await points(.units, group: .product, store: .playStore) == ["p": [0, 2, 0]])
    }

    @Test func `sales are summed by month, and sandbox is separate`() async throws {
        _ = try await redeem(
            claim("1", origin: .localProduction, bought: try moment("2026-09-30"), facts: Self.facts()),
            claim("2", origin: .localProduction, bought: try moment("2026-10-01"), facts: Self.facts()),
            claim("3", origin: .localSandbox, bought: try moment("2026-10-01"), facts: Self.facts()),
            for: alice)
        _ = try await redeem(
            claim(
                "4", origin: .localProduction, bought: try moment("2026-10-31"),
                facts: Self.facts(price: 990, storefront: "USA")),
            claim(
                "5", origin: .localProduction, bought: try moment("2026-11-01"),
                facts: Self.facts(price: nil)),
            for: bob)
        try await rollUp()
        #expect(try await points(.units) == ["": [1, 2, 1]])
        #expect(try await points(.units, .sandbox) == ["": [0, 1, 0]])
        #expect(try await points(.revenue) == ["EUR": [4_990, 5_980, 0]])
        #expect(
            try await points(.revenue, group: .storefront) == ["DEU EUR": [4_990, 4_990, 0], "USA EUR": [0, 990, 0]])
        #expect(try await points(.revenue, group: .product, product: "p") == ["p EUR": [4_990, 5_980, 0]])
        #expect(try await points(.revenue, group: .app) == ["com.example.app EUR": [4_990, 5_980, 0]])
        #expect(try await points(.withoutPrice) == ["": [0, 0, 1]])
        #expect(try await points(.newCustomers) == ["": [1, 1, 0]])
        #expect(
            try await points(.units, by: .day, from: "2026-09-29", to: "2026-10-02") == ["": [0, 1, 1, 0]])
        #expect(try await points(.units, by: .week, from: "2026-09-30", to: "2026-10-05") == ["": [2, 0]])
        #expect(try await points(.units, product: "q") == ["": [0, 0, 0]])
    }

    @Test func `a subscription is reported as of the end of each period`() async throws {
        _ = try await redeem(try subscribed("1", from: "2026-09-15", to: "2026-10-15"), for: alice)
        try await rollUp()
        #expect(try await points(.activeSubscriptions) == ["": [1, 0, 0]])
        // A notification reports a renewal.
        _ = try await notify("a", try subscribed("2", from: "2026-10-15", to: "2026-11-15"))
        try await rollUp()
        #expect(try await points(.activeSubscriptions) == ["": [1, 1, 1]])
        #expect(try await points(.monthlyRevenue) == ["EUR": [4_990, 4_990, 4_990]])
        #expect(try await points(.renewals) == ["": [0, 1, 0]])
        #expect(
            try await points(.activeSubscriptions, by: .day, from: "2026-09-14", to: "2026-09-16") == ["": [0, 1, 1]])
        // A refund revokes the renewal.
        _ = try await notify("b", try subscribed("2", from: "2026-10-15", to: "2026-11-15", revoked: "2026-10-20"))
        try await rollUp()
        #expect(try await points(.activeSubscriptions) == ["": [1, 0, 0]])
        #expect(try await points(.refundedRevenue) == ["EUR": [0, 4_990, 0]])
        #expect(try await points(.monthlyRevenueMovement) == ["EUR": [4_990, -4_990, 0]])
    }

    @Test func `a subscription that ends today is active until the day is over`() async throws {
        _ = try await redeem(try subscribed("1", from: "2026-10-10", to: "2026-11-10"), for: alice)
        try await rollUp()
        #expect(try await points(.activeSubscriptions) == ["": [0, 1, 1]])
        clock.advance(milliseconds: 86_400_000)
        #expect(try await points(.activeSubscriptions, to: "2026-11-11") == ["": [0, 1, 0]])
    }

    @Test func `a rate reports its numerator and denominator`() async throws {
        _ = try await redeem(try subscribed("1", from: "2026-09-15", to: "2026-10-15"), for: alice)
        try await rollUp()
        let query = try FigureQuery(
            .churn, by: .month, from: try #require(CalendarDay("2026-09-01")),
            to: try #require(CalendarDay("2026-10-31")))
        let points = try #require(try await figures.answer(query).series.first).points
        #expect(points.map(\.value) == [0, 1])
        #expect(points.map(\.denominator) == [0, 1])
    }

    @Test func `a cohort is kept by the months after its first payment`() async throws {
        for (identifier, user) in [("1", alice), ("2", bob)] {
            _ = try await redeem(
                claim(identifier, origin: .localProduction, bought: try moment("2026-09-10"), facts: Self.facts()),
                for: user)
        }
        _ = try await redeem(
            claim("3", origin: .localProduction, bought: try moment("2026-11-02"), facts: Self.facts()), for: bob)
        try await rollUp()
        // The points are those of September, October and November.
        let retention = try await points(.retention)
        #expect(retention == ["0": [2, 0, 0], "1": [0, 0, 0], "2": [1, 0, 0]])
        #expect(try await points(.retention, .sandbox) == [:])
        #expect(try await points(.revenuePerPayer) == ["EUR": [9_980, 0, 4_990]])
        #expect(try await points(.lifetimeValue) == ["EUR": [9_980, 9_980, 14_970]])
        // A purchase that becomes known later moves bob to another cohort.
        _ = try await redeem(
            claim("4", origin: .localProduction, bought: try moment("2026-08-10"), facts: Self.facts()), for: bob)
        try await rollUp()
        #expect(try await points(.retention, from: "2026-08-01")["0"] == [1, 1, 0, 0])
        #expect(try await points(.retention, from: "2026-08-01")["1"] == [1, 0, 0, 0])
        #expect(try await points(.retention, from: "2026-08-01")["3"] == [1, 0, 0, 0])
    }

    @Test func `a subscription keeps a customer in the cohort until its last month`() async throws {
        _ = try await redeem(
            try subscribed("1", from: "2026-08-15", to: "2027-08-15", price: 49_990), for: alice)
        try await rollUp()
        let retention = try await points(.retention, from: "2026-08-01")
        #expect(retention.mapValues { $0[0] } == ["0": 1, "1": 1, "2": 1, "3": 1])
        #expect(try await points(.annualRevenue, from: "2026-08-01") == ["EUR": [49_980, 49_980, 49_980, 49_980]])
    }

    @Test func `a comparison has the totals of a time, and the change of what is over`() async throws {
        for (number, day) in ["2026-09-05", "2026-10-05", "2026-10-06", "2026-11-05", "2026-11-10"].enumerated() {
            _ = try await redeem(
                claim("\(number)", origin: .localProduction, bought: try moment(day), facts: Self.facts()), for: alice)
        }
        try await rollUp()
        func comparison(_ interval: FigureInterval, from first: String) async throws -> FigureComparison {
            try await figures.comparison(
                try FigureQuery(
                    .revenue, by: interval, from: try #require(CalendarDay(first)),
                    to: try #require(CalendarDay("2026-11-10"))))
        }
        // The days of November up to the 9th, beside those of October.
        let month = try await comparison(.day, from: "2026-11-01")
        let total = try #require(month.totals.first)
        #expect(total.value.value == 9_980 && total.complete?.value == 4_990 && total.before?.value == 9_980)
        #expect(total.change == -50)
        #expect(month.compared?.before.lowerBound.description == "2026-10-01")
        #expect(month.compared?.before.upperBound.description == "2026-10-09")
        // October, beside August: the time of two months has two before it.
        let months = try await comparison(.month, from: "2026-10-01")
        #expect(months.totals.first?.complete?.value == 9_980 && months.totals.first?.before?.value == 0)
        #expect(months.totals.first?.change == nil)
        #expect(months.compared?.now.upperBound.description == "2026-10-31")
    }

    @Test func `a transfer and an erasure change no sum`() async throws {
        let bought = claim(
            "1", origin: .localProduction, bought: try moment("2026-10-01"), signedAt: try moment("2026-10-01"),
            facts: Self.facts())
        _ = try await redeem(bought, for: alice)
        try await rollUp()
        #expect(try await redeem(bought, for: bob, under: .transfer(pauseSeconds: 0)) == [.granted])
        try await rollUp()
        #expect(try await points(.revenue) == ["EUR": [0, 4_990, 0]])
        #expect(try await ledger.write { try $0.erase(bob, by: .user, at: Self.now) })
        try await rollUp()
        #expect(try await points(.revenue) == ["EUR": [0, 4_990, 0]])
        #expect(try await points(.newCustomers) == ["": [0, 1, 0]])
    }

    @Test func `rolling up twice, and by two processes, counts once`() async throws {
        for number in 1...40 {
            let user = try #require(User(name: "u\(number)"))
            _ = try await redeem(
                claim(
                    "\(number)", origin: .localProduction, bought: try moment("2026-10-01"),
                    facts: Self.facts()),
                for: user)
        }
        let other = try fixture.again().figures(clock: clock)
        async let first = figures.rollUp()
        async let second = other.rollUp()
        #expect(try await first + second == 0)
        try await rollUp()
        #expect(try await points(.units) == ["": [0, 40, 0]])
        // The sums that both services have read before are subtracted once.
        for number in 1...40 {
            let later = claim(
                "\(number + 100)", origin: .localProduction, bought: try moment("2026-11-02"), facts: Self.facts())
            _ = try await redeem(later, for: try #require(User(name: "u\(number)")))
        }
        async let third = figures.rollUp()
        async let fourth = other.rollUp()
        #expect(try await third + fourth == 0)
        try await rollUp()
        #expect(try await points(.units) == ["": [0, 40, 40]])
    }

    @Test func `a sweep finds the users of a ledger without figures`() async throws {
        let file = folder.file("before.sqlite")
        let unused: [LedgerFeature] = [.entitlements, .figures.used(if: false)]
        let before = try Ledger(file: file, features: unused)
        let bought = claim("1", origin: .localProduction, bought: try moment("2026-10-01"), facts: Self.facts())
        _ = try await before.write { try $0.redeem([bought], for: alice, at: Self.now) }
        let after = try Ledger(file: file, features: [.entitlements, .figures])
        let figures = after.figures(clock: clock)
        let query = try FigureQuery(
            .units, by: .month, from: try #require(CalendarDay("2026-10-01")),
            to: try #require(CalendarDay("2026-10-31")))
        #expect(try await !figures.answer(query).isBackfilled)
        try await figures.sweep()
        #expect(try await figures.answer(query).pendingUsers == 1)
        try await figures.rollUp()
        let answer = try await figures.answer(query)
        #expect((answer.isBackfilled, answer.pendingUsers) == (true, 0))
        #expect(answer.series.map { $0.points.map(\.value) } == [[1]])
        // The next sweep finds the writes of a process without figures.
        let later = claim("2", origin: .localProduction, bought: try moment("2026-10-02"))
        _ = try await before.write { try $0.redeem([later], for: alice, at: Self.now) }
        try await figures.sweep()
        try await figures.rollUp()
        #expect(try await figures.answer(query).series.map { $0.points.map(\.value) } == [[2]])
        #expect(try after.check().problems == [])
    }

    @Test(arguments: [
        ("UPDATE figure SET amount = amount + 1 WHERE metric = 'units'", "The figures of 2026-10"),
        ("DELETE FROM figure WHERE breakdown = 1", "The figures of 2026-10"),
        ("UPDATE figure_cohort SET users = 7", "The figures of 2026-10"),
        ("DELETE FROM figure_cohort", "The figures of 2026-10"),
        ("UPDATE redeemed_transaction SET quantity = 2", "The figures of user"),
        (
            "UPDATE figure_contribution SET sums = product FROM (SELECT digest AS product FROM audit) AS a",
            "are damaged"
        ),
    ])
    func `a check finds a wrong sum`(change: String, problem: String) async throws {
        _ = try await redeem(
            claim("1", origin: .localProduction, bought: try moment("2026-10-01"), facts: Self.facts()), for: alice)
        try await rollUp()
        try await ledger.write { try $0.database.write(change, []) }
        let problems = try fixture.problems()
        #expect(problems.contains { $0.contains(problem) }, "\(problems)")
    }

    @Test func `damaged figures of a user hold up nobody, and are computed anew`() async throws {
        let first = claim("1", origin: .localProduction, bought: try moment("2026-10-01"), facts: Self.facts())
        _ = try await redeem(first, for: alice)
        try await rollUp()
        try await ledger.write { transaction in
            let columns = "SELECT digest AS bytes FROM audit"
            try transaction.database.write("UPDATE figure_contribution SET sums = bytes FROM (\(columns)) AS a", [])
        }
        for (number, user) in [("2", alice), ("3", bob)] {
            let later = claim(
                number, origin: .localProduction, bought: try moment("2026-11-02"), facts: Self.facts())
            _ = try await redeem(later, for: user)
        }
        #expect(try await figures.rollUp() == 1)
        #expect(try await points(.units) == ["": [0, 1, 1]])
        // alice is missing among November's sums, and in the cohort of October a month later.
        #expect(
            try fixture.problems().map { $0.prefix(22) } == ["The figures of 2026-10", "The figures of 2026-11"])
        // Later claims are added to the figures.
        let last = claim("4", origin: .localProduction, bought: try moment("2026-11-03"), facts: Self.facts())
        _ = try await redeem(last, for: alice)
        #expect(try await figures.rollUp() == 0)
        #expect(try await points(.units) == ["": [0, 1, 2]])
        try await figures.rebuild()
        #expect(try fixture.problems() == [])
        #expect(try await points(.units) == ["": [0, 1, 3]])
    }

    @Test func `a check accepts pending sums`() async throws {
        _ = try await redeem(claim("1", facts: Self.facts()), for: alice)
        try await rollUp()
        _ = try await redeem(claim("2", facts: Self.facts()), for: alice)
        #expect(try fixture.problems() == [])
    }

    @Test func `an export contains the sums`() async throws {
        _ = try await redeem(
            claim("1", origin: .localProduction, bought: try moment("2026-10-01"), facts: Self.facts()), for: alice)
        try await rollUp()
        var text: Data? = Data()
        _ = try ledger.export { text?.append($0) }
        let copy = try fixture.another()
        _ = try copy.importLines { () throws(ImportError) -> Data? in
            defer { text = nil }
            return text
        }
        let query = try FigureQuery(
            .units, by: .month, from: try #require(CalendarDay("2026-10-01")),
            to: try #require(CalendarDay("2026-10-31")))
        let answer = try await copy.figures(clock: clock).answer(query)
        #expect(answer.series.map { $0.points.map(\.value) } == [[1]])
    }
}
