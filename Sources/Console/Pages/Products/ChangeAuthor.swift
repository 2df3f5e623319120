import Ledger

/// The author of a change: a person of the team, or an API key.
struct ChangeAuthor: Sendable {
    private let actor: AuditActor
    /// The name of the API key; nil for a person, or for a key that the ledger does not have.
    private let keyName: String?

    /// - Parameter keys: The names of API keys by their identifiers.
    init(_ caller: String, keys: [String: String]) {
        actor = AuditActor(caller: caller)
        keyName = keys[caller]
    }

    var html: HTML {
        HTML {
            if case .member(let name) = actor {
                data(name)
            } else {
                Phrase("API key", "API 키")
                plain(" ")
                data(keyName ?? actor.keyIdentifier ?? actor.description)
            }
        }
    }
}
