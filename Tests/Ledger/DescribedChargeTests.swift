import Catalog
import Entitlements
import Features
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The charges that customers tell of by a day with a product or an amount, and the customers who have them in either database.
@Suite struct DescribedChargeTests: LedgerSuite {
    let fixture: LedgerFixture
    private let service: EntitlementService

    /// 21 September 2026, 14:13 UTC.
    private static let day = CalendarDay(now)

    init() async throws {
        fixture = try LedgerFixture()
        service = try .ofGarden(over: fixture.ledger, clock: ManualClock(Self.now))
    }

    private func day(in text: String) -> String? {
        DescribedCharge(text, in: service.catalogs, at: Self.now)?.day.description
    }

    @Test(arguments: [
        ("2026-03-12 4.99", "2026-03-12"), ("12 March, 4.99", "2026-03-12"), ("12 march 4,99", "2026-03-12"),
        ("March 12, 2025, $4.99", "2025-03-12"), ("4.99 USD on 12th Mar", nil), ("4.99 USD 12th Mar", "2026-03-12"),
        ("2026.3.12. 9,900", "2026-03-12"), ("2026/03/12 garden.gate", "2026-03-12"),
        ("3월 12일 9900원", "2026-03-12"), ("2025년3월12일 ₩9,900", "2025-03-12"), ("gate 12 mar 2026", "2026-03-12"),
        // Without a year, it is the last such day.
        ("12 December 4.99", "2025-12-12"), ("21 Sep 4.99", "2026-09-21"), ("2026-03-12", nil), ("12 March", nil),
        ("4.99", nil), ("garden.gate", nil), ("2026-02-30 4.99", nil), ("31 April 4.99", nil), ("2026-13-01 4.99", nil),
        ("2026-03-12 nothing", nil), ("2026-03-12 4.9999.1", nil), ("2026-03-12 -5", nil), ("", nil), (" , . ; ", nil),
        ("2026-03-12 99999999999999999999", nil), ("2026-03-12 4.99 %", nil),
    ])
    func `a day with a product or an amount is read as people write it`(text: String, expected: String?) {
        #expect(day(in: text) == expected)
    }

    @Test func `a product with a number in its name is found with a day`() throws {
        let folder = try TemporaryFolder()
        for file in [Catalog.configurationFile, Catalog.itemsFile] {
            let text = try String(contentsOf: Project.products.appending(path: file), encoding: .utf8)
            try Data(text.replacing("Gold Sprout", with: "100 Coins").utf8).write(to: folder.file(file))
        }
        let catalogs = Apps(App(try Catalog(folder: folder.url))).catalogs
        func product(_ text: String) -> String? {
            let charge = DescribedCharge(text, in: catalogs, at: Self.now)
            return charge?.day.description == "2026-03-12" ? charge?.products.first : nil
        }
        for text in ["12 March 100 coins", "2026-03-12 100 Coins", "100 Coins, 12 March 2026", "12 March Coins 4.99"] {
            #expect(product(text) == "com.memolease.sesac1.sprout4", "\(text)")
        }
        #expect(product("12 March 200 Coins") == "com.memolease.sesac1.sprout4")
        #expect(product("12 March 100") == nil)
    }

    @Test func `a long text is no charge, however few characters it has`() {
        #expect(day(in: "12 March 4.99" + String(repeating: "\u{301}", count: 100_000)) == nil)
        #expect(day(in: String(repeating: "일", count: 100_000) + " 12 March 4.99") == nil)
    }

    private func buy(
        _ number: String, _ product: String, for user: User, after hours: Int64, price: Int64,
        of currency: String = "USD"
    ) async throws {
        let bought = Self.day.start.adding(seconds: hours * 3600)
        let claim = claim(
            number, product: product, bought: bought, item: nil, credit: Credit(balance: "seeds", amount: 1),
            facts: TransactionFacts([.price: .integer(price), .currency: .text(currency)]))
        #expect(try await redeem(claim, for: user, at: Self.later(10 * 86_400)) == [.granted])
    }

    private func found(_ text: String) async throws -> Set<String> {
        Set(try await service.users(searchedBy: text, limit: 99).users.map(\.user.name))
    }

    @Test func `customers are found by the day and the product or the price of a charge`() async throws {
        let carol = try #require(User(name: "carol"))
        try await buy("1", "garden.gate", for: alice, after: 0, price: 4990)
        // A customer's day begins and ends in another time zone.
        try await buy("2", "garden.gate", for: bob, after: -24, price: 9_900_000, of: "KRW")
        try await buy("3", "garden.seeds", for: carol, after: 47, price: 4990)
        try await buy("4", "garden.gate", for: carol, after: -25, price: 4990)
        try await buy("5", "garden.gate", for: carol, after: 48, price: 4990)
        #expect(try await found("\(Self.day) garden.gate") == ["alice", "bob"])
        #expect(try await found("\(Self.day), 4.99") == ["alice", "carol"])
        #expect(try await found("\(Self.day) ₩9,900") == ["bob"])
        #expect(try await found("\(Self.day) garden.gate 4.99") == ["alice"])
        #expect(try await found("\(Self.day.adding(days: 30)) garden.gate").isEmpty)
        #expect(try await found("\(Self.day) 4.98").isEmpty)
        #expect(try fixture.problems() == [])
    }

    @Test func `an unclaimed purchase is not found by its day, and a busy day has no more than fifty customers`()
        async throws
    {
        let parked = claim(
            "9", product: "garden.gate", bought: Self.now, item: nil,
            facts: TransactionFacts([.price: .integer(4990), .currency: .text("USD")]))
        _ = try await notify("1", parked)
        #expect(try await found("\(Self.day) 4.99").isEmpty)
        for number in 1...DescribedCharge.maximumCustomers + 5 {
            let user = try #require(User(name: "user\(number)"))
            try await buy("1\(number)", "garden.seeds", for: user, after: 1, price: 990)
        }
        #expect(try await found("\(Self.day) 0.99").count == DescribedCharge.maximumCustomers)
    }
}
