import AppStore
import Catalog
import Entitlements
import Foundation
import HTTPSupport
import Ledger
import Logging
import Proofs
import Service
import ServiceLifecycle
import TestSupport
import Testing
import Vocabulary

/// The answers of refund rules to the store's questions, over a socket.
@Suite struct RefundRuleTests {
    private static let rules = """
        {"dryRun": false, "rules": [
          {"name": "often", "refunds": {"atLeast": 1}, "answer": "DECLINE"},
          {"name": "not delivered", "isDelivered": false, "answer": "GRANT_FULL"},
          {"name": "accident", "types": ["Consumable"], "reasons": ["UNINTENDED_PURCHASE"], "answer": "GRANT_PRORATED"}
        ]}
        """

    private let alice: User

    init() throws {
        alice = try #require(User(name: "alice"))
    }

    /// A service with its store.
    private final class Shop: Sendable {
        let garden: TestGarden
        let service: EntitlementService

        init(_ rules: String?) throws {
            garden = try TestGarden(refundRules: rules)
            service = EntitlementService(
                apps: Apps(App(garden.catalog)), verifier: try garden.verifier(),
                ledger: try Ledger(file: garden.folder.file("ledger.sqlite")), clock: garden.store.clock)
        }

        /// - Returns: The identifier of the transaction.
        func buy(_ product: String, for user: User?) async throws -> String {
            let bought = try garden.buy(product)
            if let user {
                _ = try await service.redeem(
                    Array(try garden.store.signedTransaction(bought.identifier).utf8), for: user)
            }
            return try #require(bought.purchase?.transactionIdentifier)
        }

        func receiveLast() async throws {
            let last = try #require(try garden.store.notifications().last)
            _ = try await service.receive(notification: Array(last.signedPayload.utf8))
        }

        /// Requests a refund, and lets the service answer.
        ///
        /// - Returns: The answer as JSON.
        func answer(about transaction: String, _ reason: ConsumptionRequestReason) async throws -> String {
            try garden.store.requestRefund(of: transaction, reason: reason)
            try await receiveLast()
            try await garden.withStore { [service] client in
                let reconciler = service.reconciler(of: service.apps.first, asking: client, about: [.localSandbox])
                let responder = reconciler.consumptionResponder(
                    answering: (refundPreference: .decline, sampleContentProvided: false), metrics: ServiceMetrics(),
                    logger: Logger(label: "tests", factory: { _ in SwiftLogNoOpLogHandler() }))
                let task = Task { try await responder.run() }
                defer { task.cancel() }
                try await expectEventually {
                    try await service.ledger.read {
                        try $0.openConsumptionRequests(at: service.clock.now(), of: [.localSandbox], limit: 1)
                    } == []
                }
                task.cancel()
                _ = await task.result
            }
            return try #require(try garden.store.read { try $0.consumption(of: transaction) })
        }

        /// The refund answers in the audit log of a user, each with its reason.
        func answers(of user: User) async throws -> [String] {
            try await service.ledger.read { try $0.audit(of: user) }.map(\.entry)
                .filter { $0.event == .refundAnswered }.map { "\($0.actor) \($0.subject): \($0.reason ?? "")" }
        }
    }

    private struct Answer: Decodable, Equatable {
        let deliveryStatus: String
        var refundPreference: String?
        var consumptionPercentage: Int?
    }

    private func answer(_ shop: Shop, _ transaction: String, _ reason: ConsumptionRequestReason) async throws -> Answer
    {
        try JSONDecoder().decode(Answer.self, from: Data(try await shop.answer(about: transaction, reason).utf8))
    }

    @Test func `the rules answer by what was consumed and refunded, and each answer is audited`() async throws {
        let shop = try Shop(Self.rules)
        let seeds = try await shop.buy("garden.seeds", for: alice)
        let spending = shop.service.newSpending(of: 4, from: "seeds", reason: "a bed", by: "K")
        _ = try await shop.service.spend(spending, for: alice)
        #expect(
            try await answer(shop, seeds, .unintendedPurchase)
                == Answer(
                    deliveryStatus: "DELIVERED", refundPreference: "GRANT_PRORATED", consumptionPercentage: 40_000))
        // The store agrees, and takes the seeds that are left. Later questions of this customer are declined.
        try shop.garden.store.refund(seeds, isProrated: true)
        try await shop.receiveLast()
        let refunded = try #require(try await shop.service.transactions(of: alice, before: nil, limit: 9).first)
        let paid = try #require(refunded.paidAmount)
        #expect(refunded.paidBack?.amount == paid * 60 / 100 && refunded.paidBack?.isWhole == false)
        #expect(try await shop.service.balances(of: alice).map(\.amount) == [0])
        let more = try await shop.buy("garden.seeds", for: alice)
        #expect(try await answer(shop, more, .unintendedPurchase).refundPreference == "DECLINE")
        // No rule matches a customer without refunds and with another reason.
        let bob = try #require(User(name: "bob"))
        let others = try await shop.buy("garden.seeds", for: bob)
        #expect(
            try await answer(shop, others, .other)
                == Answer(deliveryStatus: "DELIVERED", refundPreference: "DECLINE", consumptionPercentage: 0))
        let lost = try await shop.buy("garden.gate", for: nil)
        #expect(
            try await answer(shop, lost, .fulfillmentIssue)
                == Answer(deliveryStatus: "UNDELIVERED_OTHER", refundPreference: "GRANT_FULL"))
        let audited = try await shop.answers(of: alice)
        #expect(audited.count == 2)
        #expect(
            audited.first
                == #"till garden.seeds: GRANT_PRORATED by rule "accident" (consumed 40 %, 0 hours old, refunds: 0)"#)
        #expect(audited.last?.hasPrefix(#"till garden.seeds: DECLINE by rule "often" ("#) == true)
        #expect(
            try await shop.answers(of: bob) == [
                "till garden.seeds: DECLINE, no rule matched (consumed 0 %, 0 hours old, refunds: 0)"
            ])
    }

    @Test func `a prorated refund ends a subscription, and leaves the price of the time that was used`() async throws {
        let shop = try Shop(nil)
        let monthly = try await shop.buy("garden.premium.monthly", for: alice)
        let period = try shop.garden.store.sale(monthly)
        let end = try #require(period.expiresDate).millisecondsSince1970
        _ = try shop.garden.store.advance(seconds: (end - period.purchaseDate.millisecondsSince1970) / 4_000)
        try shop.garden.store.refund(monthly, isProrated: true)
        try await shop.receiveLast()
        #expect(try await shop.service.subscriptions(of: alice).map(\.state) == [.revoked])
        let charges = try await shop.service.transactions(of: alice, before: nil, limit: 9)
        let paid = try #require(charges.first?.paidPrice)
        let back = Price(milliunits: paid.milliunits * 3 / 4, currency: paid.currency)
        let kept = Price(milliunits: paid.milliunits - back.milliunits, currency: paid.currency)
        #expect(charges.map(\.keptAmount) == [kept.milliunits])
        #expect(charges.spent(inSandbox: true) == [kept])
        let story = try await shop.service.ledger.read { try $0.audit(of: alice) }.map(\.entry)
        #expect(story.filter { $0.event == .revoked }.map(\.refund) == [back])
    }

    @Test func `a dry run records what the rules would answer, and sends the preference of the settings`() async throws
    {
        let shop = try Shop(Self.rules.replacing("\"dryRun\": false", with: "\"dryRun\": true"))
        let seeds = try await shop.buy("garden.seeds", for: alice)
        #expect(
            try await answer(shop, seeds, .unintendedPurchase)
                == Answer(deliveryStatus: "DELIVERED", refundPreference: "DECLINE"))
        #expect(
            try await shop.answers(of: alice) == [
                #"till garden.seeds: dry run, GRANT_FULL by rule "accident" (consumed 0 %, 0 hours old, refunds: 0)"#
            ])
    }

    @Test func `a question is due for twelve hours, and then missed`() async throws {
        let shop = try Shop(nil)
        let seeds = try await shop.buy("garden.seeds", for: alice)
        func duties() async throws -> OpenDuties {
            try await shop.service.openDuties([.consumptionAnswer: [.localSandbox]])
        }
        _ = try await shop.answer(about: seeds, .other)
        #expect(try await duties().isEmpty)
        let gate = try await shop.buy("garden.gate", for: alice)
        try shop.garden.store.requestRefund(of: gate, reason: .other)
        try await shop.receiveLast()
        let due = try #require(try await duties().due.first)
        #expect(due.subject == gate && due.deadline == shop.garden.store.clock.now().adding(seconds: 12 * 3600))
        #expect(try await !duties().isUrgent)
        shop.garden.clock.advance(milliseconds: 7 * 3_600_000)
        #expect(try await duties().isUrgent)
        // A service with another App Store has not taken the question on.
        #expect(try await shop.service.openDuties([.consumptionAnswer: [.appleSandbox]]).isEmpty)
        shop.garden.clock.advance(milliseconds: 5 * 3_600_000)
        #expect(try await duties().missed == [due])
    }

    @Test func `without rules nothing is recorded`() async throws {
        let shop = try Shop(nil)
        let seeds = try await shop.buy("garden.seeds", for: alice)
        #expect(try await answer(shop, seeds, .other).refundPreference == "DECLINE")
        #expect(try await shop.answers(of: alice) == [])
    }
}
