import Proofs

/// A snapshot of a user's profile, wishes and items in the ledger.
package struct ProfileRecord: Hashable, Sendable {
    /// The nickname; nil if the user has chosen none.
    package let nickname: String?
    /// The last chosen item of each collection. The user may no longer own it.
    package let chosen: [Item]
    /// The wishes, newest first.
    package let wishes: [Wish]
    /// The items that the user owns by redeemed transactions and grants.
    package let items: [Item]

    /// The record of a user that the ledger does not know.
    static let empty = ProfileRecord(nickname: nil, chosen: [], wishes: [], items: [])
}

/// A product that a user wishes for.
package struct Wish: Hashable, Sendable {
    package let productIdentifier: String
    package let wishedAt: Timestamp

    package init(productIdentifier: String, wishedAt: Timestamp) {
        self.productIdentifier = productIdentifier
        self.wishedAt = wishedAt
    }
}

/// A change of a user's profile.
package struct ProfileChange: Hashable, Sendable {
    package enum Nickname: Hashable, Sendable {
        case keep
        case remove
        case set(String)
    }

    package let nickname: Nickname
    /// The newly chosen items, at most one of each collection. The choices in other collections stay.
    package let chosen: [Item]

    package init(nickname: Nickname = .keep, chosen: [Item] = []) {
        self.nickname = nickname
        self.chosen = chosen
    }
}

/// The result of a change of a profile.
package enum ProfileAnswer: Hashable, Sendable {
    case changed(ProfileRecord)
    /// The user does not own the item. Nothing was changed.
    case notOwned(Item)
}
