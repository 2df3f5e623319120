import Commerce
import Ledger

/// The SQL that moves grants and spendings to another user, inside the caller's transaction.
struct MergeRecords {
    let database: any LedgerDatabase
    let users: UserRecords

    func mergeGrantsAndSpendings(of former: Int64, into user: Int64) throws {
        try moveGrants(of: former, to: user)
        try moveSpendings(of: former, to: user)
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

    /// Moves spendings. Of two under one idempotency key, the other user's keeps the key.
    private func moveSpendings(of former: Int64, to user: Int64) throws {
        let rows = try database.rows("SELECT * FROM spending WHERE user_id = $1 ORDER BY spending_id", [former])
        guard let columns = rows.first?.columns else { return }
        let keys = Set(
            try database.rows(
                "SELECT idempotency_key FROM spending WHERE user_id = $1 AND idempotency_key IS NOT NULL", [user]
            ).map { ByteKey(try $0["idempotency_key"]) })
        try database.delete(from: "spending", where: ["user_id"], [[former]])
        try database.insert(
            into: "spending", columns,
            try rows.map { row in
                let key: String? = try row["idempotency_key"]
                let isTaken = key.map { keys.contains(ByteKey($0)) } ?? false
                let values: [String: SQLValue] = isTaken ? ["idempotency_key": .null, "request_digest": .null] : [:]
                return row.replacing(values.merging(["user_id": user.sqlValue]) { $1 }).values
            })
    }
}
