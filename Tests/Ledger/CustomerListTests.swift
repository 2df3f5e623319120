import Entitlements
import Features
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The lists of customers, in either database.
@Suite struct CustomerListTests: LedgerSuite {
    let fixture: LedgerFixture

    init() throws {
        fixture = try LedgerFixture()
    }

    /// The names of all customers of a list, read in pages.
    private func names(
        _ selection: CustomerSelection, in environment: FigureQuery.Environment = .sandbox, currency: String? = nil,
        at moment: Timestamp = now, limit: Int = 9
    ) async throws -> [String] {
        let query = CustomerQuery(selection, in: environment, currency: currency, at: moment)
        var (names, last, isLast): ([String], CustomerPosition?, Bool) = ([], nil, false)
        while !isLast {
            let start = last
            let page = try await ledger.read { try $0.customers(query, after: start, limit: limit) }
            #expect(page.customers.count <= limit)
            names += page.customers.map(\.user.name)
            // A cursor has the position as text.
            last = page.next.flatMap { CustomerPosition($0.description) }
            isLast = page.next == nil
        }
        #expect(try await ledger.read { try $0.count(of: query) } == names.count)
        return names
    }

    /// Runs the job that writes the sums.
    private func rollUp() async throws {
        try await ledger.figures(clock: ManualClock(Self.now)).rollUp()
        #expect(try fixture.problems() == [])
    }

    private func buy(
        _ transaction: String, for user: User, origin: Origin = .localSandbox, price: Int64, currency: String = "USD",
        at moment: Timestamp
    ) async throws {
        let facts = TransactionFacts([
            .type: .text(ProductType.consumable.rawValue), .price: .integer(price), .currency: .text(currency),
        ])
        _ = try await redeem(claim(transaction, origin: origin, bought: moment, facts: facts), for: user)
    }

    private func subscribe(
        _ user: User, _ transaction: String, retried: Bool = false, price: Int64 = 9990, at moment: Timestamp
    ) async throws {
        let facts = TransactionFacts([
            .type: .text(ProductType.autoRenewableSubscription.rawValue), .price: .integer(price),
            .currency: .text("USD"),
        ])
        let renewal = StatedRenewal(
            statedAt: Self.now, proofDigest: [UInt8](repeating: 7, count: 32),
            facts: RenewalFacts([.autoRenewStatus: .integer(1), .isInBillingRetryPeriod: .integer(retried ? 1 : 0)]))
        _ = try await redeem(
            claim(transaction, expiresAt: Self.later(100), facts: facts, renewal: renewal), for: user,
            at: moment)
    }

    @Test(arguments: [1, 2, 9]) func `customers are sorted by name, by their last purchase, and by what they have paid`(
        limit: Int
    ) async throws {
        let carol = try #require(User(name: "carol"))
        try await buy("1", for: alice, price: 9000, at: Self.later(10))
        try await buy("2", for: alice, price: 9000, at: Self.later(20))
        try await buy("3", for: bob, price: 15_000, at: Self.later(40))
        try await buy("4", for: carol, price: 30_000, currency: "KRW", at: Self.later(30))
        try await buy("5", for: carol, origin: .localProduction, price: 1000, at: Self.later(50))
        #expect(try await names(.lastPurchase, limit: limit) == [])
        try await rollUp()
        #expect(try await names(.all, limit: limit) == ["alice", "bob", "carol"])
        #expect(try await names(.lastPurchase, limit: limit) == ["bob", "carol", "alice"])
        #expect(try await names(.lastPurchase, in: .production, limit: limit) == ["carol"])
        #expect(try await names(.spent, currency: "USD", limit: limit) == ["alice", "bob"])
        #expect(try await names(.spent, currency: "KRW", limit: limit) == ["carol"])
        #expect(try await ledger.read { try $0.spentCurrencies(in: .sandbox) } == ["USD", "KRW"])
        #expect(try await ledger.read { try $0.spentCurrencies(in: .production) } == ["USD"])
        try await buy("6", for: bob, price: 15_000, at: Self.later(15))
        try await rollUp()
        #expect(try await names(.spent, currency: "USD", limit: limit) == ["bob", "alice"])
        #expect(try await names(.lastPurchase, limit: limit) == ["bob", "carol", "alice"])
    }

    @Test func `an erased or merged customer leaves the lists, and stays away`() async throws {
        let ghost = try #require(CustomerIdentifier("$RCAnonymousID:" + String(repeating: "1", count: 32))).user
        let mint = try #require(CustomerIdentifier("Mint Sprout")).user
        try await buy("1", for: alice, price: 9000, at: Self.later(10))
        try await buy("2", for: ghost, price: 8000, at: Self.later(20))
        try await buy("3", for: mint, price: 500, at: Self.later(30))
        try await rollUp()
        #expect(try await names(.spent, currency: "USD") == ["alice", ghost.name, mint.name])
        _ = try await ledger.write { [alice] in try $0.erase(alice, by: .user, at: Self.later(40)) }
        _ = try await ledger.write { try $0.logIn(ghost, as: mint, by: .user, at: Self.later(40)) }
        for _ in 1...2 {
            for selection in [CustomerSelection.all, .newest, .lastPurchase, .spent] {
                #expect(try await names(selection, currency: "USD") == [mint.name])
            }
            try await rollUp()
        }
        let paid = try await ledger.read { transaction in
            try transaction.listed([mint].compactMap { try transaction.customer($0) }, in: .sandbox)
        }
        #expect(paid.map { $0.spent.map(\.milliunits) } == [[8500]])
    }

    @Test(.enabled(if: LedgerFixture.isFile)) func `a check finds wrong sums of a customer`() async throws {
        try await buy("1", for: alice, price: 9000, at: Self.later(10))
        try await rollUp()
        for change in ["UPDATE customer_spending SET amount = 1", "DELETE FROM customer_activity"] {
            try await ledger.write { try $0.database.write(change, []) }
            #expect(try fixture.problems().contains { $0.hasPrefix("The sums of customer ") })
            try await ledger.figures(clock: ManualClock(Self.now)).rebuild()
            #expect(try fixture.problems() == [])
        }
    }

    @Test(arguments: [1, 2, 9]) func `the newest customers come first, in pages`(limit: Int) async throws {
        let users = try ["c", "a", "b"].map { try #require(User(name: $0)) }
        for (seconds, user) in zip([10, 20, 20] as [Int64], users) {
            _ = try await ledger.write { try $0.users.insert([user], at: Self.later(seconds)) }
        }
        let names = try await self.names(.newest, limit: limit)
        #expect(Set(names.prefix(2)) == ["a", "b"] && names.dropFirst(2) == ["c"])
        _ = try await ledger.write { try $0.erase(users[0], by: .user, at: Self.later(30)) }
        #expect(try await Set(self.names(.newest, limit: limit)) == ["a", "b"])
    }

    @Test func `customers in billing retry, and those whose subscription has ended this month, have lists`()
        async throws
    {
        try await subscribe(alice, "1", at: Self.now)
        try await subscribe(bob, "2", retried: true, at: Self.now)
        _ = try await redeem(claim("3"), for: #require(User(name: "carol")))
        // An end that time alone has brought is told after an hour.
        let view = Viewpoint(accepting: AcceptedOrigins([.localSandbox]), at: Self.later(4000)) { _ in
            .autoRenewableSubscription
        }
        _ = try await ledger.write { try $0.recordDueStates(from: view, limit: 9) }
        for limit in [1, 9] {
            #expect(try await names(.notPaid, limit: limit) == [bob.name])
            let ended = try await names(.ended, at: Self.later(5000), limit: limit)
            #expect(ended == [alice.name])
        }
        #expect(try await names(.ended, at: Self.now.adding(days: 32)) == [])
    }

    @Test func `a list has the sum, the last purchase and the state of each customer`() async throws {
        try await subscribe(alice, "2", at: Self.later(50))
        try await subscribe(alice, "1", retried: true, price: 4990, at: Self.later(200))
        try await subscribe(bob, "3", at: Self.later(50))
        let carol = try #require(User(name: "carol"))
        _ = try await ledger.write { try $0.users.insert([carol], at: Self.now) }
        try await rollUp()
        let rows = try await ledger.read { transaction in
            let users = try [alice, bob, carol].compactMap { try transaction.customer($0) }
            return try transaction.listed(users, in: .sandbox)
        }
        #expect(rows.map(\.known.user) == [alice, bob, carol])
        #expect(rows.map { $0.spent.map(\.milliunits) } == [[14_980], [9990], []])
        #expect(rows.map(\.state) == [.billingRetry, .active, nil])
        #expect(rows.map(\.lastPurchase) == [Self.now, Self.now, nil])
        let lines = rows.csv.components(separatedBy: "\r\n")
        #expect(lines[0] == "name,issuer,first_seen_at,state,last_purchase_at,currency,spent")
        #expect(lines.count == 5)
        #expect(lines[1].hasSuffix(",USD,14.98") && lines[3].hasPrefix("carol,"))
        let others = try await ledger.read { transaction in
            try transaction.listed([alice].compactMap { try transaction.customer($0) }, in: .production)
        }
        #expect(others.map(\.spent) == [[]] && others.map(\.state) == [nil])
    }
}
