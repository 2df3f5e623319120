/// A page of grants, newest first.
package struct GrantList: Codable, Sendable {
    package let grants: [GrantResource]
    /// The `cursor` of the next page. Nil on the last page.
    package var nextCursor: String?
}
