import Commerce
import Entitlements
import Foundation
import Ledger
import Testing
import TestSupport

/// Whose a purchase is that alice has redeemed and bob presents.
@Suite struct OwnershipPolicyTests: LedgerSuite {
    let fixture: LedgerFixture
    private static let pause: Int64 = 1000
    private static let transfer = OwnershipPolicy.transfer(pauseSeconds: pause)
    private static let transferIfInactive = OwnershipPolicy.transferIfInactive(pauseSeconds: pause)

    init() throws {
        fixture = try LedgerFixture()
    }

    /// What alice has bought, and what became of it.
    enum Purchase: String, CaseIterable {
        case forGood
        case refunded
        case takenBackByTheTeam
        case running
        case ended
        case inGracePeriod
        case coins
    }

    /// What bob is told under each policy; where it is `granted` or `revoked`, the purchase is his.
    @Test(arguments: [
        (Purchase.forGood, "ownedByAnotherUser", "granted", "ownedByAnotherUser"),
        (.refunded, "ownedByAnotherUser", "revoked", "revoked"),
        (.takenBackByTheTeam, "ownedByAnotherUser", "revoked", "revoked"),
        (.running, "ownedByAnotherUser", "granted", "ownedByAnotherUser"),
        (.ended, "ownedByAnotherUser", "granted", "granted"),
        (.inGracePeriod, "ownedByAnotherUser", "granted", "ownedByAnotherUser"),
        (.coins, "ownedByAnotherUser", "ownedByAnotherUser", "ownedByAnotherUser"),
    ])
    func thePolicyDecides(purchase: Purchase, keep: String, transfer: String, ifInactive: String) throws {
        for (policy, expected) in [
            (OwnershipPolicy.keep, keep), (Self.transfer, transfer), (Self.transferIfInactive, ifInactive),
        ] {
            let ledger = try fixture.another()
            let presented = try buy(purchase, in: ledger)
            let result = try ledger.redeem([presented], for: bob, under: policy, at: Self.later(100)).results
            #expect(result.map(\.rawValue) == [expected], "\(policy)")
            let owner = result[0].allowsFinish ? bob : alice
            let other = owner == bob ? alice : bob
            #expect(try ledger.transactions(of: owner, before: nil, limit: 9).count == 1)
            #expect(try ledger.transactions(of: other, before: nil, limit: 9) == [])
            #expect(try ledger.items(of: other, at: Self.later(100)) == [])
        }
    }

    /// - Returns: The claim that bob presents.
    private func buy(_ purchase: Purchase, in ledger: Ledger) throws -> Claim {
        let running = claim(expiresAt: Self.later(1000))
        let claim =
            switch purchase {
            case .forGood, .refunded, .takenBackByTheTeam: claim()
            case .running: running
            case .ended: claim(expiresAt: Self.later(50))
            case .inGracePeriod: claim(expiresAt: Self.later(50), grace: Claim.Grace(endsAt: Self.later(500)))
            case .coins: claim(item: nil, credit: Credit(balance: "coins", amount: 10))
            }
        _ = try ledger.redeem([claim], for: alice, at: Self.now)
        switch purchase {
        case .refunded:
            _ = try ledger.record(
                self.claim(revoked: Self.later(10), signedAt: Self.later(10)), at: Self.later(10))
        case .takenBackByTheTeam:
            let revocation = Revocation(revokedAt: Self.later(10), reason: "a mistake", revokedBy: "key")
            _ = try ledger.change(.revoke(revocation), ofTransaction: "1", origin: nil, of: alice)
        default: break
        }
        return claim
    }

    @Test func whatWasTransferredStaysForAWhile() throws {
        #expect(try redeem(claim(), for: alice, under: Self.transfer) == [.granted])
        #expect(try redeem(claim(), for: bob, under: Self.transfer) == [.granted])
        let tooSoon = Self.later(Self.pause - 1)
        #expect(try redeem(claim(), for: alice, under: Self.transfer, at: tooSoon) == [.transferTooSoon])
        #expect(try ledger.items(of: bob, at: tooSoon) == [Self.sprout1])
        #expect(try redeem(claim(), for: alice, under: Self.transfer, at: Self.later(Self.pause)) == [.granted])
        #expect(try ledger.items(of: bob, at: Self.later(Self.pause)) == [])
        #expect(try ledger.items(of: alice, at: Self.later(Self.pause)) == [Self.sprout1])
        // Whoever owns it is asked to wait for nothing.
        #expect(try redeem(claim(), for: alice, under: Self.transfer, at: Self.later(Self.pause)) == [.alreadyRedeemed])
    }

    @Test func aPurchaseMovesWithAllItsTransactionsAndNothingElse() throws {
        let sprout2 = Item(collection: "sprout", number: 2)
        let second = claim("2", original: "1", item: sprout2)
        #expect(try redeem(claim("1"), second, claim("5"), for: alice) == [.granted, .granted, .granted])
        #expect(try redeem(claim("6"), claim("7"), for: bob) == [.granted, .granted])
        #expect(try redeem(claim("3", original: "1"), for: bob, under: Self.transfer) == [.granted])
        #expect(try ledger.items(of: alice, at: Self.now) == [Self.sprout1])
        #expect(try ledger.items(of: bob, at: Self.now) == [Self.sprout1, sprout2])
        func transactions(of user: User) throws -> [String] {
            try ledger.transactions(of: user, before: nil, limit: 9).map(\.transactionIdentifier)
        }
        #expect(try transactions(of: alice) == ["5"])
        #expect(try transactions(of: bob) == ["3", "2", "1", "7", "6"])
        // What the App Store says of it later reaches its owner.
        #expect(try notify("1", claim("2", original: "1", revoked: Self.now, signedAt: Self.later(1))) == .revoked)
        #expect(try ledger.items(of: bob, at: Self.now) == [Self.sprout1])
        #expect(try fixture.problems() == [])
    }

    @Test(arguments: [OwnershipPolicy.keep, transfer, transferIfInactive])
    func anAccountTokenDecidesWhateverThePolicy(policy: OwnershipPolicy) throws {
        let token = try ledger.appAccountToken(of: alice, at: Self.now)
        let own = claim(appAccountToken: token)
        // A receipt names no token.
        #expect(try redeem(claim(), for: bob, under: policy) == [.granted])
        #expect(try redeem(own, for: alice, under: policy) == [.granted])
        #expect(try redeem(own, for: bob, under: policy, at: Self.later(9999)) == [.appAccountTokenMismatch])
        #expect(try ledger.items(of: alice, at: Self.now) == [Self.sprout1])
        #expect(try ledger.items(of: bob, at: Self.now) == [])
    }

    /// Somebody subscribes again for another user of the app: the later token counts, whichever comes first.
    @Test(arguments: ["1 2", "2 1", "1 2 1", "2 1 2"])
    func ofTwoTokensTheLaterPurchasesDecides(order: String) throws {
        let tokens = try [alice, bob].map { try ledger.appAccountToken(of: $0, at: Self.now) }
        let claims = [
            "1": claim("1", appAccountToken: tokens[0], expiresAt: Self.later(50)),
            "2": claim("2", original: "1", bought: Self.later(100), appAccountToken: tokens[1]),
        ]
        for (number, name) in order.split(separator: " ").enumerated() {
            let claim = try #require(claims[String(name)])
            _ = try notify("\(number)", claim)
        }
        #expect(try ledger.transactions(of: bob, before: nil, limit: 9).count == 2)
        #expect(try ledger.transactions(of: alice, before: nil, limit: 9) == [])
        let transfer = OwnershipPolicy.transfer(pauseSeconds: 0)
        #expect(try redeem(try #require(claims["1"]), for: alice, under: transfer) == [.appAccountTokenMismatch])
        #expect(try redeem(claim("1"), for: alice, under: transfer) == [.appAccountTokenMismatch])
        #expect(try redeem(try #require(claims["1"]), for: bob) == [.alreadyRedeemed])
    }

    /// It may be spent: whoever has it first keeps it, whatever a token says later.
    @Test func whatAddsToABalanceNeverMoves() throws {
        let token = try ledger.appAccountToken(of: alice, at: Self.now)
        let coins = Credit(balance: "coins", amount: 10)
        let told = claim(signedAt: Self.later(1), appAccountToken: token, item: nil, credit: coins)
        #expect(try redeem(claim(item: nil, credit: coins), for: bob) == [.granted])
        #expect(try notify("1", told) == .recorded)
        #expect(try redeem(told, for: alice, under: Self.transfer) == [.ownedByAnotherUser])
        #expect(try redeem(told, for: bob) == [.alreadyRedeemed])
        let origins = Set(Origin.allCases)
        #expect(try ledger.balances(of: bob, counting: origins) == [coins])
        #expect(try ledger.balances(of: alice, counting: origins) == [])
    }

    @Test(arguments: ["notification first", "receipt first"])
    func aTokenThatANotificationNamesDecidesInEitherOrder(order: String) throws {
        let token = try ledger.appAccountToken(of: alice, at: Self.now)
        let told = claim(signedAt: Self.later(1), appAccountToken: token)
        if order == "notification first" {
            #expect(try notify("1", told) == .granted)
            #expect(try redeem(claim(), for: bob) == [.appAccountTokenMismatch])
        } else {
            #expect(try redeem(claim(), for: bob) == [.granted])
            #expect(try notify("1", told) == .recorded)
        }
        #expect(try ledger.items(of: alice, at: Self.now) == [Self.sprout1])
        #expect(try ledger.items(of: bob, at: Self.now) == [])
    }

    /// The team has the App Store change a purchase's token; a proof from before does not change it back.
    @Test func theLastWordOnATransactionsTokenCounts() throws {
        let tokens = try [alice, bob].map { try ledger.appAccountToken(of: $0, at: Self.now) }
        let before = claim(appAccountToken: tokens[0])
        #expect(try redeem(before, for: alice) == [.granted])
        _ = try ledger.record(claim(signedAt: Self.later(5), appAccountToken: tokens[1]), at: Self.later(5))
        #expect(try redeem(before, for: alice, at: Self.later(6)) == [.appAccountTokenMismatch])
        _ = try ledger.record(before, at: Self.later(6))
        #expect(try ledger.items(of: bob, at: Self.later(6)) == [Self.sprout1])
    }

    /// A token that was nobody's when the App Store named it decides when it is somebody's.
    @Test func theTokensOfWhatWaitsDecide() throws {
        let token = UUID()
        let renewal = claim("2", original: "1", bought: Self.later(50), appAccountToken: token)
        #expect(try notify("1", renewal) == .parked)
        #expect(try ledger.setAppAccountToken(token, of: alice, at: Self.now) == .set)
        #expect(try redeem(claim("1"), for: bob, under: Self.transfer) == [.appAccountTokenMismatch])
        #expect(try redeem(claim("1"), for: alice) == [.granted])
        #expect(try ledger.transactions(of: alice, before: nil, limit: 9).count == 2)
        #expect(try redeem(claim("1"), for: bob, under: Self.transfer) == [.appAccountTokenMismatch])
    }

    /// Bob's app hands a renewal in before the App Store has told of it.
    @Test func aRenewalIsNoEnd() throws {
        #expect(try redeem(claim("1", expiresAt: Self.later(50)), for: alice) == [.granted])
        let renewal = claim("2", original: "1", bought: Self.later(50), expiresAt: Self.later(100))
        let policy = Self.transferIfInactive
        #expect(try redeem(renewal, for: bob, under: policy, at: Self.later(60)) == [.ownedByAnotherUser])
        // Subscribed to anew, long after.
        let anew = claim("3", original: "1", bought: Self.later(9000), expiresAt: Self.later(9900))
        #expect(try redeem(anew, for: bob, under: policy, at: Self.later(9100)) == [.granted])
    }

    @Test func manyTransfersCountOn() throws {
        let policy = OwnershipPolicy.transfer(pauseSeconds: 0)
        #expect(try redeem(claim("0"), for: alice) == [.granted])
        for _ in 0..<40 {
            #expect(try redeem(claim("0"), for: bob, under: policy) == [.granted])
            #expect(try redeem(claim("0"), for: alice, under: policy) == [.granted])
        }
        let newest = try #require(try ledger.transactions(of: alice, before: nil, limit: 1).first)
        #expect(newest.sequence <= 100)
    }

    @Test func eachTransferIsToldOfToBoth() throws {
        _ = try redeem(claim(), for: alice)
        _ = try redeem(claim(), for: bob)
        _ = try redeem(claim(), for: bob, under: Self.transfer)
        #expect(try story(of: alice) == ["user granted 1 p", "user transferredOut 1 p"])
        #expect(try story(of: bob) == ["user refused 1 p ownedByAnotherUser", "user transferredIn 1 p"])
    }

    @Test func whatWaitsIsClaimedByWhoeverPresentsItsPurchase() throws {
        #expect(try notify("1", claim("2", original: "1", signedAt: Self.later(1))) == .parked)
        #expect(try notify("2", claim("1", revoked: Self.later(5), signedAt: Self.later(5))) == .parked)
        #expect(try redeem(claim("1"), for: alice) == [.revoked])
        #expect(try ledger.items(of: alice, at: Self.later(10)) == [Self.sprout1])
        #expect(
            try story(of: alice) == ["user revoked 1 p", "App Store granted 2 p"])
        #expect(try redeem(claim("2", original: "1"), for: bob) == [.ownedByAnotherUser])
    }

    @Test func onlyPurchasesOfOriginsThatCountDo() throws {
        _ = try redeem(claim("1", origin: .appleSandbox), for: alice)
        let coins = Credit(balance: "coins", amount: 5)
        _ = try redeem(claim("2", origin: .appleSandbox, item: nil, credit: coins), for: alice)
        for (origins, items, balances) in [
            (Set([Origin.appleSandbox, .appleProduction]), [Self.sprout1], [coins]), ([.appleProduction], [], []),
        ] as [(Set<Origin>, [Item], [Credit])] {
            #expect(try ledger.items(of: alice, counting: origins, at: Self.now) == items)
            #expect(try ledger.balances(of: alice, counting: origins) == balances)
        }
        let spending = Spending(
            identifier: "s", balance: "coins", amount: 1, reason: "a hat", spentBy: "key", spentAt: Self.now)
        let answer = try ledger.spend(
            spending, for: alice, counting: [.appleProduction])
        #expect(answer == .tooLow(0))
    }
}
