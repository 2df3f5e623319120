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
