import Entitlements
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The history of a customer with more transactions and grants than the newest ones, in either database.
@Suite struct CustomerHistoryLedgerTests: LedgerSuite {
    let fixture: LedgerFixture

    init() throws {
        fixture = try LedgerFixture()
    }

    private static let gate = Item(collection: "gate", number: 1)

    private func bought(
        _ transaction: String,
        _ product: String,
        _ type: ProductType?,
        original: String? = nil,
        origin: Origin = .localSandbox,
        revoked: Timestamp? = nil,
        expiresAt: Timestamp? = nil
    ) -> Claim {
        let isConsumable = type == .consumable
        return Claim(
            app: "com.example.app", origin: origin, transactionIdentifier: transaction,
            originalTransactionIdentifier: original ?? transaction, productIdentifier: product, quantity: 1,
            purchaseDate: Self.now, revocationDate: revoked, repeatsOriginal: type == .nonConsumable,
            signedAt: Self.now, proofDigest: [UInt8](repeating: 7, count: 32), item: isConsumable ? nil : Self.gate,
            credit: isConsumable ? Credit(balance: "seeds", amount: 1) : nil, expiresAt: expiresAt,
            facts: TransactionFacts(type.map { [.type: .text($0.rawValue)] } ?? [:]))
    }

    private func history(newest count: Int, of origins: Set<Origin> = [.localSandbox]) async throws -> CustomerHistory {
        try #require(
            try await ledger.read {
                try $0.history(
                    of: alice, from: Viewpoint(accepting: AcceptedOrigins(origins), at: Self.now),
                    newestTransactions: count, newestGrants: count)
            })
    }

    @Test func `old transactions stay if a right depends on them`() async throws {
        let claims = [
            bought("gate", "gate", .nonConsumable),
            bought("gate restored", "gate", .nonConsumable, original: "gate"),
            bought("gate of Xcode", "gate", .nonConsumable, origin: .xcode),
            bought("season", "season", .nonRenewingSubscription, expiresAt: Self.later(200)),
            bought("shorter season", "season", .nonRenewingSubscription, expiresAt: Self.later(100)),
            bought("month", "monthly", .autoRenewableSubscription, expiresAt: Self.later(10)),
            bought("next month", "monthly", .autoRenewableSubscription, original: "month", expiresAt: Self.later(20)),
            bought("receipt", "yearly", nil, expiresAt: Self.later(30)),
            bought("refunded", "fence", .nonConsumable, revoked: Self.now),
            bought("taken back", "hedge", .nonConsumable),
            bought("seeds 1", "seeds", .consumable),
            bought("seeds 2", "seeds", .consumable),
            bought("seeds 3", "seeds", .consumable),
            bought("seeds 4", "seeds", .consumable),
        ]
        let results = try await ledger.write { try $0.redeem(claims, for: alice, at: Self.now) }.results
        #expect(results.map(\.rawValue).filter { $0 != "granted" } == ["revoked"])
        _ = try await ledger.write {
            try $0.change(
                .revoke(reason: "fraud"), ofTransaction: "taken back", origin: nil, of: alice, by: "K",
                at: Self.later(1))
        }
        let all = claims.map(\.transactionIdentifier).filter { $0 != "gate of Xcode" }
        let complete = try await history(newest: claims.count)
        #expect(complete.transactions.map(\.transactionIdentifier) == all.reversed())
        let old = ["seeds 2", "receipt", "next month", "month", "season", "gate restored"]
        let few = try await history(newest: 2)
        #expect(few.transactions.map(\.transactionIdentifier) == ["seeds 4", "seeds 3"] + old)
        // The purchases of each origin count for themselves.
        let both = try await history(newest: 2, of: [.localSandbox, .xcode])
        #expect(
            both.transactions.map(\.transactionIdentifier)
                == ["seeds 4", "seeds 3"] + old.dropLast() + ["gate of Xcode", "gate restored"])
    }

    @Test func `the moment at which renewal was turned off stays with the purchase`() async throws {
        func month(signedAfter seconds: Int64, isOn: Bool) -> Claim {
            claim(
                signedAt: Self.later(seconds), expiresAt: Self.later(1000),
                facts: TransactionFacts([.type: .text(ProductType.autoRenewableSubscription.rawValue)]),
                renewal: StatedRenewal(
                    statedAt: Self.later(seconds), proofDigest: [UInt8](repeating: 7, count: 32),
                    facts: RenewalFacts([.autoRenewStatus: .integer(isOn ? 1 : 0)])))
        }
        func turnedOff(of user: User) async throws -> [Timestamp?] {
            try await ledger.read { try $0.renewals(of: user) }
                .map { $0.renewal.turnedOffAt(inPeriodFrom: Self.now) }
        }
        let ghost = try #require(CustomerIdentifier("$RCAnonymousID:" + String(repeating: "0", count: 32))).user
        #expect(try await redeem(month(signedAfter: 0, isOn: true), for: ghost) == [.granted])
        #expect(try await turnedOff(of: ghost) == [nil])
        for seconds in [20, 50] as [Int64] {
            _ = try await notify("after \(seconds)", month(signedAfter: seconds, isOn: false))
            #expect(try await turnedOff(of: ghost) == [Self.later(20)])
        }
        // A customer who logs in keeps it.
        #expect(try await redeem(claim("2"), for: alice) == [.granted])
        _ = try await ledger.write { try $0.logIn(ghost, as: alice, by: .user, at: Self.later(51)) }
        #expect(try await turnedOff(of: alice) == [Self.later(20)])
        // A new owner gets it.
        let again = month(signedAfter: 60, isOn: false)
        #expect(
            try await redeem(again, for: bob, under: .transfer(pauseSeconds: 0), at: Self.later(60)) == [.granted])
        #expect(try await turnedOff(of: alice) == [])
        #expect(try await turnedOff(of: bob) == [Self.later(20)])
        // A late statement corrects it.
        _ = try await notify("late", month(signedAfter: 30, isOn: true))
        #expect(try await turnedOff(of: bob) == [Self.later(50)])
        _ = try await notify("on", month(signedAfter: 70, isOn: true))
        #expect(try await turnedOff(of: bob) == [nil])
        #expect(try fixture.problems() == [])
    }

    @Test func `old grants stay if a right depends on them`() async throws {
        func grant(_ identifier: String, _ item: Item, until end: Timestamp? = nil) async throws {
            let grant = Grant(
                identifier: identifier, item: item, reason: "a prize", grantedBy: "K", grantedAt: Self.now, endsAt: end)
            _ = try await ledger.write {
                try $0.add(grant, for: alice)
            }
        }
        try await grant("for good", Self.gate)
        try await grant("for a while", Self.gate, until: Self.later(100))
        try await grant("long", Self.sprout1, until: Self.later(300))
        try await grant("short", Self.sprout1, until: Self.later(200))
        try await grant("taken back", Self.sprout1)
        try await grant("newest", Item(collection: "bed", number: 1))
        let revocation = Revocation(revokedAt: Self.later(1), reason: "a mistake", revokedBy: "K")
        _ = try await ledger.write { try $0.revoke(grant: "taken back", of: alice, revocation) }
        #expect(try await history(newest: 6).grants.count == 6)
        #expect(try await history(newest: 1).grants.map(\.identifier) == ["newest", "long", "for good"])
    }
}
