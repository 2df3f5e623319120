import Entitlements
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The owner of a purchase that alice redeemed and bob presents.
@Suite struct OwnershipPolicyTests: LedgerSuite {
    let fixture: LedgerFixture
    private static let pause: Int64 = 1000
    private static let transfer = OwnershipPolicy.transfer(pauseSeconds: pause)
    private static let transferIfInactive = OwnershipPolicy.transferIfInactive(pauseSeconds: pause)

    init() throws {
        fixture = try LedgerFixture()
    }

    /// A purchase of alice, and its state.
    enum Purchase: String, CaseIterable {
        case forGood
        case refunded
        case takenBackByTheTeam
        case running
        case ended
        case inGracePeriod
        case coins
    }

    /// Each policy's result for bob. The purchase is his after `granted` and `revoked`.
    @Test(arguments: [
        (Purchase.forGood, "ownedByAnotherUser", "granted", "ownedByAnotherUser"),
        (.refunded, "ownedByAnotherUser", "revoked", "revoked"),
        (.takenBackByTheTeam, "ownedByAnotherUser", "revoked", "revoked"),
        (.running, "ownedByAnotherUser", "granted", "ownedByAnotherUser"),
        (.ended, "ownedByAnotherUser", "granted", "granted"),
        (.inGracePeriod, "ownedByAnotherUser", "granted", "ownedByAnotherUser"),
        (.coins, "ownedByAnotherUser", "ownedByAnotherUser", "ownedByAnotherUser"),
    ])
    func `the policy decides the owner of a purchase`(
        purchase: Purchase, keep: String, transfer: String, ifInactive: String
    ) async throws {
        for (policy, expected) in [
            (OwnershipPolicy.keep, keep), (Self.transfer, transfer), (Self.transferIfInactive, ifInactive),
        ] {
            let ledger = try fixture.another()
            let presented = try await buy(purchase, in: ledger)
            let result = try await ledger.write {
                try $0.redeem([presented], for: bob, under: policy, at: Self.later(100))
            }.results
            #expect(result.map(\.rawValue) == [expected], "\(policy)")
            let owner = result[0].allowsFinish ? bob : alice
            let other = owner == bob ? alice : bob
            #expect(try await ledger.read { try $0.transactions(of: owner, before: nil, limit: 9) }.count == 1)
            #expect(try await ledger.read { try $0.transactions(of: other, before: nil, limit: 9) } == [])
            #expect(try await ledger.read { try $0.items(of: other, at: Self.later(100)) } == [])
        }
    }

    /// - Returns: The claim that bob presents.
    private func buy(_ purchase: Purchase, in ledger: Ledger) async throws -> Claim {
        let running = claim(expiresAt: Self.later(1000))
        let claim =
            switch purchase {
            case .forGood, .refunded, .takenBackByTheTeam: claim()
            case .running: running
            case .ended: claim(expiresAt: Self.later(50))
            case .inGracePeriod: claim(expiresAt: Self.later(50), grace: .until(Self.later(500)))
            case .coins: claim(item: nil, credit: Credit(balance: "coins", amount: 10))
            }
        _ = try await ledger.write { try $0.redeem([claim], for: alice, at: Self.now) }
        switch purchase {
        case .refunded:
            _ = try await ledger.write {
                try $0.record(
                    self.claim(revoked: Self.later(10), signedAt: Self.later(10)), at: Self.later(10))
            }
        case .takenBackByTheTeam:
            _ = try await ledger.write {
                try $0.change(
                    .revoke(reason: "a mistake"), ofTransaction: "1", origin: nil, of: alice, by: "key",
                    at: Self.later(10))
            }
        default: break
        }
        return claim
    }

    @Test func `a transfer to an owner whom the ledger does not have is refused whole`() async throws {
        let (stray, nobody): (UUID, Int64) = (UUID(), 999)
        try await ledger.write {
            try $0.database.insert(into: "account_token", ["app_account_token", "user_id"], [[stray, nobody]])
        }
        _ = try await redeem(claim(), for: alice)
        await #expect(throws: BrokenInvariant("a transferred purchase has an owner with a head", "1")) {
            try await ledger.write {
                try $0.record(self.claim(signedAt: Self.later(10), appAccountToken: stray), at: Self.later(10))
            }
        }
        #expect(try await ledger.read { try $0.items(of: alice, at: Self.later(20)) } == [Self.sprout1])
    }

    @Test func `a transferred purchase cannot be transferred again during the pause`() async throws {
        #expect(try await redeem(claim(), for: alice, under: Self.transfer) == [.granted])
        #expect(try await redeem(claim(), for: bob, under: Self.transfer) == [.granted])
        let tooSoon = Self.later(Self.pause - 1)
        #expect(try await redeem(claim(), for: alice, under: Self.transfer, at: tooSoon) == [.transferTooSoon])
        #expect(try await ledger.read { try $0.items(of: bob, at: tooSoon) } == [Self.sprout1])
        #expect(try await redeem(claim(), for: alice, under: Self.transfer, at: Self.later(Self.pause)) == [.granted])
        #expect(try await ledger.read { try $0.items(of: bob, at: Self.later(Self.pause)) } == [])
        #expect(try await ledger.read { try $0.items(of: alice, at: Self.later(Self.pause)) } == [Self.sprout1])
        // The pause does not apply to the owner.
        #expect(
            try await redeem(claim(), for: alice, under: Self.transfer, at: Self.later(Self.pause)) == [
                .alreadyRedeemed
            ])
    }

    @Test func `a transfer moves all transactions of a purchase and no others`() async throws {
        let sprout2 = Item(collection: "sprout", number: 2)
        let second = claim("2", original: "1", item: sprout2)
        #expect(try await redeem(claim("1"), second, claim("5"), for: alice) == [.granted, .granted, .granted])
        #expect(try await redeem(claim("6"), claim("7"), for: bob) == [.granted, .granted])
        #expect(try await redeem(claim("3", original: "1"), for: bob, under: Self.transfer) == [.granted])
        #expect(try await ledger.read { try $0.items(of: alice, at: Self.now) } == [Self.sprout1])
        #expect(try await ledger.read { try $0.items(of: bob, at: Self.now) } == [Self.sprout1, sprout2])
        func transactions(of user: User) async throws -> [String] {
            try await ledger.read { try $0.transactions(of: user, before: nil, limit: 9) }.map(\.transactionIdentifier)
        }
        #expect(try await transactions(of: alice) == ["5"])
        #expect(try await transactions(of: bob) == ["3", "2", "1", "7", "6"])
        // A later notification of the App Store reaches the new owner.
        #expect(
            try await notify("1", claim("2", original: "1", revoked: Self.now, signedAt: Self.later(1))) == .revoked)
        #expect(try await ledger.read { try $0.items(of: bob, at: Self.now) } == [Self.sprout1])
        #expect(try fixture.problems() == [])
    }

    @Test(arguments: [OwnershipPolicy.keep, transfer, transferIfInactive])
    func `an account token overrides every policy`(policy: OwnershipPolicy) async throws {
        let token = try await ledger.write { try $0.makeAppAccountToken(of: alice, at: Self.now) }
        let own = claim(appAccountToken: token)
        // A receipt has no token.
        #expect(try await redeem(claim(), for: bob, under: policy) == [.granted])
        #expect(try await redeem(own, for: alice, under: policy) == [.granted])
        #expect(try await redeem(own, for: bob, under: policy, at: Self.later(9999)) == [.appAccountTokenMismatch])
        #expect(try await ledger.read { try $0.items(of: alice, at: Self.now) } == [Self.sprout1])
        #expect(try await ledger.read { try $0.items(of: bob, at: Self.now) } == [])
    }

    /// A customer subscribes again as another user of the app. The later token is valid in either order.
    @Test(arguments: ["1 2", "2 1", "1 2 1", "2 1 2"])
    func `the token of the later purchase determines the owner`(order: String) async throws {
        let tokens = try [alice, bob].map { user in
            try ledger.writeNow { try $0.makeAppAccountToken(of: user, at: Self.now) }
        }
        let claims = [
            "1": claim("1", appAccountToken: tokens[0], expiresAt: Self.later(50)),
            "2": claim("2", original: "1", bought: Self.later(100), appAccountToken: tokens[1]),
        ]
        for (number, name) in order.split(separator: " ").enumerated() {
            let claim = try #require(claims[String(name)])
            _ = try await notify("\(number)", claim)
        }
        #expect(try await ledger.read { try $0.transactions(of: bob, before: nil, limit: 9) }.count == 2)
        #expect(try await ledger.read { try $0.transactions(of: alice, before: nil, limit: 9) } == [])
        let transfer = OwnershipPolicy.transfer(pauseSeconds: 0)
        #expect(try await redeem(try #require(claims["1"]), for: alice, under: transfer) == [.appAccountTokenMismatch])
        #expect(try await redeem(claim("1"), for: alice, under: transfer) == [.appAccountTokenMismatch])
        #expect(try await redeem(try #require(claims["1"]), for: bob) == [.alreadyRedeemed])
    }

    /// The amount may be spent, so the first user keeps it even if a later token names another user.
    @Test func `a credit is never transferred`() async throws {
        let token = try await ledger.write { try $0.makeAppAccountToken(of: alice, at: Self.now) }
        let coins = Credit(balance: "coins", amount: 10)
        let told = claim(signedAt: Self.later(1), appAccountToken: token, item: nil, credit: coins)
        #expect(try await redeem(claim(item: nil, credit: coins), for: bob) == [.granted])
        #expect(try await notify("1", told) == .recorded)
        #expect(try await redeem(told, for: alice, under: Self.transfer) == [.ownedByAnotherUser])
        #expect(try await redeem(told, for: bob) == [.alreadyRedeemed])
        let origins = Set(Origin.allCases)
        #expect(try await ledger.read { try $0.balances(of: bob, accepting: origins) } == [coins])
        #expect(try await ledger.read { try $0.balances(of: alice, accepting: origins) } == [])
    }

    @Test(arguments: ["notification first", "receipt first"])
    func `the token of a notification determines the owner in either order`(order: String) async throws {
        let token = try await ledger.write { try $0.makeAppAccountToken(of: alice, at: Self.now) }
        let told = claim(signedAt: Self.later(1), appAccountToken: token)
        if order == "notification first" {
            #expect(try await notify("1", told) == .granted)
            #expect(try await redeem(claim(), for: bob) == [.appAccountTokenMismatch])
        } else {
            #expect(try await redeem(claim(), for: bob) == [.granted])
            #expect(try await notify("1", told) == .recorded)
        }
        #expect(try await ledger.read { try $0.items(of: alice, at: Self.now) } == [Self.sprout1])
        #expect(try await ledger.read { try $0.items(of: bob, at: Self.now) } == [])
    }

    /// The team sets a new token of a purchase in the App Store. An older proof does not restore the old token.
    @Test func `the token of the last signed statement determines the owner`() async throws {
        let tokens = try [alice, bob].map { user in
            try ledger.writeNow { try $0.makeAppAccountToken(of: user, at: Self.now) }
        }
        let before = claim(appAccountToken: tokens[0])
        #expect(try await redeem(before, for: alice) == [.granted])
        _ = try await ledger.write {
            try $0.record(claim(signedAt: Self.later(5), appAccountToken: tokens[1]), at: Self.later(5))
        }
        #expect(try await redeem(before, for: alice, at: Self.later(6)) == [.appAccountTokenMismatch])
        _ = try await ledger.write { try $0.record(before, at: Self.later(6)) }
        #expect(try await ledger.read { try $0.items(of: bob, at: Self.later(6)) } == [Self.sprout1])
    }

    /// A token may get its user after the App Store has stated it.
    @Test func `the token of a parked transaction determines the owner`() async throws {
        let token = UUID()
        let renewal = claim("2", original: "1", bought: Self.later(50), appAccountToken: token)
        #expect(try await notify("1", renewal) == .parked)
        #expect(try await ledger.write { try $0.setAppAccountToken(token, of: alice, at: Self.now) } == .set)
        #expect(try await redeem(claim("1"), for: bob, under: Self.transfer) == [.appAccountTokenMismatch])
        #expect(try await redeem(claim("1"), for: alice) == [.granted])
        #expect(try await ledger.read { try $0.transactions(of: alice, before: nil, limit: 9) }.count == 2)
        #expect(try await redeem(claim("1"), for: bob, under: Self.transfer) == [.appAccountTokenMismatch])
    }

    /// Bob's app presents a renewal before the notification of the App Store.
    @Test func `a subscription with a renewal is not inactive`() async throws {
        #expect(try await redeem(claim("1", expiresAt: Self.later(50)), for: alice) == [.granted])
        let renewal = claim("2", original: "1", bought: Self.later(50), expiresAt: Self.later(100))
        let policy = Self.transferIfInactive
        #expect(try await redeem(renewal, for: bob, under: policy, at: Self.later(60)) == [.ownedByAnotherUser])
        // A new subscription, long after the end.
        let anew = claim("3", original: "1", bought: Self.later(9000), expiresAt: Self.later(9900))
        #expect(try await redeem(anew, for: bob, under: policy, at: Self.later(9100)) == [.granted])
    }

    @Test func `many transfers keep the sequence numbers small`() async throws {
        let policy = OwnershipPolicy.transfer(pauseSeconds: 0)
        #expect(try await redeem(claim("0"), for: alice) == [.granted])
        for _ in 0..<40 {
            #expect(try await redeem(claim("0"), for: bob, under: policy) == [.granted])
            #expect(try await redeem(claim("0"), for: alice, under: policy) == [.granted])
        }
        let newest = try #require(try await ledger.read { try $0.transactions(of: alice, before: nil, limit: 1) }.first)
        #expect(newest.sequence <= 100)
    }

    @Test func `a transfer is in the audit logs of both users`() async throws {
        _ = try await redeem(claim(), for: alice)
        _ = try await redeem(claim(), for: bob)
        _ = try await redeem(claim(), for: bob, under: Self.transfer)
        #expect(try await story(of: alice) == ["user granted 1 p", "user transferredOut 1 p"])
        #expect(try await story(of: bob) == ["user refused 1 p ownedByAnotherUser", "user transferredIn 1 p"])
    }

    @Test func `parked transactions go to the user that redeems their purchase`() async throws {
        #expect(try await notify("1", claim("2", original: "1", signedAt: Self.later(1))) == .parked)
        #expect(try await notify("2", claim("1", revoked: Self.later(5), signedAt: Self.later(5))) == .parked)
        #expect(try await redeem(claim("1"), for: alice) == [.revoked])
        #expect(try await ledger.read { try $0.items(of: alice, at: Self.later(10)) } == [Self.sprout1])
        #expect(
            try await story(of: alice) == ["user revoked 1 p", "App Store granted 2 p"])
        #expect(try await redeem(claim("2", original: "1"), for: bob) == [.ownedByAnotherUser])
    }

    @Test func `only purchases of accepted origins are valid`() async throws {
        _ = try await redeem(claim("1", origin: .appleSandbox), for: alice)
        let coins = Credit(balance: "coins", amount: 5)
        _ = try await redeem(claim("2", origin: .appleSandbox, item: nil, credit: coins), for: alice)
        for (origins, items, balances) in [
            (Set([Origin.appleSandbox, .appleProduction]), [Self.sprout1], [coins]), ([.appleProduction], [], []),
        ] as [(Set<Origin>, [Item], [Credit])] {
            #expect(try await ledger.read { try $0.items(of: alice, accepting: origins, at: Self.now) } == items)
            #expect(try await ledger.read { try $0.balances(of: alice, accepting: origins) } == balances)
        }
        let spending = Spending(
            identifier: "s", balance: "coins", amount: 1, reason: "a hat", spentBy: "key", spentAt: Self.now)
        await #expect(throws: BalanceError.balanceTooLow(name: "coins", amount: 0)) {
            try await ledger.write { try $0.spend(spending, for: alice, accepting: [.appleProduction]) }
        }
    }
}
