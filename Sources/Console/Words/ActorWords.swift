import Features
import Ledger
import Proofs

/// The person, the program or the API key that has changed something.
enum ActorWords {
    /// - Parameters:
    ///   - caller: The identifier of an API key, or `member NAME` for a person.
    ///   - keys: The names of API keys by their identifiers.
    static func html(caller: String, _ keys: [String: String]) -> HTML { html(AuditActor(caller: caller), keys) }

    @HTMLBuilder static func html(_ actor: AuditActor, _ keys: [String: String]) -> HTML {
        switch actor {
        case .user: "the app"
        case .appStore: "the App Store"
        case .till: "Till"
        case .member(let name): data(name)
        case .apiKey(let identifier):
            "API key"; plain(" ")
            data(keys[identifier] ?? identifier)
        }
    }
}

extension AuditEntry.Event {
    /// The event, without its subject.
    var title: Phrase {
        switch self {
        case .granted: Phrase("Redeemed", context: "event")
        case .revoked: "Revoked"
        case .productChanged: "Product changed"
        case .refused: "Refused"
        case .transferredIn: "Came from another customer"
        case .transferredOut: "Went to another customer"
        case .itemGiven: "Item given"
        case .itemTakenBack: "Item taken back"
        case .assigned: "Purchase assigned"
        case .credited: "Balance increased"
        case .spent: "Balance spent"
        case .expired: "Expired"
        case .renewalFailed: "Renewal failed"
        case .gracePeriodBegan: "Grace period began"
        case .autoRenewDisabled: "Renewal turned off"
        case .autoRenewEnabled: "Renewal turned on"
        case .aliased: "Anonymous customer logged in"
        case .erased: "Customer erased"
        }
    }

    /// The effect for the customer.
    var mood: Shown.Mood {
        switch self {
        case .granted, .transferredIn, .itemGiven, .assigned, .credited, .autoRenewEnabled: .good
        case .refused, .revoked, .itemTakenBack: .bad
        case .renewalFailed, .gracePeriodBegan, .autoRenewDisabled, .transferredOut: .warning
        case .productChanged, .expired, .spent, .aliased, .erased: .neutral
        }
    }
}

extension NotificationOutcome {
    /// The effect of a notification.
    var title: Phrase {
        switch self {
        case .granted: "Given to the customer"
        case .revoked: "Taken from the customer"
        case .recorded: "Recorded, nothing changed"
        case .parked: "Waits for a customer"
        case .duplicate: "Received before"
        }
    }

    /// The title with the outcome's code.
    @HTMLBuilder var html: HTML {
        Shown.badge(title, mood)
        plain(" ")
        code { plain(rawValue) }
    }

    private var mood: Shown.Mood {
        switch self {
        case .granted: .good
        case .revoked: .bad
        case .parked: .warning
        case .recorded, .duplicate: .neutral
        }
    }
}

/// An origin with its mark.
enum OriginWords {
    @HTMLBuilder static func html(_ origin: Origin) -> HTML {
        Shown.identifier(origin.rawValue)
        plain(" ")
        mark(origin)
    }

    /// A badge for an origin whose purchases cost nothing; nil for real purchases.
    static func mark(_ origin: Origin?) -> HTML? {
        switch origin {
        case .appleProduction, nil: nil
        case .appleSandbox: Shown.badge("Sandbox", .warning)
        case .xcode: Shown.badge("Xcode", .warning)
        case .localProduction: Shown.badge("Local store", .warning)
        case .localSandbox: Shown.badge("Local sandbox", .warning)
        }
    }
}
