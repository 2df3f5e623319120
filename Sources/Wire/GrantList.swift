/// A page of grants, newest first.
public struct GrantList: Codable, Sendable {
    public let grants: [GrantResource]
    /// The value of the query parameter `cursor` for the next page; nil on the last.
    public let nextCursor: String?

    public init(grants: [GrantResource], nextCursor: String? = nil) {
        self.grants = grants
        self.nextCursor = nextCursor
    }
}
