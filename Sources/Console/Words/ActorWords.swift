import Ledger

/// The person, the program or the API key that has changed something.
enum ActorWords {
    /// - Parameters:
    ///   - caller: The identifier of an API key, or `member NAME` for a person.
    ///   - keys: The names of API keys by their identifiers.
    static func html(caller: String, _ keys: [String: String]) -> HTML { html(AuditActor(caller: caller), keys) }

    static func html(_ actor: AuditActor, _ keys: [String: String]) -> HTML {
        switch actor {
        case .user: HTML { Phrase("the app", "앱") }
        case .appStore: HTML { Phrase("the App Store", "App Store") }
        case .till: HTML { Phrase("Till", "Till") }
        case .member(let name): data(name)
        case .apiKey(let identifier):
            HTML {
                Phrase("API key", "API 키"); plain(" ")
                data(keys[identifier] ?? identifier)
            }
        }
    }
}
