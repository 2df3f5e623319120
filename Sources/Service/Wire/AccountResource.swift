/// An account with the service, in its user's view.
package struct AccountResource: Codable, Sendable {
    /// The user's name under the issuer `till`. Back ends use it.
    package let accountId: String
    /// The e-mail address. Nil after another account has proven its ownership of the address.
    package let email: String?
    /// RFC 3339, UTC. Nil until the address is verified.
    package var emailVerifiedAt: String?
    /// RFC 3339, UTC.
    package let createdAt: String
}
