/// A page of users, ordered by name.
public struct KnownUserList: Codable, Sendable {
    public let users: [KnownUserResource]
    /// The `cursor` of the next page. Nil on the last page.
    public let nextCursor: String?

    public init(
        users: [KnownUserResource],
        nextCursor: String? = nil
    ) {
        self.users = users
        self.nextCursor = nextCursor
    }
}
