import Proofs
import Synchronization

/// A feature of Till with its own tables in the ledger.
package struct LedgerFeature: Sendable {
    /// A function that writes rows about new audit records, in the same commit.
    package typealias AuditHook =
        @Sendable (
            _ records: [(record: AuditRecord, user: Int64)], _ database: any LedgerDatabase, _ randomness: Randomness
        ) throws -> Void

    /// A function that reads what the hook needs, before the writes of the commit. Without a hook, nothing is written.
    package typealias AuditPreparation = @Sendable (_ database: any LedgerDatabase) throws -> AuditHook?

    /// A function that writes rows about the users of a write, in the same commit. It runs if the feature is in use.
    package typealias WriteHook =
        @Sendable (_ heads: [Int64: UserHead], _ database: any LedgerDatabase) throws -> Void

    /// A function that moves the feature's rows of a user to another user by rules of its own, in the commit of a merge.
    package typealias MergeHook =
        @Sendable (_ former: Int64, _ user: Int64, _ database: any LedgerDatabase) throws -> Void

    /// A check of rows that no single query can check.
    ///
    /// - Returns: A sentence for each problem; at most `limit`.
    package typealias Check = @Sendable (_ database: any LedgerDatabase, _ limit: Int) throws -> [String]

    /// The tables of the feature, each after the tables that it refers to.
    package let tables: [Table]
    /// The invariants of the rows beyond the constraints of the tables.
    let rules: [LedgerRule]
    let check: Check?
    /// The query of `auditHook`, and the table that it needs.
    let auditQuery: (table: String, query: SQLQuery)?
    let auditHook: AuditPreparation?
    let writeHook: WriteHook?
    let mergeHook: MergeHook?
    /// True if the feature is in use. A service creates its tables when it starts.
    private(set) var isUsed = true

    package init(
        tables: [Table],
        rules: [LedgerRule] = [],
        check: Check? = nil,
        auditQuery: (table: String, query: SQLQuery)? = nil,
        auditHook: AuditPreparation? = nil,
        writeHook: WriteHook? = nil,
        mergeHook: MergeHook? = nil
    ) {
        self.tables = tables
        self.rules = rules
        self.check = check
        self.auditQuery = auditQuery
        self.auditHook = auditHook
        self.writeHook = writeHook
        self.mergeHook = mergeHook
    }

    /// The same feature, marked as in use or not. The ledger keeps, exports and checks existing tables in both cases.
    package func used(if isUsed: Bool) -> LedgerFeature {
        var feature = self
        feature.isUsed = isUsed
        return feature
    }
}

extension LedgerFeature: Equatable {
    /// A table belongs to one feature.
    package static func == (left: LedgerFeature, right: LedgerFeature) -> Bool {
        left.tables.map(\.name) == right.tables.map(\.name)
    }
}

extension [LedgerFeature] {
    /// All tables of a ledger with these features, each after the tables that it refers to.
    package var tables: [Table] { LedgerSchema(self).tables }
}

/// A rule of the ledger that the constraints of its tables do not enforce: the description of a row that breaks it, and a query
/// for such rows. The query's first column names a row.
///
/// A distributed database joins tables of one family only. A rule of two families compares them with `EXCEPT`.
package typealias LedgerRule = (sentence: String, violations: String)

/// The tables of a ledger: the tables of users and of features.
struct LedgerSchema: Sendable {
    /// The feature of users, then the given features.
    let features: [LedgerFeature]
    /// All tables, each after the tables that it refers to.
    let tables: [Table]
    /// The version of the tables: that of the latest column, or 1.
    let version: Int
    private let named: [String: Table]

    init(_ features: [LedgerFeature]) {
        self.features = [.users] + features
        tables = self.features.flatMap(\.tables)
        version = tables.flatMap(\.columns).compactMap(\.since).max() ?? 1
        named = Dictionary(uniqueKeysWithValues: tables.map { ($0.name, $0) })
    }

    /// The table with a name; nil if there is none.
    subscript(name: String) -> Table? { named[name] }

    /// The missing tables of a ledger: those of the features in use, and of the features of which it has a table.
    func missing(from present: Set<String>) -> [Table] {
        features.filter { $0.isUsed || $0.isPresent(in: present) }.flatMap(\.tables)
            .filter { !present.contains($0.name) }
    }

    /// The tables of the features of which a ledger has a table.
    func expected(beside present: Set<String>) -> [Table] {
        features.filter { $0.isPresent(in: present) }.flatMap(\.tables)
    }

    /// The statements that extend a version to this one: they add columns to the existing tables, and create the missing ones.
    ///
    /// - Parameter isDistributed: True if the statements distribute the missing tables, too.
    func completion(
        of version: Int, with present: Set<String>, in dialect: SQLDialect, isDistributed: Bool = false
    ) -> [String] {
        tables.filter { present.contains($0.name) }.flatMap { $0.additions(since: version, in: dialect) }
            + missing(from: present).flatMap { $0.statements(in: dialect, isDistributed: isDistributed) }
    }

    /// The kind of a column.
    ///
    /// - Throws: `ColumnMismatch` if the table has no such column.
    func kind(of column: String, in table: String) throws(ColumnMismatch) -> Table.Column.Kind {
        let described = named[table]?.columns.first { $0.name == column }
        guard let kind = described?.kind else { throw ColumnMismatch.column(column) }
        return kind
    }
}

extension LedgerFeature {
    /// True if one of the tables is among those of a ledger.
    fileprivate func isPresent(in tables: Set<String>) -> Bool { self.tables.contains { tables.contains($0.name) } }
}

/// The dialects of SQL in which the ledger describes its tables.
package enum SQLDialect: Sendable {
    case sqlite
    case postgreSQL

    func definition(of column: Table.Column) -> String {
        var words = [column.name, type(of: column.kind)]
        if !column.isOptional { words.append("NOT NULL") }
        if let check = column.check { words.append("CHECK (\(check))") }
        return words.joined(separator: " ")
    }

    func type(of kind: Table.Column.Kind) -> String {
        switch (self, kind) {
        case (.sqlite, .integer), (_, .origin), (_, .small): "INTEGER"
        case (.sqlite, .text), (.sqlite, .packed), (.postgreSQL, .text): "TEXT"
        case (.sqlite, .blob): "BLOB"
        case (.postgreSQL, .integer): "BIGINT"
        case (.postgreSQL, .blob), (.postgreSQL, .packed): "BYTEA"
        }
    }

    func options(of table: Table) -> String {
        guard self == .sqlite else { return "" }
        let hasNumberAsKey = table.columns.contains { table.key == [$0.name] && $0.kind == .integer }
        return table.hasLargeRows || hasNumberAsKey ? " STRICT" : " STRICT, WITHOUT ROWID"
    }
}

/// The tables that the features of a ledger describe, and the known existing ones.
///
/// Another process may add a table. No process drops one.
package final class LedgerTables: Sendable {
    let schema: LedgerSchema
    private let present = Mutex<Set<String>>([])
    private let texts = Mutex<[Statement: String]>([:])

    /// A statement for rows of some columns of a table.
    struct Statement: Hashable {
        enum Kind: Hashable {
            case insertion(isNew: Bool)
            /// The insertion of a row that returns its number.
            case numbered
            /// The update of the first columns in the rows that the others identify.
            case update(columns: Int, version: String?)
            /// The columns of the rows as arrays.
            case arrays
            /// The insertion of rows that fill the last columns of existing ones.
            case filling(owners: Int, others: Int)
            /// A whole statement, whose lists at the positions of some bits have one value each.
            case comparison(UInt64)
        }

        let kind: Kind
        let table: String
        let columns: [String]

        func hash(into hasher: inout Hasher) {
            // The names of 60 columns tell no more statements apart than these do, and took longer than the insertion's text.
            hasher.combine(table)
            hasher.combine(columns.count)
        }
    }

    init(_ features: [LedgerFeature]) {
        schema = LedgerSchema(features)
    }

    /// The SQL of a statement, which is made once: a redemption inserts rows of 60 columns.
    func text(of statement: Statement, _ make: () throws -> String) rethrows -> String {
        if let known = texts.withLock({ $0[statement] }) { return known }
        let made = try make()
        texts.withLock { $0[statement] = made }
        return made
    }

    /// True if the table of each feature was found.
    var areAllPresent: Bool { present.withLock { present in schema.tables.allSatisfy { present.contains($0.name) } } }

    func isPresent(_ table: String) -> Bool { present.withLock { $0.contains(table) } }

    fileprivate func add(_ tables: Set<String>) { present.withLock { $0.formUnion(tables) } }
}

extension LedgerDatabase {
    /// Returns true if the ledger has a table. The transaction must not have created the table itself.
    package func has(_ table: String) throws -> Bool {
        if tables.isPresent(table) { return true }
        let found = try presentTables(seeking: table)
        tables.add(found)
        return found.contains(table)
    }
}

/// The comparison of the objects of a database with those that the ledger defines.
///
/// A trigger is code that runs at each write, and a missing index or constraint breaks a promise of the ledger. So each object has
/// to be the ledger's own, unchanged.
enum DefinitionDifferences {
    private static let maximumReported = 20

    /// - Parameters:
    ///   - found: The definition of each object of the database, by its kind and name.
    ///   - defined: The definition of each object by the ledger.
    /// - Returns: A sentence for each difference.
    static func sentences(found: [String: String], defined: [String: String]) -> [String] {
        let names = Set(found.keys).union(defined.keys).sorted()
        let sentences = names.compactMap { name -> String? in
            switch (found[name], defined[name]) {
            case (_?, nil): "The \(name) does not belong to a ledger."
            case (nil, _?): "The \(name) is missing."
            case (let found, let defined):
                found == defined ? nil : "The \(name) is not as Till defines it."
            }
        }
        return Array(sentences.prefix(maximumReported))
    }

    /// A name from the database in quotes, safe for a terminal.
    static func quoted(_ name: String) -> String {
        let bytes = name.utf8.prefix(64).map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }
        return "\"" + String(decoding: bytes, as: UTF8.self) + "\""
    }
}
