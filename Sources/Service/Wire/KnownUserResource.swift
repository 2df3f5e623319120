import Features

/// A user of the ledger.
package struct KnownUserResource: Codable, Sendable {
    package let user: UserName
    /// The account token of the user's purchases.
    package let appAccountToken: String
    /// RFC 3339, UTC.
    let firstSeenAt: String
}
