import Ledger
import Proofs

/// The statements on profiles and wishes, inside the caller's transaction.
struct ProfileRecords {
    let database: any LedgerDatabase

    func profile(of user: Int64, accepting origins: Set<Origin>, at moment: Timestamp) throws -> ProfileRecord {
        let items = try ReadingRecords(database: database).items(of: [user: origins], at: moment)[user] ?? []
        guard try database.has("profile") else {
            return ProfileRecord(nickname: nil, chosen: [], wishes: [], items: items)
        }
        return ProfileRecord(
            nickname: try database.value("SELECT nickname FROM profile WHERE user_id = $1", [user]),
            chosen: try database.rows(
                "SELECT collection, number FROM chosen_item WHERE user_id = $1 ORDER BY collection", [user]
            ).map { Item(collection: try $0["collection"], number: try $0["number"]) },
            wishes: try database.rows(
                "SELECT product_id, wished_at FROM wish WHERE user_id = $1 ORDER BY wished_at DESC, product_id", [user]
            ).map { Wish(productIdentifier: try $0["product_id"], wishedAt: try $0["wished_at"]) },
            items: items)
    }

    func apply(_ change: ProfileChange, to user: Int64) throws {
        switch change.nickname {
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
        for item in change.chosen {
            try database.execute(
                """
                INSERT INTO chosen_item (user_id, collection, number) VALUES ($1, $2, $3)
                ON CONFLICT (user_id, collection) DO UPDATE SET number = excluded.number
                """,
                [user, item.collection, item.number])
        }
    }

    /// - Returns: False if there was one.
    func insert(_ wish: Wish, of user: Int64) throws -> Bool {
        try database.execute(
            "INSERT INTO wish (user_id, product_id, wished_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
            [user, wish.productIdentifier, wish.wishedAt]) == 1
    }

    /// - Returns: False if there was none.
    func delete(wishFor productIdentifier: String, of user: Int64) throws -> Bool {
        try database.execute(
            "DELETE FROM wish WHERE user_id = $1 AND product_id = $2", [user, productIdentifier]) == 1
    }
}

extension LedgerTransaction {
    /// A user's profile, wishes and items at a moment.
    package func profile(of user: User, accepting origins: Set<Origin>, at moment: Timestamp) throws -> ProfileRecord {
        guard let user = try users.known(user) else { return .empty }
        return try ProfileRecords(database: database).profile(of: user, accepting: origins, at: moment)
    }

    /// Changes a profile, unless the user does not own a chosen item.
    ///
    /// - Parameters:
    ///   - free: The items that every user owns.
    ///   - newcomers: The caller's allowance for users without a purchase; nil for no limit.
    /// - Throws: `LedgerError`.
    package func change(
        _ change: ProfileChange,
        ofProfileOf user: User,
        owning free: [Item],
        accepting origins: Set<Origin>,
        newcomers: NewcomerAllowance? = nil,
        at moment: Timestamp
    ) throws -> ProfileAnswer {
        let user = try number(of: user, at: moment)
        let records = ProfileRecords(database: database)
        let items = try ReadingRecords(database: database).items(of: [user: origins], at: moment)[user] ?? []
        if let foreign = change.chosen.first(where: { !free.contains($0) && !items.contains($0) }) {
            return .notOwned(foreign)
        }
        try charge(change.bytes, for: user, to: newcomers)
        try records.apply(change, to: user)
        try EventRecords(database: database).append(
            UserChange(kind: .profileChanged, subject: "", happenedAt: moment), to: user)
        return .changed(try records.profile(of: user, accepting: origins, at: moment))
    }

    /// Adds a wish. An existing wish stays unchanged.
    ///
    /// - Parameter newcomers: The caller's allowance for users without a purchase; nil for no limit.
    /// - Throws: `LedgerError`.
    package func add(_ wish: Wish, of user: User, newcomers: NewcomerAllowance? = nil) throws {
        let user = try number(of: user, at: wish.wishedAt)
        guard try ProfileRecords(database: database).insert(wish, of: user) else { return }
        // The end of the wish takes as many bytes again, and is never refused.
        try charge(2 * (100 + wish.productIdentifier.utf8.count), for: user, to: newcomers)
        try EventRecords(database: database).append(
            UserChange(kind: .wished, subject: wish.productIdentifier, happenedAt: wish.wishedAt), to: user)
    }

    /// Removes a wish if there is one.
    package func removeWish(for productIdentifier: String, of user: User, at moment: Timestamp) throws {
        guard let user = try users.known(user),
            try ProfileRecords(database: database).delete(wishFor: productIdentifier, of: user)
        else { return }
        try EventRecords(database: database).append(
            UserChange(kind: .wishRemoved, subject: productIdentifier, happenedAt: moment), to: user)
    }
}

extension ProfileChange {
    /// The bytes that the change takes in the ledger with its event, about.
    fileprivate var bytes: Int {
        let nicknameLength = if case .set(let text) = nickname { text.utf8.count } else { 0 }
        return 100 + nicknameLength + chosen.reduce(0) { $0 + 100 + $1.collection.utf8.count }
    }
}
