/// A user whom the ledger knows.
public struct KnownUserResource: Codable, Sendable {
    public let user: UserName
    /// The token that the purchases of the user may name.
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
