/// An account with the service, as its user sees it.
public struct AccountResource: Codable, Sendable {
    /// The user's name with the issuer `till`, for back ends.
    public let accountId: String
    public let email: String
    /// RFC 3339, UTC.
    public let createdAt: String

    public init(accountId: String, email: String, createdAt: String) {
        self.accountId = accountId
        self.email = email
        self.createdAt = createdAt
    }
}
