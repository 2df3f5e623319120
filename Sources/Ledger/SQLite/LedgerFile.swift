import Foundation
import GRDB
import Vocabulary

/// The file of a ledger, for the commands of an operator. They add no tables and columns to it, because a service of an earlier
/// version may be running on it.
package struct LedgerFile: Sendable {
    let url: URL
    let features: [LedgerFeature]

    /// - Parameter url: An existing file.
    package init(_ url: URL, features: [LedgerFeature]) {
        self.url = url
        self.features = features
    }

    /// Checks the file and every rule of the ledger on a snapshot. Other processes may write meanwhile.
    ///
    /// - Throws: `StorageFault` if the file cannot be read, or is of another version.
    package func check() throws(StorageFault) -> LedgerReport {
        let lock = try LedgerLock(url, .shared)
        defer { withExtendedLifetime(lock) {} }
        try SQLiteSchema.checkVersion(of: url, LedgerSchema(features))
        do {
            guard let report = try Self.report(on: DatabaseQueue(path: url.path), features) else {
                throw StorageFault(cause: .otherVersion, path: url.path)
            }
            return report
        } catch {
            throw StorageFault(error, path: url.path)
        }
    }

    /// - Parameter test: Runs before the check.
    /// - Returns: Nil for a ledger of another version.
    static func report(
        on queue: DatabaseQueue, _ features: [LedgerFeature], after test: (Database) throws -> Void = { _ in }
    ) throws -> LedgerReport? {
        var report: LedgerReport?
        // SQLite checks the constraints of tables only on a writable connection.
        try queue.inTransaction(.deferred) { database in
            try test(database)
            report = try Self.report(on: database, features)
            return .rollback
        }
        return report
    }

    private static func report(on database: Database, _ features: [LedgerFeature]) throws -> LedgerReport? {
        let tables = LedgerTables(features)
        let schema = tables.schema
        guard try SQLiteSchema.version(of: database) == schema.version else { return nil }
        func count(_ table: Table) throws -> Int {
            guard try database.tableExists(table.name) else { return 0 }
            return try Int.fetchOne(database, sql: "SELECT count(*) FROM \(table.quotedName)") ?? 0
        }
        var problems = try String.fetchAll(database, sql: "PRAGMA integrity_check(\(LedgerRules.maximumReported))")
            .filter { $0 != "ok" }
        let differences = try SQLiteDefinitions.problems(of: database, schema)
        problems += differences
        do {
            problems += try LedgerRules(database: SQLiteDatabase(database: database, tables: tables)).problems()
        } catch {
            // The rules read tables as the ledger defines them.
            if differences.isEmpty { throw error }
        }
        let rows = try schema.tables.map { ($0.name, try count($0)) }
        return LedgerReport(rows: Dictionary(uniqueKeysWithValues: rows), problems: problems)
    }

    /// Copies a snapshot of the ledger into a new file. Other processes may write meanwhile. The file gets its name only when
    /// all of it is on the disk.
    ///
    /// - Throws: `BackupError` if the file already exists or cannot be written; `StorageFault`.
    package func backUp(to file: URL) throws {
        let lock = try LedgerLock(url, .shared)
        defer { withExtendedLifetime(lock) {} }
        do {
            try NewFile.make(at: file) { unfinished in
                let copy = try DatabaseQueue(path: unfinished.path)
                try DatabaseQueue(path: url.path).backup(to: copy)
                try copy.closeAsOneFile()
            }
        } catch {
            switch error {
            case let error as BackupError: throw error
            case let fault as StorageFault: throw fault
            case let error as DatabaseError where error.resultCode == .SQLITE_FULL:
                throw StorageFault(cause: .diskFull, path: file.path)
            case let error as DatabaseError where error.isOfDamage: throw StorageFault(cause: .damaged, path: url.path)
            default: throw BackupError.notWritten(path: file.path)
            }
        }
    }
}

/// The tables, indexes, triggers and views of a ledger in a file, as the statements that made them.
enum SQLiteDefinitions {
    /// The tables that SQLite itself makes.
    private static let ownTables = ["sqlite_sequence", "sqlite_stat1", "sqlite_stat3", "sqlite_stat4"]

    /// The differences between a file and the tables of a ledger.
    ///
    /// - Returns: A sentence for each difference.
    static func problems(of database: Database, _ schema: LedgerSchema) throws -> [String] {
        var found: [String: String] = [:]
        var present: Set<String> = []
        for row in try Row.fetchAll(database, sql: "SELECT type, name, sql FROM sqlite_master") {
            guard let type = String.fromDatabaseValue(row["type"]), let name = String.fromDatabaseValue(row["name"])
            else { return ["The list of tables is damaged."] }
            let sql = String.fromDatabaseValue(row["sql"])
            if type == "table" {
                present.insert(name)
                if ownTables.contains(name) { continue }
            }
            // SQLite makes the indexes of constraints.
            if type == "index", sql == nil, name.hasPrefix("sqlite_autoindex_") { continue }
            found["\(type) \(DefinitionDifferences.quoted(name))"] = normalized(sql ?? "")
        }
        return DefinitionDifferences.sentences(found: found, defined: defined(by: schema, present))
    }

    /// The objects of the features of which a ledger has a table.
    private static func defined(by schema: LedgerSchema, _ present: Set<String>) -> [String: String] {
        var defined: [String: String] = [:]
        for statement in schema.expected(beside: present).flatMap({ $0.statements(in: .sqlite) }) {
            let words = statement.split(separator: " ", maxSplits: 4).filter { $0 != "UNIQUE" }
            let name = words[2].filter { $0 != "\"" }
            defined["\(words[1].lowercased()) \"\(name)\""] = normalized(statement)
        }
        return defined
    }

    /// A statement without its last semicolon, and outside quotes without the spaces that mean nothing: SQLite adds a column to the
    /// text of a table with others.
    static func normalized(_ statement: String) -> String {
        var bytes: [UInt8] = []
        var quote: UInt8?
        var isAfterSpace = false
        for byte in statement.utf8 {
            if let end = quote {
                bytes.append(byte)
                if byte == end { quote = nil }
                continue
            }
            if [0x09, 0x0A, 0x0C, 0x0D, 0x20].contains(byte) {
                isAfterSpace = true
                continue
            }
            if isAfterSpace, let last = bytes.last, !isPunctuation(last), !isPunctuation(byte) { bytes.append(0x20) }
            isAfterSpace = false
            bytes.append(byte)
            switch byte {
            case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"): quote = byte
            case UInt8(ascii: "["): quote = UInt8(ascii: "]")
            default: break
            }
        }
        if bytes.last == UInt8(ascii: ";") { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isPunctuation(_ byte: UInt8) -> Bool {
        [UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: ","), UInt8(ascii: ";")].contains(byte)
    }
}

/// The version of a ledger in a SQLite file: its `user_version`.
enum SQLiteSchema {
    /// Refuses a file of another version, and changes no byte of it.
    ///
    /// - Throws: `StorageFault`. A file that cannot be read passes: the opening for writing reports its fault.
    static func checkVersion(of file: URL, _ schema: LedgerSchema) throws(StorageFault) {
        var configuration = Configuration()
        configuration.readonly = true
        guard let database = try? DatabaseQueue(path: file.path, configuration: configuration) else { return }
        let isOther = try? database.read { try isOfOtherVersion($0, schema) }
        try? database.close()
        if isOther == true { throw StorageFault(cause: .otherVersion, path: file.path) }
    }

    private static func isOfOtherVersion(_ database: Database, _ schema: LedgerSchema) throws -> Bool {
        let version = try version(of: database)
        return version > 0 ? version > schema.version : try !tables(of: database).isEmpty
    }

    /// The version of a ledger; 0 if there is none.
    static func version(of database: Database) throws -> Int {
        try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
    }

    /// Creates the missing tables of the features in use, and adds the columns that a ledger of an earlier version lacks.
    ///
    /// - Returns: The reason why the ledger cannot be used; nil if it can.
    static func prepare(_ database: Database, _ schema: LedgerSchema, migrates: Bool) throws -> StorageFault.Cause? {
        guard try !isOfOtherVersion(database, schema) else { return .otherVersion }
        let (version, present) = (try version(of: database), try tables(of: database))
        if version == schema.version, schema.missing(from: present).isEmpty { return nil }
        guard migrates else { return .missing }
        try database.execute(
            sql: schema.completion(of: version, with: present, in: .sqlite).joined(separator: "\n"))
        try database.execute(sql: "PRAGMA user_version = \(schema.version)")
        return nil
    }

    static func tables(of database: Database) throws -> Set<String> {
        try String.fetchSet(database, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
    }
}

/// The contents and the problems of a ledger.
package struct LedgerReport: Hashable, Sendable {
    /// The number of rows of each table.
    package let rows: [String: Int]
    /// A sentence for each broken rule; none for a sound ledger.
    package let problems: [String]
    /// The tables of a database server with many rows and without statistics, so that the server plans their queries badly.
    package var tablesWithoutStatistics: [String] = []

    package var users: Int { rows["user"] ?? 0 }
}
