import Features

/// A user of the ledger.
public struct KnownUserResource: Codable, Sendable {
    public let user: UserName
    /// The account token of the user's purchases.
    public let appAccountToken: String
    /// RFC 3339, UTC.
    public let firstSeenAt: String

    public init(
        user: UserName,
        appAccountToken: String,
        firstSeenAt: String
    ) {
        self.user = user
        self.appAccountToken = appAccountToken
        self.firstSeenAt = firstSeenAt
    }
}
