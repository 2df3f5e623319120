import Commerce

/// The error of a use case that writes for a user.
public enum LedgerError: CodedError, Equatable {
    /// The account was never opened, or was erased: nobody could enter it, or own what was written.
    case userUnknown
    case storage(StorageFault)

    public var code: String {
        switch self {
        case .userUnknown: "userNotFound"
        case .storage(let fault): fault.code
        }
    }

    public var message: String {
        switch self {
        case .userUnknown: "The account is unknown, or was erased; nothing was done."
        case .storage(let fault): fault.message
        }
    }
}
