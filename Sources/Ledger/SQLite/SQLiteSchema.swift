import Foundation
import GRDB
import Proofs

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
    static func prepare(
        _ database: Database,
        _ schema: LedgerSchema,
        migrates: Bool
    ) throws -> StorageFault.Cause? {
        guard try !isOfOtherVersion(database, schema) else { return .otherVersion }
        let (version, present) = (try version(of: database), try tables(of: database))
        if version == schema.version, schema.missing(from: present).isEmpty { return nil }
        guard migrates else { return .missing }
        try database.execute(sql: schema.completion(of: version, with: present, in: .sqlite))
        try database.execute(sql: "PRAGMA user_version = \(schema.version)")
        return nil
    }

    private static func tables(of database: Database) throws -> Set<String> {
        try String.fetchSet(database, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
    }
}
