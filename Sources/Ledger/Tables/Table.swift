/// The description of a table of the ledger. Its DDL, its export and its import follow from it.
package struct Table: Sendable {
    package let name: String
    package let family: Family
    package let columns: [Column]
    /// The columns of the primary key. In a distributed database, the first one distributes the rows.
    package let key: [String]
    package var unique: [[String]] = []
    package var references: [Reference] = []
    /// Conditions over several columns.
    var checks: [String] = []
    package var indexes: [Index] = []
    /// Whether the rows are too large for the leaves of SQLite's primary key.
    var hasLargeRows = false
    var sqliteTriggers: String?

    /// The families of tables that a distributed database needs. No foreign key leads from one to another.
    package enum Family: Sendable {
        /// A key that is unique for all users, distributed by its first column.
        case globalKey
        /// The data of users: each key begins with the user, and each foreign key stays within one user.
        case userData
        /// Small tables that every node has.
        case everywhere
    }

    package struct Column: Sendable {
        package enum Kind: Sendable {
            case integer
            case text
            case blob
        }

        let name: String
        let kind: Kind
        var isOptional = false
        /// A condition over the column alone.
        var check: String?

        static func integer(_ name: String, check: String? = nil) -> Column {
            Column(name: name, kind: .integer, check: check)
        }

        static func text(_ name: String, check: String? = nil) -> Column {
            Column(name: name, kind: .text, check: check)
        }

        /// - Parameter count: The number of bytes; nil for any.
        static func blob(_ name: String, count: Int? = nil) -> Column {
            Column(name: name, kind: .blob, check: count.map { "length(\(name)) = \($0)" })
        }

        /// The same column, which may be null.
        var optional: Column {
            var column = self
            column.isOptional = true
            return column
        }
    }

    /// A foreign key.
    package struct Reference: Sendable {
        package let columns: [String]
        package let table: String
        /// The referenced columns; nil for columns of the same names.
        var key: [String]?
    }

    package struct Index: Sendable {
        package let name: String
        package let columns: [String]
        package var isUnique = false
        /// The condition of the rows that the index has.
        var condition: String?
    }

    /// All tables, each after those that it refers to.
    package static let all = users + purchases + team + audit + accounts + webhooks + catalog

    /// The name as SQL has it.
    var quotedName: String { "\"\(name)\"" }

    /// All rows, in the same order in every database.
    var inOrder: String {
        "SELECT \(columns.map(\.name).joined(separator: ", ")) FROM \(quotedName) ORDER BY \(key.joined(separator: ", "))"
    }

    /// The kind of a column.
    ///
    /// - Throws: `SQLRow.Mismatch` if the table has no such column.
    static func kind(of column: String, in table: String) throws(SQLRow.Mismatch) -> Column.Kind {
        guard let kind = kinds[table]?[column] else { throw SQLRow.Mismatch(column: column) }
        return kind
    }

    private static let kinds = Dictionary(
        uniqueKeysWithValues: all.map { table in
            (table.name, Dictionary(uniqueKeysWithValues: table.columns.map { ($0.name, $0.kind) }))
        })

    /// The statements that make the table.
    package func definition(in dialect: SQLDialect) -> String {
        let columns = columns.map { dialect.definition(of: $0) }
        let constraints =
            (key.isEmpty ? [] : ["PRIMARY KEY (\(key.joined(separator: ", ")))"])
            + unique.map { "UNIQUE (\($0.joined(separator: ", ")))" } + checks.map { "CHECK (\($0))" }
            + references.map { reference in
                let columns = reference.columns.joined(separator: ", ")
                let key = (reference.key ?? reference.columns).joined(separator: ", ")
                return "FOREIGN KEY (\(columns)) REFERENCES \"\(reference.table)\" (\(key))"
            }
        let indexes = indexes.map { index in
            "CREATE \(index.isUnique ? "UNIQUE " : "")INDEX \(index.name) ON \(quotedName) "
                + "(\(index.columns.joined(separator: ", ")))" + (index.condition.map { " WHERE \($0)" } ?? "") + ";"
        }
        let table = """
            CREATE TABLE \(quotedName) (
                \((columns + constraints).joined(separator: ",\n    "))
            )\(dialect.options(of: self));
            """
        let triggers = dialect == .sqlite ? sqliteTriggers : nil
        return ([table] + indexes + [triggers].compactMap(\.self)).joined(separator: "\n")
    }
}
