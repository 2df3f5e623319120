/// A page of users, by their names.
public struct KnownUserList: Codable, Sendable {
    public let users: [KnownUserResource]
    /// The value of the query parameter `cursor` for the next page; nil on the last.
    public let nextCursor: String?

    public init(
        users: [KnownUserResource],
        nextCursor: String? = nil
    ) {
        self.users = users
        self.nextCursor = nextCursor
    }
}
