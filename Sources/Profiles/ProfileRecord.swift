import Commerce

/// How a user shows themselves and what they wish for, as the ledger has it, and what they own at that moment.
public struct ProfileRecord: Hashable, Sendable {
    /// nil where the user has chosen none.
    public let nickname: String?
    /// What was chosen last of each collection, whether it is owned or not.
    public let chosen: [Item]
    /// Newest first.
    public let wishes: [Wish]
    /// By redeemed transactions and grants.
    public let items: [Item]

    /// Of somebody the ledger has not seen.
    static let empty = ProfileRecord(nickname: nil, chosen: [], wishes: [], items: [])
}

/// A product that a user wishes for.
public struct Wish: Hashable, Sendable {
    public let productIdentifier: String
    public let wishedAt: Timestamp

    public init(productIdentifier: String, wishedAt: Timestamp) {
        self.productIdentifier = productIdentifier
        self.wishedAt = wishedAt
    }
}

/// What a user changes of their profile.
public struct ProfileChange: Hashable, Sendable {
    public enum Nickname: Hashable, Sendable {
        case keep
        case remove
        case set(String)
    }

    public let nickname: Nickname
    /// At most one of each collection; of the others, what was chosen stays so.
    public let chosen: [Item]

    public init(nickname: Nickname = .keep, chosen: [Item] = []) {
        self.nickname = nickname
        self.chosen = chosen
    }
}

/// What became of a profile that was to be changed.
public enum ProfileAnswer: Hashable, Sendable {
    case changed(ProfileRecord)
    /// Nothing was changed.
    case notOwned(Item)
}
