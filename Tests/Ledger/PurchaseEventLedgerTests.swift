import Entitlements
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// One period of a subscription under two transaction identifiers, in either database.
@Suite struct PurchaseEventLedgerTests: LedgerSuite {
    let fixture: LedgerFixture

    init() throws {
        fixture = try LedgerFixture()
    }

    private func claim(_ transaction: String, revoked: Int64? = nil, signed: Int64) -> Claim {
        let facts = TransactionFacts([
            .webOrderLineItemId: .text("190001007274949"), .price: .integer(4990), .currency: .text("USD"),
            .type: .text(ProductType.autoRenewableSubscription.rawValue), .signedDate: .integer(signed),
        ])
        return claim(
            transaction, original: "1", revoked: revoked.map { Self.later($0) }, signedAt: Self.later(signed),
            expiresAt: Self.later(1000), facts: facts)
    }

    /// The seats that a customer adds to a period may have the identifier of the period's event.
    @Test func `a purchase of seats is a purchase of its own, and takes nobody's place`() async throws {
        func period(_ transaction: String, bought: Int64, ends: Int64 = 1000, revoked: Int64? = nil) -> Claim {
            claim(
                transaction, original: "1", bought: Self.later(bought), revoked: revoked.map { Self.later($0) },
                signedAt: Self.later(revoked ?? bought), expiresAt: Self.later(ends),
                facts: TransactionFacts([
                    .webOrderLineItemId: .text("190001007274949"),
                    .type: .text(ProductType.autoRenewableSubscription.rawValue),
                    .additionalTransactionReason: .text("SEAT_ADDITION"),
                    .signedDate: .integer(revoked ?? bought),
                ]))
        }
        func items(after seconds: Int64) async throws -> [Item] {
            try await ledger.read { try $0.items(of: alice, at: Self.later(seconds)) }
        }
        #expect(
            try await redeem(period("1", bought: 0), period("2", bought: 500), for: alice) == [.granted, .granted])
        #expect(try await transactions().count == 2)
        #expect(try fixture.problems() == [])
        #expect(try await notify("a", period("2", bought: 500, revoked: 600)) == .revoked)
        #expect(try await items(after: 700) == [Self.sprout1])
        #expect(try fixture.problems() == [])
        #expect(try await redeem(period("3", bought: 1000, ends: 2000), for: alice, at: Self.later(1000)) == [.granted])
        #expect(try await notify("b", period("1", bought: 0, revoked: 1100)) == .revoked)
        #expect(try await items(after: 1200) == [Self.sprout1])
        #expect(try fixture.problems() == [])
    }

    private func transactions() async throws -> [RedeemedTransaction] {
        try await ledger.read { try $0.transactions(of: alice, before: nil, limit: 9) }
    }

    @Test(arguments: [["1", "2"], ["2", "1"]])
    func `the identifier that comes first stands in every list, and the other one changes it`(order: [String])
        async throws
    {
        let (first, second) = (order[0], order[1])
        #expect(try await redeem(claim(first, signed: 0), for: alice) == [.granted])
        #expect(try await notify("a", claim(second, signed: 5)) == .recorded)
        #expect(try await redeem(claim(second, signed: 6), for: alice) == [.alreadyRedeemed])
        #expect(try await redeem(claim(second, signed: 6), for: bob) == [.ownedByAnotherUser])
        // Figures, spent totals and customer info are sums over these.
        #expect(try await transactions().map(\.transactionIdentifier) == [first])
        // Webhooks are made from these.
        #expect(try await story(of: alice).filter { $0.contains("granted") }.count == 1)
        #expect(try await ledger.read { try $0.items(of: alice, at: Self.later(9)) } == [Self.sprout1])
        #expect(try await notify("b", claim(second, revoked: 7, signed: 7)) == .revoked)
        #expect(try await ledger.read { try $0.items(of: alice, at: Self.later(9)) } == [])
        let facts = try #require(try await transactions().first).facts
        #expect(facts.integer(.signedDate) == 7 && facts.integer(.price) == 4990)
        #expect(try fixture.problems() == [])
    }

    @Test func `both identifiers in one proof are one period`() async throws {
        #expect(
            try await redeem(claim("1", signed: 0), claim("2", signed: 0), for: alice) == [.granted, .alreadyRedeemed])
        #expect(try await transactions().count == 1)
    }

    @Test func `statements that waited under both identifiers are of one period`() async throws {
        #expect(try await notify("a", claim("1", signed: 1)) == .parked)
        #expect(try await notify("b", claim("2", revoked: 2, signed: 2)) == .parked)
        #expect(try await redeem(claim("1", signed: 0), for: alice) == [.granted])
        #expect(try await transactions().count == 1)
        #expect(try await ledger.read { try $0.items(of: alice, at: Self.later(9)) } == [])
        #expect(try await ledger.read { try $0.unclaimedPurchases(ofTransaction: nil, after: nil, limit: 9) }.isEmpty)
        #expect(try fixture.problems() == [])
    }

    @Test(arguments: [-7200, -30] as [Int64])
    func `a renewal that is known before its period, and alone, has the rows that the check expects`(signed: Int64)
        async throws
    {
        let renewal = claim(
            "2", original: "1", bought: Self.later(0), signedAt: Self.later(signed), expiresAt: Self.later(1000),
            facts: TransactionFacts([
                .type: .text(ProductType.autoRenewableSubscription.rawValue),
                .signedDate: .integer(Self.later(signed).millisecondsSince1970),
            ]))
        #expect(try await redeem(renewal, for: alice, at: Self.later(signed)) == [.granted])
        #expect(try await ledger.read { try $0.items(of: alice, at: Self.later(signed)) } == [Self.sprout1])
        #expect(try fixture.problems() == [])
    }
}
