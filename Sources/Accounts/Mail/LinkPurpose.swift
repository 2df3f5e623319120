/// The use of a link that is mailed to the user of an account.
public enum LinkPurpose: String, Sendable, CaseIterable {
    /// Confirms the address of an account. If the account is somebody else's, it frees the address instead.
    case verification
    /// Sets a new password.
    case reset
    /// Confirms, at the address of an account, that another one takes its place.
    case addressChange
    /// Confirms the address that takes the place of another one.
    case newAddress

    /// The seconds for which a link is valid.
    public var lifetime: Int64 {
        switch self {
        case .reset: 3600
        case .verification, .addressChange, .newAddress: 86_400
        }
    }
}
