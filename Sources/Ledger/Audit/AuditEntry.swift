import Proofs

/// An entry of a user's audit log: mostly a change of what the user owns.
package struct AuditEntry: Hashable, Sendable {
    /// The time at which the event took effect.
    package let happenedAt: Timestamp
    package let event: Event
    package let actor: AuditActor
    /// The origin of the transaction; nil for an event without a purchase.
    package let origin: Origin?
    /// The bundle identifier of the app that sold the transaction; nil for an event without a purchase, and for a refused
    /// purchase of another service's app.
    package let app: String?
    /// The identifier of the transaction, the grant or the spending; for a transfer, of the original transaction.
    package let reference: String
    /// The product, the item or the balance; of an alias, `id` or `customer`.
    package let subject: String
    /// The team's reason, a refusal's code, or the anonymous id of a log-in; nil if none was given, or if it was erased.
    package let reason: String?
    /// Nil for an event that changes no balance and gives nothing with an end.
    package let measure: Measure?

    /// The number with which an event changes what a user owns. The check of the ledger compares it with the other tables.
    ///
    /// It is indirect, so that an entry stays small enough for throwing functions to return (swiftlang/swift#90477).
    package indirect enum Measure: Hashable, Sendable {
        /// The change of a balance: negative for a spending and for units that were taken back.
        case amount(Int, of: String)
        /// The end of a given item.
        case end(Timestamp)
        /// The money that a store has paid back of a transaction, and the date.
        case refund(Price, at: Timestamp)
    }

    package init(
        happenedAt: Timestamp,
        event: Event,
        actor: AuditActor,
        origin: Origin?,
        app: String? = nil,
        reference: String,
        subject: String,
        reason: String?,
        measure: Measure? = nil
    ) {
        self.happenedAt = happenedAt
        self.event = event
        self.actor = actor
        self.origin = origin
        self.app = app
        self.reference = reference
        self.subject = subject
        self.reason = reason
        self.measure = measure
    }

    /// The entry of a purchase that was redeemed for the first time, with the amount of its credit.
    package func crediting(_ amount: Int, to balance: String) -> AuditEntry {
        AuditEntry(
            happenedAt: happenedAt, event: event, actor: actor, origin: origin, app: app, reference: reference,
            subject: subject, reason: reason, measure: .amount(amount, of: balance))
    }
}

extension AuditEntry.Measure {
    var amount: Int? {
        switch self {
        case .amount(let amount, _): amount
        case .refund(let price, _): Int(price.milliunits)
        case .end: nil
        }
    }

    /// The balance, or the currency of a refund.
    var balance: String? {
        switch self {
        case .amount(_, let balance): balance
        case .refund(let price, _): price.currency
        case .end: nil
        }
    }

    /// The end of an item, or the date of a refund.
    var end: Timestamp? {
        switch self {
        case .end(let date), .refund(_, let date): date
        case .amount: nil
        }
    }

    /// The measure in the next three columns.
    fileprivate init?(_ row: inout ResultRow) throws {
        let (amount, balance, end): (Int?, String?, Timestamp?) = (try row.next(), try row.next(), try row.next())
        if let amount, let balance, let end {
            self = .refund(Price(milliunits: Int64(amount), currency: balance), at: end)
        } else if let amount, let balance {
            self = .amount(amount, of: balance)
        } else if let end {
            self = .end(end)
        } else {
            return nil
        }
    }
}

extension AuditEntry {
    package static let columns = """
        audit.happened_at, event, \(actor), origin, (SELECT bundle_id FROM app WHERE app.app = audit.app), reference,
            \(subject), reason, audit.amount, audit.balance, audit.ends_at
        """

    /// The SQL of the actor of a row of `audit`. The log of each purchase that an app redeems has the user, and none is stored.
    package static let actor = "coalesce(actor, '\(AuditActor.user)')"

    /// The SQL of the subject of a row of `audit`. A record of an unknown product has none, which breaks the chain of digests.
    package static let subject = "coalesce(subject, \(ProductRecords.identifier(in: "audit")), '')"

    /// The entry in the next columns, which are `columns`.
    package init(_ row: inout ResultRow) throws {
        self.init(
            happenedAt: try row.next(), event: try row.next(), actor: try row.next(), origin: try row.next(),
            app: try row.next(), reference: try row.next(), subject: try row.next(), reason: try row.next(),
            measure: try Measure(&row))
    }

    /// The money that a store has paid back; nil if the event is no refund, or the amount is unknown.
    package var refund: Price? { if case .refund(let price, _) = measure { price } else { nil } }
}

package enum AuditActor: Hashable, Sendable, CustomStringConvertible, SQLConvertible {
    /// The user's own app.
    case user
    /// The holder of an API key, by the key's identifier.
    case apiKey(String)
    /// A person of the team, by the name at the console.
    case member(String)
    /// The store that sold the purchase.
    case store(PurchaseStore)
    /// Till itself: by the team's rules, or for entries older than the audit log.
    case till

    private static let keyPrefix = "key "
    private static let memberPrefix = "member "

    /// The actor who changed something for the team.
    ///
    /// - Parameter caller: The identifier of an API key, or `member NAME` for a person.
    package init(caller: String) {
        self =
            caller.hasPrefix(Self.memberPrefix)
            ? .member(String(caller.dropFirst(Self.memberPrefix.count))) : .apiKey(caller)
    }

    /// The name of a person as the caller of a use case.
    package static func caller(member name: String) -> String { memberPrefix + name }

    /// The SQL that joins the table `audit` with the API key of each actor. Another actor has none.
    package static let keyJoin = """
        LEFT JOIN api_key ON audit.actor LIKE '\(keyPrefix)%'
            AND api_key.key_id = substr(audit.actor, \(keyPrefix.count + 1))
        """

    /// The identifier of the API key; nil for another actor.
    package var keyIdentifier: String? {
        guard case .apiKey(let identifier) = self else { return nil }
        return identifier
    }

    package var description: String {
        switch self {
        case .user: "user"
        case .apiKey(let identifier): Self.keyPrefix + identifier
        case .member(let name): Self.memberPrefix + name
        case .store(let store): store.name
        case .till: "till"
        }
    }

    package var sqlValue: SQLValue { self == .user ? .null : .text(description) }

    package init?(_ value: SQLValue) {
        guard let text = String(value) else { return nil }
        switch text {
        case "user": self = .user
        case "till": self = .till
        default:
            if text.hasPrefix(Self.memberPrefix) {
                self = .member(String(text.dropFirst(Self.memberPrefix.count)))
                return
            }
            if text.hasPrefix(Self.keyPrefix) {
                self = .apiKey(String(text.dropFirst(Self.keyPrefix.count)))
                return
            }
            guard let store = PurchaseStore(name: text) else { return nil }
            self = .store(store)
        }
    }
}
