/// The session that a token names.
public struct SessionReference: Hashable, Sendable {
    /// 16 bytes; one identifier for access tokens, another for refresh tokens.
    public let identifier: [UInt8]
    /// The number of the session's user; nil in a token of an earlier version.
    public let user: Int64?

    public init(identifier: [UInt8], user: Int64? = nil) {
        self.identifier = identifier
        self.user = user
    }
}
