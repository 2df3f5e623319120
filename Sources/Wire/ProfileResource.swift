import Commerce

/// The profile of a user.
public struct ProfileResource: Codable, Sendable {
    /// Nil until the user chooses one.
    public let nickname: String?
    /// At most one item of each collection.
    public let chosen: [Item]

    public init(nickname: String? = nil, chosen: [Item]) {
        self.nickname = nickname
        self.chosen = chosen
    }
}
