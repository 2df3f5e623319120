import Entitlements
import Ledger
import Proofs
import Vocabulary

/// A snapshot of a user's profile, wishes and items in the ledger. It is empty for a user that the ledger does not know.
package struct ProfileRecord: Hashable, Sendable {
    /// The nickname; nil if the user has chosen none.
    package fileprivate(set) var nickname: String?
    /// The last chosen item of each collection. The user may no longer own it.
    package fileprivate(set) var chosen: [Item] = []
    /// The wishes, newest first.
    package fileprivate(set) var wishes: [Wish] = []
    /// The items that the user owns by redeemed transactions and grants.
    package fileprivate(set) var items: [Item] = []
}

/// A product that a user wishes for.
package struct Wish: Hashable, Sendable {
    package let productIdentifier: String
    package let wishedAt: Timestamp
}

package enum NicknameChange: Hashable, Sendable {
    case keep
    case remove
    case set(String)
}

extension LedgerTransaction {
    /// A user's profile, wishes and items at a moment.
    package func profile(of user: User, accepting origins: Set<Origin>, at moment: Timestamp) throws -> ProfileRecord {
        guard let user = try users.known(user) else { return ProfileRecord() }
        return try profile(of: user, accepting: origins, at: moment)
    }

    private func profile(of user: Int64, accepting origins: Set<Origin>, at moment: Timestamp) throws -> ProfileRecord {
        var record = ProfileRecord()
        record.items = try ReadingRecords(database: database).items(of: [user: origins], at: moment)[user] ?? []
        guard try database.has("profile") else { return record }
        record.nickname = try database.value("SELECT nickname FROM profile WHERE user_id = $1", [user])
        record.chosen = try database.rows(
            "SELECT collection, number FROM chosen_item WHERE user_id = $1 ORDER BY collection", [user],
            Item.init)
        record.wishes = try database.rows(
            "SELECT product_id, wished_at FROM wish WHERE user_id = $1 ORDER BY wished_at DESC, product_id", [user]
        ) { Wish(productIdentifier: try $0.next(), wishedAt: try $0.next()) }
        return record
    }

    /// Changes a profile, unless the user does not own a chosen item.
    ///
    /// - Parameters:
    ///   - chosen: The newly chosen items, at most one of each collection. The choices in other collections stay.
    ///   - free: The items that every user owns.
    ///   - newcomers: The caller's allowance for users without a purchase; nil for no limit.
    /// - Returns: The changed profile, or `ProfileError.itemNotOwned`.
    /// - Throws: `LedgerError`.
    package func changeProfile(
        of user: User,
        _ nickname: NicknameChange,
        chosen: [Item] = [],
        owning free: [Item] = [],
        accepting origins: Set<Origin>,
        newcomers: NewcomerAllowance? = nil,
        at moment: Timestamp
    ) throws -> Result<ProfileRecord, ProfileError> {
        let user = try number(of: user, at: moment)
        let items = try ReadingRecords(database: database).items(of: [user: origins], at: moment)[user] ?? []
        if let foreign = chosen.first(where: { !free.contains($0) && !items.contains($0) }) {
            return .failure(.itemNotOwned(foreign))
        }
        // The bytes that the change takes in the ledger with its event, about.
        let nicknameLength = if case .set(let text) = nickname { text.utf8.count } else { 0 }
        let bytes = 100 + nicknameLength + chosen.reduce(0) { $0 + 100 + $1.collection.utf8.count }
        try charge(bytes, for: user, to: newcomers)
        switch nickname {
        case .keep: break
        case .remove: try database.execute("DELETE FROM profile WHERE user_id = $1", [user])
        case .set(let nickname):
            try database.execute(
                """
                INSERT INTO profile (user_id, nickname) VALUES ($1, $2)
                ON CONFLICT (user_id) DO UPDATE SET nickname = excluded.nickname
                """,
                [user, nickname])
        }
        for item in chosen {
            try database.execute(
                """
                INSERT INTO chosen_item (user_id, collection, number) VALUES ($1, $2, $3)
                ON CONFLICT (user_id, collection) DO UPDATE SET number = excluded.number
                """,
                [user, item.collection, item.number])
        }
        try events.append(.profileChanged, [("", user)], at: moment)
        return .success(try profile(of: user, accepting: origins, at: moment))
    }

    /// Adds a wish. An existing wish stays unchanged.
    ///
    /// - Parameter newcomers: The caller's allowance for users without a purchase; nil for no limit.
    /// - Throws: `LedgerError`.
    package func addWish(
        for product: String, of user: User, newcomers: NewcomerAllowance? = nil, at moment: Timestamp
    ) throws {
        let user = try number(of: user, at: moment)
        let isNew =
            try database.execute(
                "INSERT INTO wish (user_id, product_id, wished_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
                [user, product, moment]) == 1
        guard isNew else { return }
        // The end of the wish takes as many bytes again, and is never refused.
        try charge(2 * (100 + product.utf8.count), for: user, to: newcomers)
        try events.append(.wished, [(product, user)], at: moment)
    }
}

extension LedgerFeature {
    package static let profiles = LedgerFeature(tables: [.profile, .chosenItem, .wish])
}

extension Table {
    fileprivate static let profile = Table(
        name: "profile", family: .userData, columns: [.integer("user_id"), .text("nickname", check: "nickname <> ''")],
        key: ["user_id"], erasure: .deletion, merge: .move)

    /// The chosen items. A choice stays after the user loses the item, and applies only while the user owns it.
    fileprivate static let chosenItem = Table(
        name: "chosen_item", family: .userData,
        columns: [.integer("user_id"), .text("collection"), .integer("number", check: "number >= 0")],
        key: ["user_id", "collection"], erasure: .deletion, merge: .move
    )

    fileprivate static let wish = Table(
        name: "wish", family: .userData, columns: [.integer("user_id"), .text("product_id"), .integer("wished_at")],
        key: ["user_id", "product_id"], erasure: .deletion, merge: .move
    )
}
