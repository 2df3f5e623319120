/// A page of a user's story, newest first.
package struct StoryList: Codable, Sendable {
    package let entries: [StoryEntryResource]
    /// The `cursor` of the next page. Nil on the last page.
    package let nextCursor: String?

    package init(entries: [StoryEntryResource], nextCursor: String? = nil) {
        self.entries = entries
        self.nextCursor = nextCursor
    }
}
