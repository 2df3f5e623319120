import Catalog
import Entitlements
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The facts about purchases whose refunds are requested, in either database.
@Suite struct RefundFactLedgerTests: LedgerSuite {
    let fixture: LedgerFixture
    private let catalog: Catalog

    init() throws {
        fixture = try LedgerFixture()
        catalog = try TestGarden(bundleIdentifier: "com.example.app").catalog
    }

    /// A question, an hour after `now` unless it says otherwise.
    private func facts(
        about transaction: String,
        after seconds: Int64 = 3600,
        isSubscription: Bool = false
    ) async throws -> RefundFacts {
        let request = OpenConsumptionRequest(
            app: "com.example.app", origin: .localSandbox, notificationUUID: "q", transactionIdentifier: transaction,
            isRedeemed: true, isSubscription: isSubscription, reason: "OTHER", signedAt: Self.later(seconds))
        return try await ledger.read { [catalog] in try $0.refundFacts(about: request, in: catalog).facts }
    }

    private func seeds(_ transaction: String) -> Claim {
        claim(
            transaction, product: "garden.seeds", item: nil, credit: Credit(balance: "seeds", amount: 10),
            facts: TransactionFacts([.type: .text(ProductType.consumable.rawValue)]))
    }

    private func spend(_ amount: Int) async throws {
        let spending = Spending(
            identifier: UUID().uuidString, balance: "seeds", amount: amount, reason: "a bed", spentBy: "K",
            spentAt: Self.later(10))
        _ = try await ledger.write { [alice] in try $0.spend(spending, for: alice, accepting: Set(Origin.allCases)) }
    }

    @Test func `the oldest seeds are spent first`() async throws {
        for number in 1...3 { #expect(try await redeem(seeds("\(number)"), for: alice) == [.granted]) }
        #expect(try await facts(about: "1").consumed == 0)
        try await spend(14)
        #expect(try await facts(about: "1").consumed == 100_000)
        #expect(try await facts(about: "2").consumed == 40_000)
        let third = try await facts(about: "3")
        #expect(
            third
                == RefundFacts(
                    product: "garden.seeds", type: .consumable, reason: "OTHER", consumed: 0, age: 3600, refunds: 0))
        // A refunded purchase gives no seeds that could have been spent.
        let refund = claim(
            "1", product: "garden.seeds", revoked: Self.later(20), signedAt: Self.later(20), item: nil,
            credit: Credit(balance: "seeds", amount: 10))
        #expect(try await notify("n", refund) == .revoked)
        let second = try await facts(about: "2")
        #expect(second.consumed == 100_000 && second.refunds == 1)
        #expect(try await facts(about: "3").consumed == 40_000)
        // The purchase itself is none of the other refunds.
        #expect(try await facts(about: "1").refunds == 0)
    }

    @Test func `a period is consumed by time, and a lasting item by nothing`() async throws {
        let gate = claim("1", product: "garden.gate")
        let month = claim("2", product: "garden.basic.monthly", item: Self.sprout1, expiresAt: Self.later(40_000))
        #expect(try await redeem(gate, month, for: alice) == [.granted, .granted])
        #expect(try await facts(about: "1").consumed == nil)
        // The catalog tells the type.
        #expect(try await facts(about: "1").type == .nonConsumable)
        let subscription = try await facts(about: "2", after: 10_000, isSubscription: true)
        #expect(subscription.consumed == 25_000 && subscription.type == .autoRenewableSubscription)
    }

    @Test func `a purchase that nobody has redeemed has the facts of its notification`() async throws {
        #expect(try await notify("n", seeds("7")) == .parked)
        #expect(
            try await facts(about: "7")
                == RefundFacts(
                    product: "garden.seeds", type: .consumable, reason: "OTHER", isDelivered: false, age: 3600))
        #expect(try await facts(about: "8") == RefundFacts(reason: "OTHER", isDelivered: false))
    }
}
