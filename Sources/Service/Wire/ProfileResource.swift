import Proofs

/// The profile of a user.
package struct ProfileResource: Codable, Sendable {
    /// The nickname. Nil until the user chooses one.
    package var nickname: String?
    /// The chosen items, at most one of each collection.
    package let chosen: [Item]
}
