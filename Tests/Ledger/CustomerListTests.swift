import Features
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing

/// The lists of customers, in either database.
@Suite struct CustomerListTests: LedgerSuite {
    let fixture: LedgerFixture

    init() throws {
        fixture = try LedgerFixture()
    }

    private func names(
        _ selection: CustomerSelection, at moment: Timestamp = now, limit: Int = 9
    ) async throws -> [String] {
        var (names, last, isLast): ([String], RecordPosition?, Bool) = ([], nil, false)
        while !isLast {
            let start = last
            let page = try await ledger.read {
                try $0.customers(selection, from: [.localSandbox, .xcode], at: moment, after: start, limit: limit)
            }
            #expect(page.customers.count <= limit)
            names += page.customers.map(\.user.name)
            (last, isLast) = (page.next, page.next == nil)
        }
        return names
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
        let rows = try await ledger.read { transaction in
            let users = try [alice, bob, carol].compactMap { try transaction.customer($0) }
            return try transaction.listed(users, inSandbox: true)
        }
        #expect(rows.map(\.known.user) == [alice, bob, carol])
        #expect(rows.map { $0.spent.map(\.milliunits) } == [[14_980], [9990], []])
        #expect(rows.map(\.state) == [.billingRetry, .active, nil])
        #expect(rows.map(\.lastPurchase) == [Self.now, Self.now, nil])
        let lines = rows.csv.components(separatedBy: "\r\n")
        #expect(lines[0] == "name,issuer,first_seen_at,state,last_purchase_at,currency,spent,is_complete")
        #expect(lines.count == 5)
        #expect(lines[1].hasSuffix(",USD,14.98,true") && lines[3].hasPrefix("carol,"))
        let others = try await ledger.read { transaction in
            try transaction.listed([alice].compactMap { try transaction.customer($0) }, inSandbox: false)
        }
        #expect(others.map(\.spent) == [[]] && others.map(\.state) == [nil])
    }
}
