import Proofs

/// A snapshot of a user's profile, wishes and items in the ledger.
public struct ProfileRecord: Hashable, Sendable {
    /// The nickname; nil if the user has chosen none.
    public let nickname: String?
    /// The last chosen item of each collection. The user may no longer own it.
    public let chosen: [Item]
    /// The wishes, newest first.
    public let wishes: [Wish]
    /// The items that the user owns by redeemed transactions and grants.
    public let items: [Item]

    /// The record of a user that the ledger does not know.
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

/// A change of a user's profile.
public struct ProfileChange: Hashable, Sendable {
    public enum Nickname: Hashable, Sendable {
        case keep
        case remove
        case set(String)
    }

    public let nickname: Nickname
    /// The newly chosen items, at most one of each collection. The choices in other collections stay.
    public let chosen: [Item]

    public init(nickname: Nickname = .keep, chosen: [Item] = []) {
        self.nickname = nickname
        self.chosen = chosen
    }
}

/// The result of a change of a profile.
public enum ProfileAnswer: Hashable, Sendable {
    case changed(ProfileRecord)
    /// The user does not own the item. Nothing was changed.
    case notOwned(Item)
}
