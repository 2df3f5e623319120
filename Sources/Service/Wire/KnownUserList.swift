/// A page of users, ordered by name.
package struct KnownUserList: Codable, Sendable {
    package let users: [KnownUserResource]
    /// The `cursor` of the next page. Nil on the last page.
    package var nextCursor: String?
}
