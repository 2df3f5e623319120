/// A page of a user's story, newest first.
public struct StoryList: Codable, Sendable {
    public let entries: [StoryEntryResource]
    /// The value of the query parameter `cursor` for the next page; nil on the last.
    public let nextCursor: String?

    public init(
        entries: [StoryEntryResource],
        nextCursor: String? = nil
    ) {
        self.entries = entries
        self.nextCursor = nextCursor
    }
}
