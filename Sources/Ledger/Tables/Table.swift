/// The description of a table of the ledger. Its DDL, its export and its import follow from it.
package struct Table: Sendable {
    package let name: String
    package let family: Family
    package let columns: [Column]
    /// The columns of the primary key. A distributed database distributes the rows by the first one.
    package let key: [String]
    package let unique: [[String]]
    package private(set) var references: [Reference]
    /// Conditions over several columns.
    let checks: [String]
    package private(set) var indexes: [Index] = []
    /// The times of the service's own clock that are taken back if they are too far ahead.
    package internal(set) var ownTimes: [OwnTime] = []
    /// True if the rows are too large for a SQLite table without rowids.
    let hasLargeRows: Bool
    let sqliteTriggers: [String]
    /// The effect of a user's erasure on the user's rows; nil if they stay.
    let erasure: Erasure?
    /// The effect of a merge of a user into another on the user's rows; nil if they stay, or are few and moved by a hook.
    package let merge: Merge?
    /// The effect of a backup's restoration on the rows; nil if they stay.
    let restoration: Restoration?
    /// True if a reset for suites keeps the rows (`LedgerReset`).
    package let staysAtReset: Bool
    /// The table of user data whose rows have the same key, and the name of the key in messages, with its article; nil for a
    /// table that is not a global key.
    let owner: (table: String, keyName: String)?
    /// The table of user data whose rows have further keys, which lead to their users; nil if there are none.
    let aliases: String?

    /// - Parameter staysAtReset: Nil for the rule of the family: a table that every node has configures the service, or numbers what
    ///   others refer to, and the rows of the other families come from customers and stores.
    package init(
        name: String,
        family: Family,
        columns: [Column],
        key: [String],
        unique: [[String]] = [],
        checks: [String] = [],
        hasLargeRows: Bool = false,
        sqliteTriggers: [String] = [],
        erasure: Erasure? = nil,
        merge: Merge? = nil,
        restoration: Restoration? = nil,
        staysAtReset: Bool? = nil,
        owner: (table: String, keyName: String)? = nil,
        aliases: String? = nil
    ) {
        self.name = name
        self.family = family
        self.columns = columns
        self.key = key
        self.unique = unique
        references =
            family == .userData && name != "user" ? [Reference(columns: ["user_id"], table: "user", key: nil)] : []
        self.checks = checks
        self.hasLargeRows = hasLargeRows
        self.sqliteTriggers = sqliteTriggers
        self.erasure = erasure
        self.merge = merge
        self.restoration = restoration
        self.staysAtReset = staysAtReset ?? (family == .everywhere)
        self.owner = owner
        self.aliases = aliases
    }

    /// The effect of a merge of a user into another on the user's rows of a table.
    package enum Merge: Sendable {
        /// The rows move. An existing row of the same key stays, and replaces the moved one.
        case move
        /// The feature moves the rows by rules of its own.
        case byRule
    }

    /// The effect of a user's erasure on the user's rows of a table.
    package enum Erasure: Sendable {
        case deletion
        /// An update. The text follows `SET` in SQL, and `condition` selects the rows.
        case update(String, condition: String = "true")
    }

    /// The effect of a backup's restoration on rows.
    package enum Restoration: Sendable {
        /// The restoration deletes the rows.
        case deletion
        /// The restoration deletes the rows, and each was a session.
        case sessionDeletion
    }

    /// The families of tables that a distributed database needs. No foreign key leads from one to another.
    package enum Family: Sendable {
        /// A key that is unique for all users, distributed by its first column.
        case globalKey
        /// The data of users: each key begins with the user, and each foreign key stays within one user. Rows without other
        /// references refer to their user.
        case userData
        /// A small table that every node of a distributed database has.
        case everywhere
    }

    package struct Column: Sendable {
        package enum Kind: Sendable {
            case integer
            /// A number of at most 32 bits, which no larger argument is compared with: of an app or a product, or a flag.
            case small
            case text
            /// An identifier, which PostgreSQL stores as `PackedText`. An argument is a `SQLValue.packed`.
            case packed
            case blob
            /// The number of an origin, which has its text in an export.
            case origin

            /// The bytes in PostgreSQL, which pads a number to a multiple of them; nil for a text.
            var width: Int? {
                switch self {
                case .integer: 8
                case .small, .origin: 4
                case .text, .packed, .blob: nil
                }
            }
        }

        let name: String
        let kind: Kind
        var isOptional = false
        /// A condition over the column alone.
        var check: String?
        /// The words of the text, which has them in an export; nil for another column.
        var words: FrequentWords?
        /// The version of the ledger that added the column; nil for an original column.
        var since: Int?

        package static func integer(_ name: String, check: String? = nil) -> Column {
            Column(name: name, kind: .integer, check: check)
        }

        package static func small(_ name: String, check: String? = nil) -> Column {
            Column(name: name, kind: .small, check: check)
        }

        package static func text(_ name: String, check: String? = nil) -> Column {
            Column(name: name, kind: .text, check: check)
        }

        package static func packed(_ name: String) -> Column { Column(name: name, kind: .packed) }

        package static func origin(_ name: String) -> Column { Column(name: name, kind: .origin) }

        /// - Parameter count: The number of bytes; nil for any number.
        package static func blob(_ name: String, count: Int? = nil) -> Column {
            Column(name: name, kind: .blob, check: count.map { "length(\(name)) = \($0)" })
        }

        /// The same column, added to an existing table by a version of the ledger. It comes after the other columns, and may be
        /// null.
        package func since(_ version: Int) -> Column {
            var column = optional
            column.since = version
            return column
        }

        /// The same column, with words that nearly all rows have.
        package func of(_ words: FrequentWords?) -> Column {
            var column = self
            column.words = words
            return column
        }

        /// The same column, which may be null.
        package var optional: Column {
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
        let key: [String]?

        /// The tables whose rows no statement deletes while others refer to them. Each purchase writes or reads them.
        private static let hot: Set = ["audit", "redeemed_transaction", "user"]

        /// True if a database of a dialect enforces the key at each write. PostgreSQL locks the referenced row for it, which was
        /// 11 % of the log and 12 % of the time of a redemption, so `till ledger check` compares hot tables there.
        func isEnforced(in dialect: SQLDialect) -> Bool { dialect == .sqlite || !Self.hot.contains(table) }
    }

    package struct Index: Sendable {
        package let name: String
        package let columns: [String]
        package let isUnique: Bool
        /// The condition of the rows in the index.
        let condition: String?
        /// The only database that has the index; nil for both.
        let dialect: SQLDialect?
    }

    func indexes(in dialect: SQLDialect) -> [Index] { indexes.filter { ($0.dialect ?? dialect) == dialect } }

    /// The same table with a foreign key. Rows of user data then refer to that table instead of to their user.
    ///
    /// - Parameter key: The referenced columns; nil for columns of the same names.
    package func referring(to table: String, by columns: [String], key: [String]? = nil) -> Table {
        var referring = self
        referring.references = [Reference(columns: columns, table: table, key: key)]
        return referring
    }

    /// The same table with a further index.
    ///
    /// - Parameters:
    ///   - condition: The condition of the rows in the index; nil for all rows.
    ///   - dialect: The only database that has the index; nil for both.
    package func indexed(
        _ name: String, by columns: [String], isUnique: Bool = false, where condition: String? = nil,
        in dialect: SQLDialect? = nil
    ) -> Table {
        var indexed = self
        indexed.indexes.append(
            Index(name: name, columns: columns, isUnique: isUnique, condition: condition, dialect: dialect))
        return indexed
    }

    var quotedName: String { "\"\(name)\"" }

    /// The query for all rows, in the same order in every database.
    var inOrder: String {
        "SELECT \(columns.map(\.name).joined(separator: ", ")) FROM \(quotedName) ORDER BY \(key.joined(separator: ", "))"
    }

    /// The statements that create the table, as one text.
    package func definition(in dialect: SQLDialect) -> String { statements(in: dialect).joined(separator: "\n") }

    /// The statements that add the columns that a ledger of a version lacks.
    func additions(since version: Int, in dialect: SQLDialect) -> [String] {
        columns.filter { $0.since.map { $0 > version } ?? false }.map {
            "ALTER TABLE \(quotedName) ADD COLUMN \(dialect.definition(of: $0));"
        }
    }

    /// - Parameter isDistributed: True if the statements distribute the table, too. Citus refuses a foreign key to a distributed
    ///   table before.
    func statements(in dialect: SQLDialect, isDistributed: Bool = false) -> [String] {
        // PostgreSQL pads each number to a multiple of its size, so the wide ones come first there, and the texts last.
        let byWidth = [8, 4, nil].flatMap { width in columns.filter { $0.kind.width == width } }
        let definitions = (dialect == .sqlite ? columns : byWidth).map { dialect.definition(of: $0) }
        let foreignKeys = references.filter { $0.isEnforced(in: dialect) }.map { reference in
            let columns = reference.columns.joined(separator: ", ")
            let key = (reference.key ?? reference.columns).joined(separator: ", ")
            return "FOREIGN KEY (\(columns)) REFERENCES \"\(reference.table)\" (\(key))"
        }
        let constraints =
            (key.isEmpty ? [] : ["PRIMARY KEY (\(key.joined(separator: ", ")))"])
            + unique.map { "UNIQUE (\($0.joined(separator: ", ")))" } + checks.map { "CHECK (\($0))" }
            + (isDistributed ? [] : foreignKeys)
        let table = """
            CREATE TABLE \(quotedName) (
                \((definitions + constraints).joined(separator: ",\n    "))
            )\(dialect.options(of: self));
            """
        let indexes = indexes(in: dialect).map { index in
            "CREATE \(index.isUnique ? "UNIQUE " : "")INDEX \(index.name) ON \(quotedName) "
                + "(\(index.columns.joined(separator: ", ")))" + (index.condition.map { " WHERE \($0)" } ?? "") + ";"
        }
        let distribution =
            isDistributed
            ? [TablePlacement(of: self).statement + ";"] + foreignKeys.map { "ALTER TABLE \(quotedName) ADD \($0);" }
            : []
        return [table] + distribution + indexes + (dialect == .sqlite ? sqliteTriggers : [])
    }
}
