import Ledger
import Proofs

/// The caller of a request, as far as the service needs to know.
package enum Caller: Hashable, Sendable {
    /// A team's back end, identified by its API key.
    ///
    /// - Parameter app: The bundle identifier of the only app that the key may use, or nil for all apps.
    case backEnd(key: String, scopes: Set<APIKeyScope>, app: String?)
    /// A user's app, identified by the user's token.
    ///
    /// - Parameter app: The bundle identifier of the token's app, or nil if the token names none.
    case app(User, app: String?)
    /// An app, identified by its public key, which anybody can read in the app. It names its customer by an id. Only its proofs
    /// change what a customer owns.
    ///
    /// - Parameter app: The bundle identifier of the key's app.
    case publicApp(key: String, app: String)

    /// The bundle identifier of the only app that the caller may use. Nil for all apps.
    package var app: String? {
        switch self {
        case .backEnd(_, _, let app), .app(_, let app): app
        case .publicApp(_, let app): app
        }
    }

    /// The bundle identifier of the app of a key, which sees and changes only what belongs to the app. Nil for a key of all apps,
    /// and for a user, who sees everything of their own in each app.
    package var limitingApp: String? {
        switch self {
        case .backEnd(_, _, let app): app
        case .publicApp(_, let app): app
        case .app: nil
        }
    }

    /// True for a back end with an API key.
    package var isBackEnd: Bool {
        if case .backEnd = self { true } else { false }
    }

    /// True for an app with its public key.
    var isPublicApp: Bool {
        if case .publicApp = self { true } else { false }
    }

    /// The name under which the service counts requests and keeps answers. All installations of an app share a public key, so
    /// no answer may be kept under its name.
    package var name: String {
        switch self {
        case .backEnd(let key, _, _), .publicApp(let key, _): key
        case .app(let user, _): IdempotencyKey.caller(user)
        }
    }

    /// The caller's name in the audit log.
    package var actor: AuditActor {
        switch self {
        case .backEnd(let key, _, _), .publicApp(let key, _): .apiKey(key)
        case .app: .user
        }
    }
}
