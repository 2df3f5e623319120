/// The session reference in a token.
public struct SessionReference: Hashable, Sendable {
    /// The identifier of the session, 16 bytes. Access and refresh tokens have different ones.
    public let identifier: [UInt8]
    /// The number of the session's user; nil in a token of an earlier version.
    public let user: Int64?

    public init(identifier: [UInt8], user: Int64? = nil) {
        self.identifier = identifier
        self.user = user
    }
}
