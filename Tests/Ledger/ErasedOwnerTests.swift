import Entitlements
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The purchases of alice, who was erased.
@Suite struct ErasedOwnerTests: LedgerSuite {
    let fixture: LedgerFixture

    init() throws {
        fixture = try LedgerFixture()
    }

    private static let day: Int64 = 86_400
    private static let policies: [(OwnershipPolicy, isAtOnce: Bool)] = [
        (.keep, false), (.transfer(pauseSeconds: 60 * day), true), (.transferIfInactive(pauseSeconds: 60 * day), true),
    ]

    private func erase(at seconds: Int64) async throws {
        #expect(try await ledger.write { try $0.erase(self.alice, by: .user, at: Self.later(seconds)) })
    }

    @Test(arguments: [true, false])
    func `a proof is enough at once under policies with transfers, and after 30 days under keep`(
        isSubscription: Bool
    ) async throws {
        for (policy, isAtOnce) in Self.policies {
            let suite = try Self()
            let claim = suite.claim(expiresAt: isSubscription ? Self.later(300 * Self.day) : nil)
            #expect(try await suite.redeem(claim, for: suite.alice) == [.granted])
            try await suite.erase(at: 10)
            let early = Self.later(10 + 30 * Self.day - 1)
            #expect(
                try await suite.redeem(claim, for: suite.bob, under: policy, at: early)
                    == [isAtOnce ? .granted : .ownedByAnotherUser], "\(policy)")
            let late = Self.later(10 + 30 * Self.day)
            #expect(
                try await suite.redeem(claim, for: suite.bob, under: policy, at: late)
                    == [isAtOnce ? .alreadyRedeemed : .granted])
            #expect(try await suite.ledger.read { try $0.items(of: suite.bob, at: late) } == [Self.sprout1])
            // Nobody takes it twice: the new owner is one as any other.
            let carol = try #require(User(name: "carol"))
            let again = try await suite.redeem(claim, for: carol, under: policy, at: late)
            #expect(again.allSatisfy { !$0.allowsFinish }, "\(policy)")
            // The renewals follow.
            let renewal = suite.claim(
                "2", original: "1", bought: Self.later(300 * Self.day), signedAt: late,
                expiresAt: Self.later(330 * Self.day))
            #expect(try await suite.ledger.write { try $0.record(renewal, at: late) } == .granted)
            #expect(
                try await suite.ledger.read { try $0.transactions(of: suite.bob, before: nil, limit: 9) }.count == 2)
            #expect(try suite.fixture.problems() == [])
        }
    }

    @Test func `a purchase that was transferred before keeps its pause until it can be claimed`()
        async throws
    {
        let policy = OwnershipPolicy.transfer(pauseSeconds: 300 * Self.day)
        _ = try await redeem(claim(), for: bob)
        _ = try await redeem(claim(), for: alice, under: policy)
        try await erase(at: 10)
        #expect(try await redeem(claim(), for: bob, under: policy, at: Self.later(20)) == [.transferTooSoon])
        #expect(try await redeem(claim(), for: bob, under: policy, at: Self.later(31 * Self.day)) == [.granted])
    }

    @Test func `the token of an erased user holds a purchase for 30 days, and then takes it from nobody`()
        async throws
    {
        let token = try await ledger.write { try $0.makeAppAccountToken(of: self.alice, at: Self.now) }
        let named = claim(appAccountToken: token, expiresAt: Self.later(300 * Self.day))
        let policy = OwnershipPolicy.transfer(pauseSeconds: 0)
        _ = try await redeem(named, for: alice)
        try await erase(at: 0)
        let (early, late) = (Self.later(29 * Self.day), Self.later(30 * Self.day))
        let bare = claim(expiresAt: Self.later(300 * Self.day))
        for claim in [named, bare] {
            #expect(try await redeem(claim, for: bob, under: policy, at: early) == [.appAccountTokenMismatch])
        }
        #expect(try await redeem(named, for: bob, at: late) == [.granted])
        let renewal = claim(
            "2", original: "1", bought: Self.later(300 * Self.day), signedAt: Self.later(299 * Self.day),
            appAccountToken: token, expiresAt: Self.later(330 * Self.day))
        #expect(try await ledger.write { try $0.record(renewal, at: Self.later(299 * Self.day)) } == .granted)
        #expect(try await ledger.read { try $0.transactions(of: self.bob, before: nil, limit: 9) }.count == 2)
        #expect(try fixture.problems() == [])
    }

    @Test func `what was added to a balance stays with the erased user, because it may be spent`() async throws {
        let coins = claim(item: nil, credit: Credit(balance: "coins", amount: 10))
        _ = try await redeem(coins, for: alice)
        try await erase(at: 0)
        for (policy, _) in Self.policies {
            #expect(
                try await redeem(coins, for: bob, under: policy, at: Self.later(99 * Self.day)) == [.ownedByAnotherUser]
            )
        }
    }

    @Test func `both audit logs tell of the claim, and no name comes back`() async throws {
        _ = try await redeem(claim(), for: alice)
        try await erase(at: 0)
        _ = try await redeem(claim(), for: bob, at: Self.later(30 * Self.day))
        #expect(try await story(of: bob) == ["user transferredIn 1 p"])
        var text = Data()
        _ = try ledger.export { text.append($0) }
        let words = String(decoding: text, as: UTF8.self)
        #expect(!words.contains("alice"))
        #expect(words.contains("\"event\":\"transferredOut\""))
        #expect(try fixture.problems() == [])
    }
}
