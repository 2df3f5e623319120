/// A page of a user's story, newest first.
public struct StoryList: Codable, Sendable {
    public let entries: [StoryEntryResource]
    /// The `cursor` of the next page. Nil on the last page.
    public let nextCursor: String?

    public init(
        entries: [StoryEntryResource],
        nextCursor: String? = nil
    ) {
        self.entries = entries
        self.nextCursor = nextCursor
    }
}
