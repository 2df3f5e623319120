import Commerce

/// Something that happened to what a user owns.
public struct AuditEntry: Hashable, Sendable {
    public enum Event: String, Sendable, CaseIterable, SQLConvertible {
        /// A transaction was redeemed and counts; or whoever had taken it back, the App Store or the team, does so no more, which
        /// leaves what the other has done.
        case granted
        /// The App Store or the team takes a transaction back, or had when it was redeemed.
        case revoked
        /// A user has presented a transaction and was given nothing; the reason is the refusal's code.
        case refused
        /// A purchase has come from another user.
        case transferredIn
        /// A purchase has gone to another user.
        case transferredOut
        /// The team has given an item.
        case itemGiven
        /// The team has taken an item back that it had given.
        case itemTakenBack
        /// The team has assigned an unclaimed purchase to the user.
        case assigned
        /// The team has added to a balance.
        case credited
        /// A part of a balance was spent.
        case spent
        /// A subscription, or a purchase with an end, is over.
        case expired
        /// A renewal could not be charged, and the App Store tries again. The user owns the item no more.
        case renewalFailed
        /// A renewal could not be charged. The user owns the item until the grace period ends.
        case gracePeriodBegan
        case autoRenewDisabled
        case autoRenewEnabled
        /// Who the user was is erased.
        case erased

        package var sqlValue: SQLValue { .text(rawValue) }

        package init?(_ value: SQLValue) {
            guard let text = String(value) else { return nil }
            self.init(rawValue: text)
        }
    }

    /// The time at which it took effect.
    public let happenedAt: Timestamp
    public let event: Event
    public let actor: AuditActor
    /// Of the transaction; nil for what is no purchase.
    public let origin: Origin?
    /// The identifier of the transaction, the original transaction of what was transferred, the grant or the spending.
    public let reference: String
    /// The product, the item or the balance.
    public let subject: String
    /// Why, in the team's words or a refusal's code; nil where nobody said, or what was said is erased.
    public let reason: String?

    package init(
        happenedAt: Timestamp,
        event: Event,
        actor: AuditActor,
        origin: Origin?,
        reference: String,
        subject: String,
        reason: String?
    ) {
        self.happenedAt = happenedAt
        self.event = event
        self.actor = actor
        self.origin = origin
        self.reference = reference
        self.subject = subject
        self.reason = reason
    }
}

/// Who has done something to what a user owns.
public enum AuditActor: Hashable, Sendable, CustomStringConvertible, SQLConvertible {
    /// The user's own app.
    case user
    /// Whoever holds an API key, by the key's identifier.
    case apiKey(String)
    case appStore
    /// Till itself, for what happened before there was an audit log.
    case till

    private static let keyPrefix = "key "

    /// The identifier of the API key; nil for another actor.
    public var keyIdentifier: String? {
        guard case .apiKey(let identifier) = self else { return nil }
        return identifier
    }

    public var description: String {
        switch self {
        case .user: "user"
        case .apiKey(let identifier): Self.keyPrefix + identifier
        case .appStore: "App Store"
        case .till: "till"
        }
    }

    package var sqlValue: SQLValue { .text(description) }

    package init?(_ value: SQLValue) {
        guard let text = String(value) else { return nil }
        switch text {
        case "user": self = .user
        case "App Store": self = .appStore
        case "till": self = .till
        default:
            guard text.hasPrefix(Self.keyPrefix) else { return nil }
            self = .apiKey(String(text.dropFirst(Self.keyPrefix.count)))
        }
    }
}
