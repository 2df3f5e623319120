import Commerce
import Ledger

/// Who sent a request, as far as the service has to know.
package enum Caller: Sendable {
    /// A team's back end, by its API key's identifier.
    case backEnd(key: String, scopes: Set<APIKeyScope>)
    /// The app of a user, by the user's token.
    case app(User)

    /// What limits and kept answers are counted under.
    package var name: String {
        switch self {
        case .backEnd(let key, _): key
        case .app(let user): IdempotencyKey.caller(user)
        }
    }

    /// As the audit log names it.
    package var actor: AuditActor {
        switch self {
        case .backEnd(let key, _): .apiKey(key)
        case .app: .user
        }
    }
}
