import Proofs

/// The error of a use case that writes for a user.
package enum LedgerError: CodedError, Equatable {
    /// The account was never opened, or was erased. Nobody could sign in to it and own the written rows.
    case userUnknown

    /// The name stands for no user, such as "null". Every device could have it.
    case userBlocked

    /// The bytes of the day for users without a purchase are used up.
    case newcomersLimited(secondsToWait: Int)

    package var code: String {
        switch self {
        case .userUnknown: "userNotFound"
        case .userBlocked: "userInvalid"
        case .newcomersLimited: "tooManyRequests"
        }
    }

    package var message: String {
        switch self {
        case .userUnknown: "The account is unknown or was erased. Nothing was written."
        case .userBlocked:
            "The name stands for no user, like \"null\", or the setting blocked-user-names has it. Send the name of one user."
        case .newcomersLimited(let seconds):
            "New customers have used up their part of the storage. Wait \(seconds) seconds."
        }
    }
}
