import Foundation

/// The result of setting an account token.
package enum AppAccountTokenAnswer: Hashable, Sendable {
    /// The user has the token now, or had it before.
    case set
    /// The user has another token, which purchases may name already.
    case hasAnother(UUID)
    /// The token is another user's.
    case ofAnotherUser
}
