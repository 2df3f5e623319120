import Entitlements
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The transactions of a restored purchase, which is one purchase with several transaction identifiers.
@Suite struct RestoredPurchaseTests: LedgerSuite {
    let fixture: LedgerFixture

    init() throws {
        fixture = try LedgerFixture()
    }

    /// One of the transactions of the purchase "1".
    private func claim(
        _ transaction: String,
        signedAfter seconds: Int64 = 0,
        isRevoked: Bool = false,
        repeatsOriginal: Bool = true
    ) -> Claim {
        let signedAt = Self.later(seconds)
        return claim(
            transaction, original: "1", revoked: isRevoked ? signedAt : nil, repeatsOriginal: repeatsOriginal,
            signedAt: signedAt)
    }

    private func redeem(_ claims: Claim...) async throws -> [Redemption.Result] {
        try await ledger.write { try $0.redeem(claims, for: alice, at: Self.now) }.results
    }

    private func notify(_ claim: Claim) async throws -> NotificationOutcome {
        try await notify(UUID().uuidString, claim)
    }

    private func items() async throws -> [Item] { try await ledger.read { try $0.items(of: alice, at: Self.now) } }

    @Test func `a refund revokes the restored transactions, too`() async throws {
        #expect(try await redeem(claim("1"), claim("2")) == [.granted, .granted])
        #expect(try await notify(claim("1", signedAfter: 10, isRevoked: true)) == .revoked)
        #expect(try await items() == [])
        // An older proof of another restore grants nothing. The reversal grants all transactions again.
        #expect(try await redeem(claim("3", signedAfter: 5)) == [.revoked])
        #expect(try await items() == [])
        #expect(try await notify(claim("1", signedAfter: 20)) == .granted)
        #expect(try await items() == [Self.sprout1])
        #expect(
            try await ledger.read { try $0.transactions(of: alice, before: nil, limit: 9) }.allSatisfy {
                $0.revocationDate == nil
            })
    }

    @Test func `a refund revokes a restored transaction whose original was never redeemed`() async throws {
        #expect(try await redeem(claim("2")) == [.granted])
        #expect(try await notify(claim("1", signedAfter: 10, isRevoked: true)) == .revoked)
        #expect(try await items() == [])
        #expect(try await notify(claim("1", signedAfter: 20)) == .granted)
        #expect(try await items() == [Self.sprout1])
    }

    @Test func `a refund that precedes all claims revokes a later restore`() async throws {
        #expect(try await notify(claim("1", signedAfter: 10, isRevoked: true)) == .parked)
        #expect(try await redeem(claim("2")) == [.revoked])
        #expect(try await items() == [])
        // The refund also revokes the original transaction.
        #expect(try await redeem(claim("1")) == [.revoked])
        #expect(try await redeem(claim("2", signedAfter: 20)) == [.granted])
        #expect(try await items() == [Self.sprout1])
    }

    @Test func `a transaction that does not repeat its original is revoked alone`() async throws {
        #expect(
            try await redeem(claim("1", repeatsOriginal: false), claim("2", repeatsOriginal: false)) == [
                .granted, .granted,
            ])
        #expect(try await notify(claim("1", signedAfter: 10, isRevoked: true, repeatsOriginal: false)) == .revoked)
        #expect(try await items() == [Self.sprout1])
        #expect(try await notify(claim("2", signedAfter: 10, isRevoked: true, repeatsOriginal: false)) == .revoked)
        #expect(try await items() == [])
    }

    @Test func `a revocation by the team stays until the team reinstates the purchase`() async throws {
        #expect(try await redeem(claim("1")) == [.granted])
        func change(_ change: PurchaseChange) async throws -> RedeemedTransaction? {
            try await ledger.write {
                try $0.change(change, ofTransaction: "1", origin: nil, of: alice, by: "key", at: Self.now)
            }.first
        }
        #expect(try await change(.revoke(reason: "why"))?.revocation?.reason == "why")
        #expect(try await change(.revoke(reason: "another"))?.revocation?.reason == "why")
        #expect(try await redeem(claim("1", signedAfter: 1), claim("2", signedAfter: 2)) == [.revoked, .revoked])
        #expect(try await notify(claim("1", signedAfter: 3)) == .recorded)
        #expect(try await items() == [])
        #expect(try await change(.reinstate())?.revocation == nil)
        #expect(try await items() == [Self.sprout1])
        let another = Revocation(revokedAt: Self.now, reason: "another", revokedBy: "key")
        #expect(try await change(.revoke(reason: "another"))?.revocation == another)
        #expect(try await items() == [])
    }
}
