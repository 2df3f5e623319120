import Entitlements
import Features
import Ledger
import Proofs
import Vocabulary

/// The facts about a change of alice's purchases, in days of January 2027.
struct RevenueCatFixture {
    static let monthly = "garden.premium.monthly"
    static let app = "com.example.garden"

    /// Midnight of a day of January 2027. Days outside the month are counted on.
    static func day(_ day: Int64) -> Timestamp { Timestamp(secondsSince1970: 1_798_761_600).adding(days: day - 1) }

    var facts: RevenueCatFacts

    /// - Parameters:
    ///   - day: The time of the event.
    ///   - reference: The transaction or the grant.
    init(
        _ event: AuditEntry.Event,
        _ reference: String,
        _ subject: String = monthly,
        on day: Int64 = 1,
        actor: AuditActor = .store(.appStore),
        origin: Origin? = .appleProduction,
        reason: String? = nil
    ) {
        facts = RevenueCatFacts(
            Self.entry(event, reference, subject, on: day, actor: actor, origin: origin, reason: reason),
            messageIdentifier: "msg_1", customer: ["alice"])
        facts.rights = ["premium"]
    }

    static func entry(
        _ event: AuditEntry.Event,
        _ reference: String,
        _ subject: String = monthly,
        on day: Int64,
        actor: AuditActor = .store(.appStore),
        origin: Origin? = .appleProduction,
        reason: String? = nil
    ) -> AuditEntry {
        AuditEntry(
            happenedAt: Self.day(day), event: event, actor: actor, origin: origin, reference: reference,
            subject: subject, reason: reason)
    }

    /// Adds a transaction of the purchase that began with the transaction "1".
    ///
    /// - Parameter original: The identifier of the purchase.
    func having(
        _ identifier: String,
        _ product: String = monthly,
        of original: String = "1",
        type: ProductType? = .autoRenewableSubscription,
        from start: Int64,
        to end: Int64?,
        graceUntil grace: Int64? = nil,
        refundedOn refund: Int64? = nil,
        revocation: Revocation? = nil,
        price: Int64? = 4990,
        currency: String? = "EUR",
        _ stated: [TransactionFact: StatedValue] = [:]
    ) -> Self {
        var values = stated
        values[.type] = type.map { .text($0.rawValue) }
        values[.price] = price.map { .integer($0) }
        values[.currency] = currency.map { .text($0) }
        values[.storefront] = .text("DEU")
        var fixture = self
        fixture.facts.transactions.append(
            RedeemedTransaction(
                sequence: Int64(facts.transactions.count + 1), origin: facts.entry.origin ?? .appleProduction,
                transactionIdentifier: identifier, originalTransactionIdentifier: original, productIdentifier: product,
                purchaseDate: Self.day(start), redeemedAt: Self.day(start),
                revocationDate: refund.map { Self.day($0) },
                app: Self.app, expiresAt: end.map { Self.day($0) }, graceEndsAt: grace.map { Self.day($0) },
                revocation: revocation,
                facts: TransactionFacts(values)))
        return fixture
    }

    func with(_ change: (inout RevenueCatFacts) -> Void) -> Self {
        var fixture = self
        change(&fixture.facts)
        return fixture
    }

    /// - Parameter end: The end of the grant.
    static func grant(until end: Timestamp? = nil) -> Grant {
        Grant(
            identifier: "g", item: Item(collection: "plus", number: 2), reason: "an apology", grantedBy: "K",
            grantedAt: day(1), endsAt: end)
    }

    var event: RevenueCatEvent? { RevenueCatEvent(facts) }
}
