import Entitlements
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The import of another server's customers, in either database.
@Suite struct ImportLedgerTests: LedgerSuite {
    let fixture: LedgerFixture
    private let mint: User
    private let ghost: User

    init() throws {
        fixture = try LedgerFixture()
        mint = try #require(CustomerIdentifier("mint")).user
        ghost = try #require(CustomerIdentifier("$RCAnonymousID:" + String(repeating: "0", count: 32))).user
    }

    private static let gate = Item(collection: "gate", number: 1)

    private typealias Customer = (
        user: User, aliases: [User], grants: [PromisedItem], purchases: [ExpectedPurchase]
    )

    private func customer(
        _ user: User,
        aliases: [User] = [],
        promotions: [String] = [],
        purchases: [String] = [],
        of product: String = "p",
        at purchaseDate: Timestamp = Self.now,
        until end: Timestamp? = nil
    ) -> Customer {
        (
            user, aliases,
            promotions.map {
                PromisedItem(identifier: $0, item: Self.gate, reason: "a promotion", endsAt: Self.later(1000))
            },
            purchases.map {
                ExpectedPurchase(
                    app: "com.example.app", origin: .localSandbox, originalTransactionIdentifier: $0,
                    productIdentifier: product, purchaseDate: purchaseDate, expiresAt: end)
            }
        )
    }

    private func add(_ customer: Customer, to ledger: Ledger? = nil) async throws -> CustomerImport {
        try await (ledger ?? self.ledger).write {
            try $0.add(
                imported: customer.user, aliases: customer.aliases, grants: customer.grants,
                purchases: customer.purchases, by: "process", at: Self.now)
        }
    }

    private func items(of user: User) async throws -> [Item] {
        try await ledger.read { try $0.items(of: user, at: Self.now) }
    }

    private func expectedTransactions() async throws -> [String] {
        try await ledger.read { try $0.expectedCustomers(after: "", of: [.localSandbox], limit: 99) }
            .map(\.transactionIdentifier)
    }

    private func export() throws -> Data {
        var text = Data()
        _ = try ledger.export { text.append($0) }
        return text
    }

    @Test func `a second import changes nothing`() async throws {
        let imported = customer(mint, aliases: [ghost], promotions: ["g"], purchases: ["1", "2"])
        let first = try await add(imported)
        #expect(first.newCustomers == 1 && first.aliases == 1 && first.newGrants == 1 && first.expectedPurchases == 2)
        let before = try export()
        let second = try await add(imported)
        #expect(second.newCustomers == 0 && second.aliases == 1 && second.newGrants == 0 && second.knownGrants == 1)
        #expect(second.expectedPurchases == 2)
        #expect(try await ledger.read { try $0.expectedPurchaseCount(upTo: 9) } == 2)
        #expect(try await ledger.read { try $0.expectedPurchaseCount(upTo: 1) } == 1)
        #expect(try export() == before)
        #expect(try await items(of: ghost) == [Self.gate])
        #expect(try await story(of: mint).suffix(1) == ["key process itemGiven g gate 1 a promotion"])
        #expect(try fixture.problems() == [])
    }

    @Test func `an expected purchase keeps the newest transaction that an import states`() async throws {
        let renewed = customer(mint, purchases: ["1"], of: "q", at: Self.later(50), until: Self.later(100))
        for imported in [customer(mint, purchases: ["1"], until: Self.later(50)), renewed] {
            _ = try await add(imported)
            #expect(try await ledger.read { try $0.expectedPurchases(of: mint) } == imported.purchases)
        }
        // An older file, and a file that gives the purchase to another customer.
        _ = try await add(customer(mint, purchases: ["1"], of: "r"))
        _ = try await add(customer(ghost, purchases: ["1"], of: "r", at: Self.later(99)))
        #expect(try await ledger.read { try $0.expectedPurchases(of: mint) } == renewed.purchases)
    }

    @Test func `an expected purchase grants nothing before its proof`() async throws {
        _ = try await add(customer(mint, purchases: ["1", "2", "3"]))
        #expect(try await items(of: mint) == [])
        #expect(try await expectedTransactions() == ["1", "2", "3"])
        let expected = try await ledger.read { try $0.expectedPurchases(of: mint) }
        #expect(expected == customer(mint, purchases: ["1", "2", "3"]).purchases)
        // Her own proof, a notification, and the proof of another user.
        #expect(try await redeem(claim("1"), for: mint) == [.granted])
        #expect(try await items(of: mint) == [Self.sprout1])
        #expect(try await notify("n", claim("2")) == .granted)
        #expect(try await redeem(claim("3"), for: bob) == [.ownedByAnotherUser])
        let transactions = try await ledger.read { try $0.transactions(of: mint, before: nil, limit: 9) }
        #expect(transactions.map(\.transactionIdentifier) == ["3", "2", "1"])
        #expect(try await expectedTransactions() == [])
        let again = try await add(customer(mint, purchases: ["1", "2", "3"]))
        #expect(again.confirmedPurchases == 3 && again.expectedPurchases == 0)
        #expect(try fixture.problems() == [])
    }

    @Test func `the policy decides about an expected purchase that another user presents`() async throws {
        _ = try await add(customer(mint, purchases: ["1"]))
        #expect(try await redeem(claim("1"), for: bob, under: .transfer(pauseSeconds: 9)) == [.granted])
        #expect(try await items(of: bob) == [Self.sprout1])
        #expect(try await items(of: mint) == [])
        #expect(try await story(of: mint) == ["App Store granted 1 p", "user transferredOut 1 p"])
        #expect(try fixture.problems() == [])
    }

    @Test func `an import takes no purchase, expectation or id from another customer`() async throws {
        #expect(try await redeem(claim("1"), for: bob) == [.granted])
        let rose = try #require(CustomerIdentifier("rose")).user
        _ = try await add(customer(rose, purchases: ["2"]))
        let counts = try await add(customer(mint, aliases: [rose], purchases: ["1", "2"]))
        #expect(counts.otherPurchases == 2 && counts.expectedPurchases == 0)
        #expect(counts.otherAliases == 1 && counts.aliases == 0)
        #expect(try await redeem(claim("1"), for: mint) == [.ownedByAnotherUser])
        #expect(try await notify("n", claim("2")) == .granted)
        #expect(try await items(of: rose) == [Self.sprout1])
        #expect(try fixture.problems() == [])
    }

    @Test func `a known id that nobody uses becomes an alias`() async throws {
        let mail = try #require(CustomerIdentifier("mint@example.com")).user
        #expect(try await add(customer(mint, aliases: [mail], purchases: ["1"])).aliases == 1)
        #expect(try await redeem(claim("1"), for: mail) == [.granted])
        #expect(try await items(of: mint) == [Self.sprout1])
        #expect(try await ledger.read { try $0.aliases(of: mint) } == [mail])
    }

    @Test func `a log-in moves the expected purchases of an anonymous customer`() async throws {
        _ = try await add(customer(ghost, purchases: ["1"]))
        #expect(try await redeem(claim("9"), for: mint) == [.granted])
        _ = try await ledger.write { try $0.logIn(ghost, as: mint, by: .user, at: Self.now) }
        #expect(try await notify("n", claim("1")) == .granted)
        let transactions = try await ledger.read { try $0.transactions(of: mint, before: nil, limit: 9) }
        #expect(transactions.map(\.transactionIdentifier) == ["1", "9"])
        #expect(try fixture.problems() == [])
    }

    @Test func `erasure deletes the expected purchases`() async throws {
        _ = try await add(customer(mint, purchases: ["1"]))
        #expect(try await ledger.write { try $0.erase(mint, by: .user, at: Self.now) })
        #expect(try await expectedTransactions() == [])
        #expect(try await notify("n", claim("1")) == .parked)
        #expect(try fixture.problems() == [])
    }

    @Test func `an exported ledger keeps its expected purchases`() async throws {
        _ = try await add(customer(mint, purchases: ["1"]))
        var rest: Data? = try export()
        let copy = try fixture.another()
        _ = try copy.importLines { () throws(ImportError) -> Data? in
            defer { rest = nil }
            return rest
        }
        _ = try await copy.write { try $0.redeem([claim("1")], for: bob, at: Self.now) }
        #expect(try await copy.read { try $0.items(of: mint, at: Self.now) } == [Self.sprout1])
    }

    @Test func `imports and redemptions of two services at the same time double nothing`() async throws {
        let other = try fixture.again()
        let numbers = (1...8).map(String.init)
        try await withThrowingTaskGroup(of: Void.self) { [ledger, mint, bob] group in
            for number in numbers {
                let (imported, presented) = (customer(mint, purchases: [number]), claim(number))
                group.addTask { _ = try await add(imported, to: ledger) }
                group.addTask { _ = try await other.write { try $0.redeem([presented], for: bob, at: Self.now) } }
            }
            try await group.waitForAll()
        }
        var transactions: [String] = []
        for user in [mint, bob] {
            transactions += try await ledger.read { try $0.transactions(of: user, before: nil, limit: 99) }
                .map(\.transactionIdentifier)
        }
        #expect(transactions.sorted() == numbers)
        #expect(try fixture.problems() == [])
    }
}
