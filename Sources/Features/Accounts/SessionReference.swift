/// The session reference in a token.
package struct SessionReference: Hashable, Sendable {
    /// The identifier of the session, 16 bytes. Access and refresh tokens have different ones.
    package let identifier: [UInt8]
    /// The number of the session's user.
    package let user: Int64

    package init(identifier: [UInt8], user: Int64) {
        self.identifier = identifier
        self.user = user
    }
}
