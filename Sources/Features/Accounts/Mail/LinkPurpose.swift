/// The purpose of a mailed link.
package enum LinkPurpose: String, Sendable, CaseIterable {
    /// Verifies the address of an account. If the account is another person's, it releases the address instead.
    case verification
    /// Sets a new password.
    case reset
    /// Confirms at the old address that a new one replaces it.
    case addressChange
    /// Confirms the new address.
    case newAddress

    /// The lifetime of a link, in seconds.
    var lifetime: Int64 {
        switch self {
        case .reset: 3600
        case .verification, .addressChange, .newAddress: 86_400
        }
    }
}
