import Ledger
import Proofs

/// The statements on profiles and wishes, inside the caller's transaction.
struct ProfileRecords {
    let database: any LedgerDatabase

    func profile(of user: Int64, accepting origins: Set<Origin>, at moment: Timestamp) throws -> ProfileRecord {
        let items = try ReadingRecords(database: database).items(of: user, accepting: origins, at: moment)
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
