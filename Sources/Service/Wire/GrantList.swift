/// A page of grants, newest first.
public struct GrantList: Codable, Sendable {
    public let grants: [GrantResource]
    /// The `cursor` of the next page. Nil on the last page.
    public let nextCursor: String?

    public init(grants: [GrantResource], nextCursor: String? = nil) {
        self.grants = grants
        self.nextCursor = nextCursor
    }
}
