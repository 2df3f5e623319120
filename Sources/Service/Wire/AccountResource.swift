/// An account with the service, in its user's view.
public struct AccountResource: Codable, Sendable {
    /// The user's name under the issuer `till`. Back ends use it.
    public let accountId: String
    /// The e-mail address. Nil after another account has proven its ownership of the address.
    public let email: String?
    /// RFC 3339, UTC. Nil until the address is verified.
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
