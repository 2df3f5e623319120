/// An account with the service, as its user sees it.
public struct AccountResource: Codable, Sendable {
    /// The user's name with the issuer `till`, for back ends.
    public let accountId: String
    /// nil for an account whose address was proven to be somebody else's.
    public let email: String?
    /// RFC 3339, UTC; nil before the address is verified.
    public let emailVerifiedAt: String?
    /// RFC 3339, UTC.
    public let createdAt: String

    public init(accountId: String, email: String?, emailVerifiedAt: String? = nil, createdAt: String) {
        self.accountId = accountId
        self.email = email
        self.emailVerifiedAt = emailVerifiedAt
        self.createdAt = createdAt
    }
}
