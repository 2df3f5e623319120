/// The session reference in a token.
public struct SessionReference: Hashable, Sendable {
    /// The identifier of the session, 16 bytes. Access and refresh tokens have different ones.
    public let identifier: [UInt8]
    /// The number of the session's user.
    public let user: Int64

    public init(identifier: [UInt8], user: Int64) {
        self.identifier = identifier
        self.user = user
    }
}
