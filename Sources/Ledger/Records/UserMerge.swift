import Foundation
import Proofs
import Vocabulary

/// The merge of a user into another. The former user becomes a tombstone, like an erased user. Its audit log stays.
extension LedgerTransaction {
    /// The number of rows of a user that a merge moves. It counts no further than to one above a limit.
    package func mergedRecordCount(of user: Int64, upTo limit: Int) throws -> Int {
        var count = 0
        for table in database.tables.schema.tables where table.merge != nil && count <= limit {
            guard try database.has(table.name) else { continue }
            count +=
                try database.single(
                    """
                    SELECT count(*) FROM (SELECT user_id FROM \(table.quotedName) WHERE user_id = $1 LIMIT $2) AS counted
                    """,
                    [user, limit + 1 - count])
        }
        return count
    }

    /// Makes the former user's names and account tokens lead to the other user. Of more than the largest number of aliases, the
    /// newest stay.
    ///
    /// - Parameter name: The former user's own name.
    /// - Returns: The name of the tombstone.
    package func mergeNames(
        of former: Int64, _ name: User, into user: Int64, at moment: Timestamp
    ) throws -> String {
        let tombstone = randomness.bytes(16).hexadecimal
        let hasRoom = try users.aliasesLeft(of: user) > 0
        try users.rename(former, from: name, to: User.erasedIssuer, tombstone)
        try redirect("user_name", by: ["name", "issuer"], aliasedIn: "user_alias", of: former, to: user)
        try users.addNewestAlias(name, of: user, at: moment)
        try redirectToken(of: former, to: user, at: moment, isKept: hasRoom)
        // The users who were merged into the former user before.
        let formers = try users.formers(of: former)
        try database.delete(from: "user_merge", where: ["user_id", "former_id"], formers.map { [former, $0] })
        try database.insert(
            into: "user_merge", ["user_id", "former_id", "merged_at"], (formers + [former]).map { [user, $0, moment] })
        return tombstone
    }

    /// Moves the former user's rows of all features, except those that a feature moves by rules of its own.
    package func mergeRows(of former: Int64, into user: Int64) throws {
        for feature in database.tables.schema.features {
            for table in feature.tables where table.merge == .move {
                guard try database.has(table.name) else { continue }
                try database.moveRows(of: table.name, from: former, to: user, isNew: false)
            }
            try feature.mergeHook?(former, user, database)
        }
    }

    /// Makes the aliases of the former user lead to the other user.
    private func redirect(
        _ table: String, by key: [String], aliasedIn aliases: String, of former: Int64, to user: Int64
    ) throws {
        let rows = try database.rows(
            "SELECT \(key.joined(separator: ", ")) FROM \(aliases) WHERE user_id = $1", [former]
        ) { [user.sqlValue] + (try $0.rest()) }
        try database.update(table, set: ["user_id"], where: key, rows)
        try database.moveRows(of: aliases, from: former, to: user)
    }

    /// Makes the account tokens of the former user lead to the other user, because purchases contain them. The tombstone gets a
    /// new token.
    ///
    /// - Parameter isKept: False to delete a token that was never returned.
    private func redirectToken(of former: Int64, to user: Int64, at moment: Timestamp, isKept: Bool) throws {
        let key = ["app_account_token"]
        try redirect("account_token", by: key, aliasedIn: "account_token_alias", of: former, to: user)
        guard let (token, isSettled) = try users.appAccountToken(of: former) else { throw damaged }
        let new = UUID(randomness: randomness)
        if isKept || isSettled {
            try database.update("account_token", set: ["user_id"], where: key, [[user, token]])
            try users.addTokenAlias(token, of: user, at: moment)
        } else {
            try database.delete(from: "account_token", where: key, [[token]])
        }
        try database.insert(into: "account_token", ["app_account_token", "user_id"], [[new, former]])
        try database.update("user", set: ["app_account_token"], where: ["user_id"], [[new, former]])
    }
}

/// Copies of whole rows of a table, with other values in some columns.
///
/// The key of a user's row begins with the user's number, which a distributed database does not let change. So rows move by
/// copies. The statements name the columns once, and the other values pass through in the table's order.
package struct RowCopies {
    private let database: any LedgerDatabase
    private let table: String
    /// The changed columns, then the others.
    private let columns: [String]
    private let changed: Int
    private var rows: [[any SQLConvertible]] = []

    /// - Parameter changed: The columns that get other values.
    package init(of table: String, changing changed: [String], in database: any LedgerDatabase) throws {
        guard let described = database.tables.schema[table] else { throw ColumnMismatch.column(table) }
        self.database = database
        self.table = table
        self.changed = changed.count
        columns = changed + described.columns.map(\.name).filter { !changed.contains($0) }
    }

    package var isEmpty: Bool { rows.isEmpty }

    /// Adds copies of rows.
    ///
    /// - Parameters:
    ///   - source: The SQL after `FROM`.
    ///   - values: Reads the changed columns of a row, and returns a new value for each; nil leaves the row out.
    package mutating func read(
        from source: String, _ arguments: [any SQLConvertible],
        _ values: (inout ResultRow) throws -> [any SQLConvertible]?
    ) throws {
        let list = columns.map { "\"\(table)\".\($0)" }.joined(separator: ", ")
        try database.forEachRow("SELECT \(list) FROM \(source)", arguments) { row in
            if let values = try values(&row) { rows.append(values + (try row.values(from: changed))) }
        }
    }

    /// Inserts the copies.
    ///
    /// - Parameter isNew: True if an existing key is an error. If false, the existing row stays unchanged.
    package func insert(isNew: Bool = true) throws {
        try database.insert(into: table, columns, rows, isNew: isNew)
    }
}

extension LedgerDatabase {
    /// Moves a user's rows of a table to another user, in the order of the table's key.
    ///
    /// - Parameters:
    ///   - changed: Further columns that get other values.
    ///   - isNew: True if an existing key is an error. If false, the existing row stays unchanged.
    ///   - values: Reads these columns of a row, and returns a new value for each.
    package func moveRows(
        of table: String, from former: Int64, to user: Int64, changing changed: [String] = [], isNew: Bool = true,
        _ values: (inout ResultRow) throws -> [any SQLConvertible] = { _ in [] }
    ) throws {
        var copies = try RowCopies(of: table, changing: ["user_id"] + changed, in: self)
        let key = tables.schema[table]?.key ?? []
        try copies.read(
            from: "\"\(table)\" WHERE user_id = $1 ORDER BY \(key.joined(separator: ", "))", [former]
        ) { row in
            _ = try row.nextValue()
            return [user] + (try values(&row))
        }
        guard !copies.isEmpty else { return }
        try delete(from: table, where: ["user_id"], [[former]])
        try copies.insert(isNew: isNew)
    }
}
