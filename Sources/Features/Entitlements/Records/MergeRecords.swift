import Ledger
import Proofs

/// The SQL that moves grants and balances to another user, inside the caller's transaction.
///
/// The movements of a balance note the customer of whom they were (`merged_from`), so that a debt of that customer lowers no
/// other balance.
struct MergeRecords {
    let database: any LedgerDatabase
    let users: UserRecords

    /// Moves everything but the purchases, whose credits move with them.
    func mergeGrantsAndBalances(of former: Int64, into user: Int64) throws {
        try moveGrants(of: former, to: user)
        try moveAdditions(of: former, to: user)
        try moveSpendings(of: former, to: user)
    }

    /// Notes that the movements of a user's balances are of a time before the user's id was known.
    func separateBalances(of user: Int64) throws {
        for table in ["credit", "balance_addition", "spending"] {
            try database.execute(
                "UPDATE \(table) SET merged_from = user_id WHERE user_id = $1 AND merged_from IS NULL", [user])
        }
    }

    /// Moves grants, which become the newest of the other user.
    private func moveGrants(of former: Int64, to user: Int64) throws {
        let rows = try database.rows("SELECT * FROM team_grant WHERE user_id = $1 ORDER BY sequence", [former])
        guard let columns = rows.first?.columns else { return }
        var heads = try users.heads(of: [user])
        guard var head = heads[user] else { return }
        let moved = rows.map { row in
            head.lastGrant += 1
            return row.replacing(["user_id": user.sqlValue, "sequence": head.lastGrant.sqlValue]).values
        }
        heads[user] = head
        try database.delete(from: "team_grant", where: ["user_id"], [[former]])
        try database.insert(into: "team_grant", columns, moved)
        try users.write(heads)
    }

    private func moveAdditions(of former: Int64, to user: Int64) throws {
        let rows = try database.rows("SELECT * FROM balance_addition WHERE user_id = $1", [former])
        guard let columns = rows.first?.columns else { return }
        try database.delete(from: "balance_addition", where: ["user_id"], [[former]])
        try database.insert(
            into: "balance_addition", columns, try rows.map { try $0.moved(from: former, to: user).values })
    }

    /// Moves spendings. Of two under one idempotency key, the other user's keeps the key.
    private func moveSpendings(of former: Int64, to user: Int64) throws {
        let rows = try database.rows("SELECT * FROM spending WHERE user_id = $1 ORDER BY spending_id", [former])
        guard let columns = rows.first?.columns else { return }
        let moved = try rows.compactMap { row -> ByteKey? in (try row["idempotency_key"] as String?).map { ByteKey($0) }
        }
        let keys = Set(
            try database.rows(
                "SELECT idempotency_key FROM spending WHERE user_id = $1 AND idempotency_key \(database.isIn("$2"))",
                [user, database.list(Set(moved).sorted().map(\.text))]
            ).map { ByteKey(try $0["idempotency_key"]) })
        try database.delete(from: "spending", where: ["user_id"], [[former]])
        try database.insert(
            into: "spending", columns,
            try rows.map { row in
                let key: String? = try row["idempotency_key"]
                let isTaken = key.map { keys.contains(ByteKey($0)) } ?? false
                let values: [String: SQLValue] = isTaken ? ["idempotency_key": .null, "request_digest": .null] : [:]
                return try row.moved(from: former, to: user).replacing(values).values
            })
    }
}

extension SQLRow {
    /// The row of a movement of a balance, moved to another user by a merge.
    func moved(from former: Int64, to user: Int64) throws -> SQLRow {
        let first: Int64? = try self["merged_from"]
        return replacing(["user_id": user.sqlValue, "merged_from": (first ?? former).sqlValue])
    }
}
