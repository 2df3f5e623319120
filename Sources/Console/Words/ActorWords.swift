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
    var title: Phrase { word.title }

    private var word: Shown.Word {
        switch self {
        case .granted: (Phrase("Redeemed", context: "event"), .good)
        case .revoked: ("Revoked", .bad)
        case .productChanged: ("Product changed", .neutral)
        case .refused: ("Refused", .bad)
        case .transferredIn: ("Came from another customer", .good)
        case .transferredOut: ("Went to another customer", .warning)
        case .moved: ("Purchase moved", .neutral)
        case .itemGiven: ("Item given", .good)
        case .itemTakenBack: ("Item taken back", .bad)
        case .assigned: ("Purchase assigned", .good)
        case .credited: ("Balance increased", .good)
        case .spent: ("Balance spent", .neutral)
        case .expired: ("Expired", .neutral)
        case .renewalFailed: ("Renewal failed", .warning)
        case .gracePeriodBegan: ("Grace period began", .warning)
        case .autoRenewDisabled: ("Renewal turned off", .warning)
        case .autoRenewEnabled: ("Renewal turned on", .good)
        case .aliased: ("Anonymous customer logged in", .neutral)
        case .refundAnswered: ("Refund question answered", .neutral)
        case .erased: ("Customer erased", .neutral)
        }
    }

    /// The effect for the customer.
    var mood: Shown.Mood { word.mood }
}

extension NotificationOutcome {
    var title: Phrase { word.title }

    private var word: Shown.Word {
        switch self {
        case .granted: ("Given to the customer", .good)
        case .revoked: ("Taken from the customer", .bad)
        case .recorded: ("Recorded, nothing changed", .neutral)
        case .parked: ("Waits for a customer", .warning)
        case .duplicate: ("Received before", .neutral)
        }
    }

    var badge: HTML { Shown.badge(word) }
}

enum OriginWords {
    @HTMLBuilder static func html(_ origin: Origin) -> HTML {
        spaced(Shown.origin(origin), mark(origin))
    }

    /// A badge for an origin whose purchases cost nothing; nil for real purchases.
    static func mark(_ origin: Origin?) -> HTML? {
        switch origin {
        case .appleProduction, .googleProduction, nil: nil
        case .appleSandbox: Shown.badge("Sandbox", .warning)
        case .xcode: Shown.badge("Xcode", .warning)
        case .googleTest: Shown.badge("License tester", .warning)
        case .localProduction, .localPlayProduction: Shown.badge("Local store", .warning)
        case .localSandbox, .localPlayTest: Shown.badge("Local sandbox", .warning)
        }
    }
}
