import Entitlements
import Features
import Ledger
import Proofs
import Testing

/// The number of messages in RevenueCat's format about an event (revenuecat.com/docs/integrations/webhooks).
@Suite struct RevenueCatOccasionTests {
    private typealias Fixture = RevenueCatFixture

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let event: AuditEntry.Event
        var reason: String?
        var earlier: Set<AuditEntry.Event> = []
        /// The money of the event, in milliunits.
        var refund: Int64?
        /// The purchase, whose transaction "1" the event is about.
        var purchase = Fixture(.granted, "1").having("1", from: 1, to: 31)
        /// The types, in their order.
        let types: [String]
    }

    private static func refunded(from start: Int64 = 1, on day: Int64) -> RevenueCatFixture {
        Fixture(.granted, "1").having("1", from: start, to: 31, refundedOn: day)
    }

    static let cases = [
        Case(testDescription: "a renewal", event: .granted, types: ["INITIAL_PURCHASE"]),
        // "RevenueCat will immediately dispatch a BILLING_ISSUE event and a CANCELLATION event" ("Billing Issue Flow").
        Case(testDescription: "a grace period", event: .gracePeriodBegan, types: ["BILLING_ISSUE", "CANCELLATION"]),
        Case(
            testDescription: "a failed renewal without a grace period", event: .renewalFailed,
            types: ["BILLING_ISSUE", "CANCELLATION", "EXPIRATION"]),
        Case(
            testDescription: "a failed renewal after a grace period", event: .renewalFailed,
            earlier: [.granted, .gracePeriodBegan], types: ["EXPIRATION"]),
        Case(testDescription: "an end", event: .expired, earlier: [.granted], types: ["EXPIRATION"]),
        // No type of "Event Types and Fields" tells of an end that is only near.
        Case(testDescription: "an end that is near", event: .endsSoon, earlier: [.autoRenewDisabled], types: []),
        Case(testDescription: "the end of the retries", event: .expired, earlier: [.renewalFailed], types: []),
        // "Subscription Paused Flow".
        Case(
            testDescription: "a pause", event: .paused, reason: "2027-03-01T00:00:00Z",
            types: ["SUBSCRIPTION_PAUSED", "EXPIRATION"]),
        Case(
            testDescription: "a failed renewal after a pause", event: .renewalFailed, earlier: [.paused],
            types: ["BILLING_ISSUE", "CANCELLATION"]),
        Case(testDescription: "an end in a pause", event: .expired, earlier: [.paused], types: []),
        // Access is removed at an EXPIRATION ("Event Types and Fields").
        Case(
            testDescription: "a refund of the last period", event: .revoked, purchase: refunded(on: 5),
            types: ["CANCELLATION", "EXPIRATION"]),
        Case(
            testDescription: "a refund after the end", event: .revoked, earlier: [.expired],
            purchase: refunded(on: 40), types: ["CANCELLATION"]),
        // "Refunds for earlier subscription periods do not trigger this event" (`CANCELLATION`).
        Case(
            testDescription: "a refund of an earlier period", event: .revoked,
            purchase: refunded(on: 40).having("2", from: 31, to: 61), types: []),
        Case(
            testDescription: "a refund of an earlier period after a refund of the last one", event: .revoked,
            purchase: refunded(on: 40).having("2", from: 31, to: 61, refundedOn: 39), types: []),
        Case(
            testDescription: "a refund of a longer period before a shorter one", event: .revoked,
            purchase: refunded(on: 9).having("2", "garden.gold.weekly", from: 8, to: 15), types: []),
        Case(
            testDescription: "a refund of a period that has not begun", event: .revoked,
            purchase: refunded(from: 8, on: 5).having("0", from: 1, to: 8), types: ["CANCELLATION"]),
        Case(
            testDescription: "a refund of one of two transactions of a period", event: .revoked,
            purchase: refunded(on: 5).having("2", from: 3, to: 31), types: ["CANCELLATION"]),
        Case(
            testDescription: "a refund of the last of two transactions of a period", event: .revoked,
            purchase: refunded(on: 5).having("2", from: 3, to: 31, refundedOn: 5),
            types: ["CANCELLATION", "EXPIRATION"]),
        Case(
            testDescription: "a refund of an item for life", event: .revoked,
            purchase: Fixture(.granted, "1").having("1", type: .nonConsumable, from: 1, to: nil, refundedOn: 5),
            types: ["CANCELLATION"]),
        Case(
            testDescription: "the team revokes the whole purchase", event: .revoked, reason: "fraud",
            purchase: Fixture(.granted, "1").having("1", from: 1, to: 31).having("2", from: 31, to: 61),
            types: ["CANCELLATION", "EXPIRATION"]),
        Case(
            testDescription: "money back for the last period, which stays", event: .paymentRefunded,
            types: ["CANCELLATION"]),
        Case(
            testDescription: "money back for an earlier period", event: .paymentRefunded,
            purchase: Fixture(.granted, "1").having("1", from: 1, to: 31).having("2", from: 31, to: 61), types: []),
        Case(
            testDescription: "goods that are taken after their money was paid back", event: .revoked,
            earlier: [.paymentRefunded], refund: 0, purchase: refunded(on: 5), types: ["EXPIRATION"]),
        Case(
            testDescription: "goods that are taken with the rest of their money", event: .revoked,
            earlier: [.paymentRefunded], refund: 2000, purchase: refunded(on: 5),
            types: ["CANCELLATION", "EXPIRATION"]),
        Case(
            testDescription: "goods that are taken after the end and after their money", event: .revoked,
            earlier: [.expired, .paymentRefunded], refund: 0, purchase: refunded(on: 40), types: []),
        Case(
            testDescription: "an upgrade", event: .productChanged, reason: "garden.gold.monthly",
            types: ["PRODUCT_CHANGE"]),
        Case(
            testDescription: "another plan for the next renewal", event: .planChosen, reason: "garden.gold.monthly",
            types: ["PRODUCT_CHANGE"]),
        Case(testDescription: "a choice that is taken back", event: .planChosen, types: []),
        Case(testDescription: "an extended period", event: .periodExtended, types: ["SUBSCRIPTION_EXTENDED"]),
        Case(testDescription: "renewal off", event: .autoRenewDisabled, types: ["CANCELLATION"]),
        Case(
            testDescription: "renewal off by a replacement", event: .autoRenewDisabled, reason: "replacement", types: []
        ),
        Case(testDescription: "a transfer to the user", event: .transferredIn, types: []),
        Case(testDescription: "a refusal", event: .refused, types: []),
    ]

    @Test(arguments: cases) func `an event has the messages of RevenueCat`(_ expected: Case) throws {
        var facts = Fixture(expected.event, "1", reason: expected.reason).facts
        facts.transactions = expected.purchase.facts.transactions
        let transaction = facts.transactions.first { $0.transactionIdentifier == "1" }
        let occasion = RevenueCatOccasion(
            earlier: expected.earlier, transaction.map { .init($0) },
            beside: facts.transactions.filter { $0 != transaction }.map { .init($0) })
        if let amount = expected.refund {
            let money = Price(milliunits: amount, currency: "USD")
            facts.entry = AuditEntry(
                happenedAt: facts.entry.happenedAt, event: expected.event, actor: .store(.appStore),
                origin: facts.entry.origin, app: facts.entry.app, reference: "1", subject: facts.entry.subject,
                reason: nil, measure: .refund(money, at: facts.entry.happenedAt))
        }
        let messages = RevenueCatEvent.messages(about: facts.entry, on: occasion)
        let types = try messages.map { companion in
            facts.companion = companion
            return try #require(RevenueCatEvent(facts)).kind.rawValue
        }
        #expect(types == expected.types)
    }
}
