/// The description of a table of the ledger. Its DDL, its export and its import follow from it.
struct Table: Sendable {
    let name: String
    let columns: [Column]
    /// The columns of the primary key. The first spreads the rows: a user or an identifier, never a value that many rows share.
    let key: [String]
    var unique: [[String]] = []
    var references: [Reference] = []
    /// Conditions over several columns.
    var checks: [String] = []
    var indexes: [Index] = []
    /// Whether the rows are too large for the leaves of SQLite's primary key.
    var hasLargeRows = false
    /// Further statements, such as triggers.
    var further: [SQLDialect: String] = [:]

    struct Column: Sendable {
        enum Kind: Sendable {
            case integer
            case text
            case blob
        }

        let name: String
        let kind: Kind
        var isOptional = false
        /// A condition over the column alone.
        var check: String?
        /// The value of rows that name none.
        var defaultValue: [SQLDialect: String] = [:]

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
    struct Reference: Sendable {
        let columns: [String]
        let table: String
        /// The referenced columns; nil for columns of the same names.
        var key: [String]?
        /// Whether a change of the referenced columns changes the referring ones.
        var isCarriedAlong = false
    }

    struct Index: Sendable {
        let name: String
        let columns: [String]
        var isUnique = false
        /// The condition of the rows that the index has.
        var condition: String?
    }

    /// All tables, each after those that it refers to.
    static let all = purchases + team + audit + accounts + webhooks + catalog

    /// The name as SQL has it.
    var quotedName: String { "\"\(name)\"" }

    /// All rows, in the same order in every database.
    var inOrder: String {
        "SELECT \(columns.map(\.name).joined(separator: ", ")) FROM \(quotedName) ORDER BY \(key.joined(separator: ", "))"
    }

    /// The statements that make the table.
    func definition(in dialect: SQLDialect) -> String {
        let columns = columns.map { dialect.definition(of: $0) }
        let constraints =
            ["PRIMARY KEY (\(key.joined(separator: ", ")))"]
            + unique.map { "UNIQUE (\($0.joined(separator: ", ")))" } + checks.map { "CHECK (\($0))" }
            + references.map { reference in
                let columns = reference.columns.joined(separator: ", ")
                let key = (reference.key ?? reference.columns).joined(separator: ", ")
                return "FOREIGN KEY (\(columns)) REFERENCES \"\(reference.table)\" (\(key))"
                    + (reference.isCarriedAlong ? " ON UPDATE CASCADE" : "")
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
        return ([table] + indexes + [further[dialect]].compactMap(\.self)).joined(separator: "\n")
    }
}
