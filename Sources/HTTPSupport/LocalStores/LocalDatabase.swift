import Foundation
import GRDB
import Proofs
import Vocabulary

/// The tables of a local store's own database. Their version is its `user_version`.
///
/// Each of the local stores, Apple's and Google's, keeps a SQLite file of its own, which is no ledger.
package protocol LocalSchema {
    associatedtype Failure: LocalStoreError

    static var version: Int { get }
    /// The statements that create the tables.
    static var tables: String { get }
}

/// The care with which SQLite brings a commit to the disk (`PRAGMA synchronous`).
package enum LocalDurability: String, Sendable {
    /// A power cut loses nothing.
    case full = "FULL"
    /// A power cut may lose the last commits.
    case normal = "NORMAL"
    case off = "OFF"
}

extension LocalSchema {
    /// Opens the database of a file, and makes it if it does not exist. A file of another version stays unchanged.
    ///
    /// - Parameter label: The name of the database in the errors of GRDB.
    package static func open(
        _ file: URL,
        label: String,
        _ durability: LocalDurability
    ) throws(Failure) -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = label
        configuration.busyMode = .timeout(10)
        configuration.journalMode = .wal
        do {
            // The lock keeps two processes from both making the tables of a new file.
            return try PrivateFile.withLock(file.appendingPathExtension("lock")) {
                try PrivateFile.ensureExists(at: file)
                try checkVersion(of: file)
                let queue = try DatabaseQueue(path: file.path, configuration: configuration)
                try queue.writeWithoutTransaction { database in
                    // GRDB chooses NORMAL for WAL.
                    try database.execute(sql: "PRAGMA synchronous = \(durability.rawValue)")
                }
                try queue.write { try prepare($0, path: file.path) }
                return queue
            }
        } catch is PrivateFile.Failure {
            throw .storage(StorageFault(cause: .cannotOpen, path: file.path))
        } catch {
            throw Failure(error, path: file.path)
        }
    }

    /// A new database in memory.
    ///
    /// - Parameter path: The name of the database in faults.
    package static func openInMemory(named path: String) throws(Failure) -> DatabaseQueue {
        do {
            let queue = try DatabaseQueue()
            try queue.write { try prepare($0, path: path) }
            return queue
        } catch { throw Failure(error, path: path) }
    }

    /// Refuses a file of another version, and changes no byte of it. A file that cannot be read passes: the opening for writing
    /// reports its fault.
    private static func checkVersion(of file: URL) throws(Failure) {
        var configuration = Configuration()
        configuration.readonly = true
        guard let database = try? DatabaseQueue(path: file.path, configuration: configuration) else { return }
        let isOther = try? database.read(isOfOtherVersion)
        try? database.close()
        if isOther == true { throw .storage(StorageFault(cause: .otherVersion, path: file.path)) }
    }

    /// Creates the tables of a new database.
    private static func prepare(_ database: Database, path: String) throws {
        guard try !isOfOtherVersion(database) else {
            throw Failure.storage(StorageFault(cause: .otherVersion, path: path))
        }
        guard try found(in: database) == 0 else { return }
        try database.execute(sql: tables)
        try database.execute(sql: "PRAGMA user_version = \(version)")
    }

    private static func found(in database: Database) throws -> Int {
        try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
    }

    private static func isOfOtherVersion(_ database: Database) throws -> Bool {
        let found = try found(in: database)
        guard found == 0 else { return found != version }
        return try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") != 0
    }
}

/// The errors of a local store. Some of them are faults of its database and of its keys.
package protocol LocalStoreError: RuledError {
    /// A key could not be made, written or used.
    static func signingFailed(_ reason: String) -> Self
    static func storage(_ fault: StorageFault) -> Self
}

extension LocalStoreError {
    /// An error of the store itself, or else the fault that another one is.
    ///
    /// - Parameter path: The file of the database, which faults name.
    package init(_ error: any Error, path: String) {
        switch error {
        case let error as Self: self = error
        case let error as DatabaseError:
            self = .storage(StorageFault(sqliteResultCode: error.resultCode.rawValue, path: path))
        case let error as OpenSSLError: self = .signingFailed("\(error)")
        default: self = .storage(StorageFault(cause: .failed, path: path))
        }
    }
}

extension Database {
    /// Inserts a row.
    ///
    /// - Parameter key: The columns of a unique constraint. A row with the same values in them is updated instead.
    package func insert(
        _ values: KeyValuePairs<String, (any DatabaseValueConvertible)?>,
        into table: String,
        replacing key: String? = nil
    ) throws {
        let columns = values.map(\.key)
        let updates = columns.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        let places = columns.map { _ in "?" }.joined(separator: ", ")
        try execute(
            sql: "INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(places))"
                + (key.map { " ON CONFLICT (\($0)) DO UPDATE SET \(updates)" } ?? ""),
            arguments: StatementArguments(values.map(\.value)))
    }

    /// The JSON records in the first column of a query.
    package func records<Value: Decodable>(_ request: SQLRequest<String>) throws -> [Value] {
        try request.fetchAll(self).map { try LocalRecord.value($0) }
    }

    /// The JSON record in the first column of a query's first row; nil without a row.
    package func record<Value: Decodable>(_ request: SQLRequest<String>) throws -> Value? {
        try request.fetchOne(self).map { try LocalRecord.value($0) }
    }
}

/// A record of a local store's database as JSON.
package enum LocalRecord {
    package static func text(_ value: some Encodable) throws -> String {
        String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
    }

    package static func value<Value: Decodable>(_ text: String) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(text.utf8))
    }
}

/// A column of type `INTEGER`, in milliseconds since 1970.
extension Timestamp: DatabaseValueConvertible {
    public var databaseValue: DatabaseValue { millisecondsSince1970.databaseValue }

    public static func fromDatabaseValue(_ value: DatabaseValue) -> Timestamp? {
        Int64.fromDatabaseValue(value).map(Timestamp.init(millisecondsSince1970:))
    }
}

/// The name of a customer's account at a local store.
package enum LocalAccount {
    /// The maximum length, in bytes of UTF-8.
    package static let maximumLength = 256

    /// False for a name that is empty, too long or has control characters.
    package static func isValid(_ name: String) -> Bool {
        (1...maximumLength).contains(name.utf8.count)
            && !name.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }

    package static func rule(ofInvalid name: String) -> ErrorRule {
        ErrorRule(
            "accountInvalid", .unprocessable,
            "The account \(name.prefix(32).debugDescription) is not valid. Use 1 to \(maximumLength) bytes, without control "
                + "characters.",
            korean: "쓸 수 없는 계정입니다. 제어 문자 없이 1~\(maximumLength)바이트로 입력하세요.")
    }

    /// - Parameter command: The command of the store, such as `till store`.
    package static func rule(ofUnknown name: String, buyingWith command: String) -> ErrorRule {
        ErrorRule(
            "accountUnknown", .notFound,
            "The store knows no account \"\(name.prefix(100))\". An account is known from its first payment on: "
                + "`\(command) buy PRODUCT --account ACCOUNT`.",
            korean: "이 계정으로 결제한 적이 없습니다. 계정은 첫 결제부터 알려집니다.")
    }
}
