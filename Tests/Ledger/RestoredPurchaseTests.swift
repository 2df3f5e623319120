import Commerce
import Entitlements
import Foundation
import Ledger
import Testing
import TestSupport

/// A purchase that is restored under new transaction identifiers is one purchase.
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

    private func redeem(_ claims: Claim...) throws -> [Redemption.Result] {
        try ledger.redeem(claims, for: alice, at: Self.now).results
    }

    private func notify(_ claim: Claim) throws -> NotificationOutcome {
        try notify(UUID().uuidString, claim)
    }

    private func items() throws -> [Item] { try ledger.items(of: alice, at: Self.now) }

    @Test func aRefundTakesWhatWasRestoredToo() throws {
        #expect(try redeem(claim("1"), claim("2")) == [.granted, .granted])
        #expect(try notify(claim("1", signedAfter: 10, isRevoked: true)) == .revoked)
        #expect(try items() == [])
        // An older proof of another restore brings nothing back, and the reversal all of it.
        #expect(try redeem(claim("3", signedAfter: 5)) == [.revoked])
        #expect(try items() == [])
        #expect(try notify(claim("1", signedAfter: 20)) == .granted)
        #expect(try items() == [Self.sprout1])
        #expect(try ledger.transactions(of: alice, before: nil, limit: 9).allSatisfy { $0.revocationDate == nil })
    }

    @Test func aRefundOfThePurchaseTakesARestoreThatAloneWasHandedIn() throws {
        #expect(try redeem(claim("2")) == [.granted])
        #expect(try notify(claim("1", signedAfter: 10, isRevoked: true)) == .revoked)
        #expect(try items() == [])
        #expect(try notify(claim("1", signedAfter: 20)) == .granted)
        #expect(try items() == [Self.sprout1])
    }

    @Test func aRefundThatCameBeforeAnybodyHandedAnythingInHoldsForARestore() throws {
        #expect(try notify(claim("1", signedAfter: 10, isRevoked: true)) == .parked)
        #expect(try redeem(claim("2")) == [.revoked])
        #expect(try items() == [])
        // The purchase itself finds it too.
        #expect(try redeem(claim("1")) == [.revoked])
        #expect(try redeem(claim("2", signedAfter: 20)) == [.granted])
        #expect(try items() == [Self.sprout1])
    }

    @Test func wherePurchasesRepeatEachStandsOnItsOwn() throws {
        #expect(
            try redeem(claim("1", repeatsOriginal: false), claim("2", repeatsOriginal: false)) == [.granted, .granted])
        #expect(try notify(claim("1", signedAfter: 10, isRevoked: true, repeatsOriginal: false)) == .revoked)
        #expect(try items() == [Self.sprout1])
        #expect(try notify(claim("2", signedAfter: 10, isRevoked: true, repeatsOriginal: false)) == .revoked)
        #expect(try items() == [])
    }

    @Test func whatTheTeamTakesStaysTakenAndKeepsItsStory() throws {
        #expect(try redeem(claim("1")) == [.granted])
        let revocation = Revocation(revokedAt: Self.now, reason: "why", revokedBy: "key")
        func change(_ change: PurchaseChange) throws -> RedeemedTransaction? {
            try ledger.change(change, ofTransaction: "1", origin: nil, of: alice).first
        }
        #expect(try change(.revoke(revocation))?.revocation == revocation)
        let another = Revocation(revokedAt: Self.now, reason: "another", revokedBy: "key")
        #expect(try change(.revoke(another))?.revocation == revocation)
        #expect(try redeem(claim("1", signedAfter: 1), claim("2", signedAfter: 2)) == [.revoked, .revoked])
        #expect(try notify(claim("1", signedAfter: 3)) == .recorded)
        #expect(try items() == [])
        #expect(try change(.reinstate(by: "key", at: Self.now))?.revocation == nil)
        #expect(try items() == [Self.sprout1])
        #expect(try change(.revoke(another))?.revocation == another)
        #expect(try items() == [])
    }
}
