import Catalog
import Entitlements
import Features
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The queries about single customers and the customers of a product, in either database.
@Suite struct CustomerLedgerTests: LedgerSuite {
    let fixture: LedgerFixture

    init() throws {
        fixture = try LedgerFixture()
    }

    private func page(
        of product: String = "p", after position: CustomerPosition? = nil, limit: Int = 10
    ) async throws -> (customers: [KnownUser], next: CustomerPosition?) {
        let query = CustomerQuery(.product, in: .sandbox, product: product, at: Self.now)
        return try await ledger.read { try $0.customers(query, after: position, limit: limit) }
    }

    private func count(of product: String) async throws -> Int {
        let query = CustomerQuery(.product, in: .sandbox, product: product, at: Self.now)
        return try await ledger.read { try $0.count(of: query) }
    }

    @Test func `a product's customers are listed by their latest redemption, each once`() async throws {
        let carol = try #require(User(name: "carol"))
        for (number, user) in [alice, bob, alice, carol, alice].enumerated() {
            let moment = Self.later(Int64(number))
            #expect(try await redeem(claim("\(number)"), for: user, at: moment) == [.granted])
        }
        // Two transactions of one moment, as in a receipt.
        #expect(
            try await redeem(claim("8"), claim("9", original: "8"), for: bob, at: Self.later(9)) == [
                .granted, .granted,
            ])
        let all = try await page()
        #expect(all.customers.map(\.user) == [bob, alice, carol] && all.next == nil)
        #expect(try await count(of: "p") == 3)
        let first = try await page(limit: 1)
        #expect(first.customers.map(\.user) == [bob])
        let position = try #require(first.next.flatMap { CustomerPosition($0.description) })
        #expect(position.description == first.next?.description)
        let second = try await page(after: position, limit: 1)
        #expect(second.customers.map(\.user) == [alice])
        #expect(try await page(after: second.next, limit: 9).customers.map(\.user) == [carol])
        #expect(try await ledger.write { try $0.erase(bob, by: .till, at: Self.later(10)) })
        #expect(try await page().customers.map(\.user) == [alice, carol])
        let others = try await page(of: "q")
        #expect(others.customers.isEmpty && others.next == nil)
        #expect(try await count(of: "q") == 0)
    }

    @Test func `a page of a product's customers reads a limited number of transactions`() async throws {
        #expect(try await redeem(claim("b"), for: bob, at: Self.now) == [.granted])
        let claims = (0..<700).map { claim("\($0)", original: "0") }
        _ = try await ledger.write { try $0.redeem(claims, for: alice, at: Self.later(1)) }
        let first = try await page()
        #expect(first.customers.map(\.user) == [alice] && first.next != nil)
        let second = try await page(after: first.next)
        #expect(second.customers.map(\.user) == [bob] && second.next == nil)
    }

    @Test func `a transaction is returned with its proof, its items and its credit`() async throws {
        let coins = Credit(balance: "coins", amount: 10)
        _ = try await redeem(claim("1"), claim("2", item: nil, credit: coins), for: alice)
        _ = try await redeem(claim("3"), for: bob)
        func recorded(_ identifier: String, _ user: User) async throws -> [RecordedTransaction] {
            try await ledger.read { try $0.recordedTransactions(identifier, of: user) }
        }
        let first = try #require(try await recorded("1", alice).first)
        #expect(first.items == [Self.sprout1] && first.credit == nil && !first.isProofKept)
        #expect(first.proofDigest == [UInt8](repeating: 7, count: 32) && first.statedAt == Self.now)
        #expect(first.transaction.transactionIdentifier == "1")
        let second = try #require(try await recorded("2", alice).first)
        #expect(second.items.isEmpty && second.credit == coins)
        #expect(try await recorded("3", alice).isEmpty)
        #expect(try await recorded("1", try #require(User(name: "z"))).isEmpty)
        let some = try await ledger.read { try $0.transactions(of: alice, identifiedBy: ["2", "1", "1", "3"]) }
        #expect(Set(some.map(\.transactionIdentifier)) == ["1", "2"])
        #expect(try await ledger.read { try $0.transactions(of: alice, identifiedBy: []) }.isEmpty)
    }

    @Test func `a notification is returned to the customer whose purchase it is about`() async throws {
        _ = try await redeem(claim("1"), for: alice)
        _ = try await redeem(claim("2"), for: bob)
        #expect(try await notify("n", claim("1", revoked: Self.now, signedAt: Self.later(1))) == .revoked)
        func recorded(_ origin: Origin, _ user: User) async throws -> StatedNotification? {
            try await ledger.read { try $0.recordedNotification("n", from: origin, of: user) }
        }
        let found = try #require(try await recorded(.localSandbox, alice))
        #expect(found.notificationUUID == "n" && found.outcome == .revoked)
        #expect(found.proofDigest.count == 32)
        #expect(try await recorded(.localSandbox, bob) == nil)
        #expect(try await recorded(.xcode, alice) == nil)
    }

    @Test func `an audit record is returned with its place in the chain`() async throws {
        _ = try await redeem(claim("1"), for: alice)
        _ = try await redeem(claim("2"), for: alice)
        _ = try await redeem(claim("1"), for: bob)
        let records = try await ledger.read { try $0.audit(of: alice) }
        func event(_ number: Int64, _ user: User) async throws -> RecordedEvent? {
            try await ledger.read { try $0.recordedEvent(number, of: user) }
        }
        let first = try #require(try await event(1, alice))
        #expect(first.previousDigest == [UInt8](repeating: 0, count: 32) && first.isIntact)
        let second = try #require(try await event(2, alice))
        #expect(second.record == records[1] && second.previousDigest == records[0].digest && second.isIntact)
        for number in [Int64.min, -1, 0, 3, .max] { #expect(try await event(number, alice) == nil) }
        let refusal = try #require(try await event(1, bob))
        #expect(refusal.record.entry.event == .refused && refusal.otherOwner == alice)
    }

    @Test func `the ended messages about a user are replayed, the latest first`() async throws {
        for name in ["a", "b"] {
            let endpoint = WebhookEndpoint(
                identifier: name, url: "https://example.com", createdAt: Self.now, createdBy: "K",
                secret: [UInt8](repeating: 1, count: 32))
            #expect(try await ledger.write { try $0.add(endpoint, upTo: 9) })
        }
        for number in 1...3 { _ = try await redeem(claim("\(number)"), for: alice) }
        _ = try await redeem(claim("4"), for: bob)
        for name in ["a", "b"] {
            let service = try ledger.webhooks(
                of: Apps(App(try Catalog(folder: Project.products))), clock: ManualClock(Self.now))
            let due = try await service.due(for: try await service.endpoint(name), limit: 9) ?? []
            let leased = try await service.lease(due)
            try await service.record(leased.map { service.result(of: $0, .answered(status: 200)) })
        }
        func pending(_ endpoint: String) async throws -> [String] {
            try await ledger.read {
                try $0.webhookDeliveries(to: endpoint, in: .pending, before: nil, limit: 9)
            }.map { "\($0.name) \($0.number) \($0.attempts)" }.sorted()
        }
        #expect(try await ledger.write { try $0.replayWebhooks(about: alice, to: "a", limit: 2) } == 2)
        #expect(try await pending("a") == ["alice 2 0", "alice 3 0"])
        #expect(try await pending("b").isEmpty)
        #expect(try await ledger.write { try $0.replayWebhooks(about: alice, to: "a", limit: 9) } == 1)
        #expect(try await ledger.write { try $0.replayWebhooks(about: alice, to: "a", limit: 9) } == 0)
        let stranger = try #require(User(name: "z"))
        #expect(try await ledger.write { try $0.replayWebhooks(about: stranger, to: "a", limit: 9) } == 0)
    }
}
