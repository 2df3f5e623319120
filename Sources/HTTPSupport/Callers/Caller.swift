import Commerce
import Ledger

/// Who sent a request, as far as the service has to know.
package enum Caller: Hashable, Sendable {
    /// A team's back end, by its API key's identifier.
    ///
    /// - Parameter app: The bundle identifier of the only app that the key is for; nil for all apps.
    case backEnd(key: String, scopes: Set<APIKeyScope>, app: String?)
    /// The app of a user, by the user's token.
    ///
    /// - Parameter app: The bundle identifier of the app that the token is for; nil if the token does not say it.
    case app(User, app: String?)

    /// The bundle identifier of the only app that the caller is for; nil for all apps.
    package var app: String? {
        switch self {
        case .backEnd(_, _, let app), .app(_, let app): app
        }
    }

    /// True for a back end with an API key.
    package var isBackEnd: Bool {
        if case .backEnd = self { true } else { false }
    }

    /// The name under which limits and kept answers are counted.
    package var name: String {
        switch self {
        case .backEnd(let key, _, _): key
        case .app(let user, _): IdempotencyKey.caller(user)
        }
    }

    /// As the audit log names it.
    package var actor: AuditActor {
        switch self {
        case .backEnd(let key, _, _): .apiKey(key)
        case .app: .user
        }
    }
}
