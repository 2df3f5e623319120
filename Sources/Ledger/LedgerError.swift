import Commerce

/// The error of a use case that writes for a user.
public enum LedgerError: CodedError, Equatable {
    /// The account was never opened, or was erased. Nobody could sign in to it and own the written rows.
    case userUnknown

    public var code: String { "userNotFound" }

    public var message: String { "The account is unknown or was erased. Nothing was written." }
}
