import Proofs

/// The profile of a user.
public struct ProfileResource: Codable, Sendable {
    /// The nickname. Nil until the user chooses one.
    public let nickname: String?
    /// The chosen items, at most one of each collection.
    public let chosen: [Item]

    public init(nickname: String? = nil, chosen: [Item]) {
        self.nickname = nickname
        self.chosen = chosen
    }
}
