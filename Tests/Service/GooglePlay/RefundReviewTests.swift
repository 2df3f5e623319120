import Catalog
import Entitlements
import Foundation
import HTTPSupport
import Ledger
import PlayStore
import Proofs
import Service
import TestSupport
import Testing

/// The answers to a local Google Play about payments that banks dispute.
@Suite struct RefundReviewTests {
    private static let rules = """
        {"dryRun": false, "rules": [
          {"name": "accident", "reasons": ["UNINTENDED_PURCHASE"], "answer": "GRANT_FULL"},
          {"name": "used", "consumedPercent": {"atLeast": 30}, "answer": "DECLINE"},
          {"name": "not delivered", "isDelivered": false, "answer": "GRANT_FULL"}
        ]}
        """

    private static func respond(
        _ service: PlayService, _ preference: GoogleRefundPreference = .neutral, sampleContentProvided: Bool = false
    ) async throws {
        try await service.app.refundReviewResponder(
            answering: (preference, sampleContentProvided), metrics: service.metrics, logger: ServiceFixture.logger
        ).perform()
    }

    /// Buys seeds as alice, redeems them, and disputes the payment.
    ///
    /// - Returns: The order.
    private static func disputeSeeds(_ played: PlayService, spending amount: Int? = nil) async throws -> String {
        let bought = try await played.buySeeds()
        #expect(try await played.redeem(bought.token).status == 200)
        if let amount {
            let spending = played.entitlements.newSpending(of: amount, from: "seeds", reason: "a secret bed", by: "K")
            _ = try await played.entitlements.spend(spending, for: played.alice)
        }
        let order = try #require(bought.orderId)
        try await played.dispute(order)
        return order
    }

    @Test func `the rules answer with the evidence of the ledger, and the payment stays`() async throws {
        try await PlayService.run(refundRules: Self.rules) { played async throws in
            let order = try await Self.disputeSeeds(played, spending: 4)
            try await Self.respond(played, sampleContentProvided: true)
            let review = try #require(try played.reviews().first)
            #expect(review.state == .answered && review.orderId == order)
            let answer = try #require(review.answer)
            #expect(answer.refundPreference == "DECLINE" && answer.sampleContentProvided == true)
            #expect(answer.consumptionPercentageMilliunits == 40_000)
            let events = try #require(answer.consumptionUsageEvents)
            #expect(
                events.map(\.consumptionItemDescription) == [
                    "Delivered to the customer's account: garden.seeds", "Spent 4 of 10 seeds",
                ])
            let token = try await played.entitlements.appAccountToken(of: played.alice).uuidString
            #expect(events.allSatisfy { $0.obfuscatedAccountId == token && $0.consumptionTime != nil })
            let audited = try await played.answers()
            #expect(
                audited == [
                    #"garden.seeds: chargeback: DECLINE by rule "used" (consumed 40 %, 0 hours old, refunds: 0)"#
                ])
            #expect(
                played.metrics.text(queueDepth: 0).contains(
                    #"till_refund_reviews_total{outcome="accepted",code=""} 1"#))
            // The secret of the answer is not kept.
            let stored = try await played.stored()
            #expect(stored.count == 1 && stored[0].pendingRefundToken == nil && stored[0].settledAt != nil)

            try await Self.respond(played)
            try played.advance(days: 1, seconds: 1)
            #expect(try played.reviews().map(\.state) == [.kept])
            #expect(try await played.seeds() == 6)
        }
    }

    @Test func `without rules the preference of the settings is sent, and a refund takes the purchase back`()
        async throws
    {
        try await PlayService.run { played async throws in
            _ = try await Self.disputeSeeds(played)
            try await Self.respond(played, .approve)
            let answer = try #require(try played.reviews().first?.answer)
            #expect(answer.refundPreference == "APPROVE" && answer.sampleContentProvided == false)
            #expect(answer.consumptionPercentageMilliunits == 0)
            #expect(
                try await played.answers() == [
                    "garden.seeds: chargeback: APPROVE, no rule matched (consumed 0 %, 0 hours old, refunds: 0)"
                ])
            try played.advance(days: 1, seconds: 1)
            try await played.expect("VOIDED_PURCHASE")
            #expect(try played.reviews().map(\.state) == [.refunded])
        }
    }

    @Test func `a purchase that nobody has redeemed was not delivered`() async throws {
        try await PlayService.run(refundRules: Self.rules) { played async throws in
            // Without an account identifier, the notification leads to nobody.
            let bought = try played.fixture.buy("garden.seeds")
            try await played.dispute(try #require(bought.orderId))
            try await Self.respond(played, .decline)
            let answer = try #require(try played.reviews().first?.answer)
            #expect(answer.refundPreference == "APPROVE" && answer.consumptionPercentageMilliunits == 0)
            #expect(answer.consumptionUsageEvents == nil)
            #expect(try await played.answers() == [])
            #expect(try await played.stored().map(\.answer) == [#"APPROVE by rule "not delivered""#])
        }
    }

    @Test func `a renewal that the ledger does not have yet is asked about first`() async throws {
        try await PlayService.run(.issuer(try TestPushIssuer.shared.get())) { played async throws in
            let order = try await played.order("garden.basic.monthly")
            let bought = try played.play.perform { try $0.subscribe(order) }
            #expect(try await played.redeem(bought.token).status == 200)
            try await played.acknowledge()
            try played.advance(days: 31, seconds: 15 * 86_400)
            let renewal = try #require(try played.fixture.subscription(bought.number).periods.last?.orderId)
            #expect(try await played.transactions().count == 1 && renewal != bought.periods.last?.orderId)
            let dispute = try played.play.perform { try $0.dispute(order: renewal) }
            let time = played.fixture.garden.clock.now().millisecondsSince1970
            let review = """
                {"version":"1.0","packageName":"\(TestGarden.bundleIdentifier)","eventTimeMillis":"\(time)",
                "pendingRefundReviewNotification":{"pendingRefundToken":"\(dispute.pendingRefundToken)",
                "orderId":"\(renewal)","refundReason":7}}
                """
            #expect(try await played.push(review).status == 200)
            try await Self.respond(played, .decline)
            let answer = try #require(try played.reviews().first?.answer)
            // The half of the month is over.
            #expect((40_000...60_000).contains(try #require(answer.consumptionPercentageMilliunits)))
            #expect(answer.consumptionUsageEvents?.count == 1)
            #expect(try await played.transactions().count == 2)
        }
    }

    @Test func `a dry run records the answer of the rules, and sends the preference of the settings`() async throws {
        let rules = Self.rules.replacing("\"dryRun\": false", with: "\"dryRun\": true")
        try await PlayService.run(refundRules: rules) { played async throws in
            _ = try await Self.disputeSeeds(played, spending: 4)
            try await Self.respond(played, .neutral)
            #expect(try played.reviews().first?.answer?.refundPreference == "NEUTRAL")
            #expect(
                try await played.answers() == [
                    "garden.seeds: chargeback: dry run, DECLINE by rule \"used\" "
                        + "(consumed 40 %, 0 hours old, refunds: 0)"
                ])
        }
    }

    @Test func `an outage of hours delays the answer, and after one of a day it is refused`() async throws {
        try await PlayService.run { played async throws in
            _ = try await Self.disputeSeeds(played)
            let offline = try await played.fixture.service(isReachable: false)
            for _ in 0..<20 {
                try await Self.respond(offline)
                played.fixture.advance(seconds: 3600)
            }
            let attempts = try #require(try await played.stored().first?.attempts)
            #expect(attempts >= 10)
            #expect(
                offline.metrics.text(queueDepth: 0).contains(
                    #"till_refund_reviews_total{outcome="failed",code="googlePlayUnreachable"} \#(attempts)"#))
            try await Self.respond(played)
            #expect(try played.reviews().map(\.state) == [.answered])

            // The customer buys again what is consumed.
            try await played.acknowledge()
            _ = try await Self.disputeSeeds(played)
            for _ in 0..<30 {
                try await Self.respond(offline)
                played.fixture.advance(seconds: 3600)
            }
            let late = try #require(try await played.stored().first)
            #expect(late.nextAttemptAt != nil && late.settledAt == nil)
            try await Self.respond(played)
            #expect(try await played.stored().first?.settledAt != nil)
            #expect(try await played.answers().last?.contains("refused by Google Play: googlePlayRefused") == true)
            let missed = try await played.entitlements.openDuties([.refundReview: [.localPlayProduction]]).missed
            #expect(missed.map(\.subject) == [late.orderId])
        }
    }

    @Test func `a question that is given up keeps no token`() async throws {
        try await PlayService.run { played async throws in
            let offline = try await played.fixture.service(isReachable: false)
            _ = try await Self.disputeSeeds(played)
            try await Self.respond(offline)
            played.fixture.advance(days: 8)
            try await Self.respond(offline)
            let stored = try #require(try await played.stored().first)
            #expect(stored.nextAttemptAt == nil && stored.settledAt == nil && stored.pendingRefundToken == nil)
        }
    }

    @Test func `a question with a wrong token is refused for good`() async throws {
        try await PlayService.run(.issuer(try TestPushIssuer.shared.get())) { played async throws in
            let bought = try await played.buySeeds()
            #expect(try await played.redeem(bought.token).status == 200)
            let order = try #require(bought.orderId)
            let review = #""pendingRefundReviewNotification":{"pendingRefundToken":"r","orderId":"\#(order)"}"#
            for _ in 0..<2 { #expect(try await played.push(PlayService.data(review)).status == 200) }
            // A token of another form answers nothing.
            let unreadable = PlayService.data(review.replacing(#""r""#, with: "1"))
            #expect(try await played.push(unreadable, identifier: "2").status == 200)
            #expect(try await played.stored().count == 1)
            try await Self.respond(played, .decline)
            #expect(try await played.stored().allSatisfy { $0.settledAt != nil })
            #expect(try await played.answers().first?.contains("refused by Google Play: googlePlayRefused") == true)
        }
    }
}

extension PlayService {
    fileprivate func buySeeds() async throws -> OneTimePurchase {
        let order = try await order("garden.seeds")
        return try play.perform { try $0.buy(order) }
    }

    /// Disputes a payment, and waits until the service has the question.
    fileprivate func dispute(_ order: String) async throws {
        let known = try await stored().count
        _ = try play.perform { try $0.dispute(order: order) }
        try await expectEventually { try await stored().count == known + 1 }
    }

    fileprivate func reviews() throws -> [RefundReview] { try play.perform { try $0.reviews() } }

    /// The questions in the ledger, the newest first.
    fileprivate func stored() async throws -> [PendingRefundReview] {
        try await entitlements.ledger.read { try $0.latestRefundReviews(limit: 9) }
    }

    /// The answers in alice's audit log, each with its product and its reason.
    fileprivate func answers() async throws -> [String] {
        let alice = alice
        return try await entitlements.ledger.read { try $0.audit(of: alice) }.map(\.entry)
            .filter { $0.event == .refundAnswered }.map { "\($0.subject): \($0.reason ?? "")" }
    }
}
