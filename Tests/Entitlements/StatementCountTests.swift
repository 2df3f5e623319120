import Entitlements
import Features
import Ledger
import Proofs
import Synchronization
import TestSupport
import Testing
import Vocabulary

/// The number of SQL statements of a commit. It is the same for a hundred claims as for one.
@Suite struct StatementCountTests {
    private static let now = Timestamp(secondsSince1970: 1_790_000_000)

    private static func claim(_ number: Int, signed: Int64 = 0, revoked: Bool = false) -> Claim {
        Claim(
            app: "com.example.app", origin: .localSandbox, transactionIdentifier: "\(number)",
            originalTransactionIdentifier: "\(number)",
            productIdentifier: "p", quantity: 1, purchaseDate: now,
            revocationDate: revoked ? now.adding(seconds: signed) : nil, signedAt: now.adding(seconds: signed),
            proofDigest: [UInt8](repeating: 7, count: 32),
            item: number.isMultiple(of: 2) ? Item(collection: "sprout", number: number) : nil,
            credit: number.isMultiple(of: 2) ? nil : Credit(balance: "coins", amount: 1),
            expiresAt: number.isMultiple(of: 4) ? now.adding(days: 30) : nil)
    }

    private static func redemption(_ number: Int, by user: Int) throws -> ClaimRequest {
        .redeem(
            PresentedClaims(
                [claim(number)], for: try #require(User(name: "u\(user)")), accepting: [.localSandbox], by: .user))
    }

    @Test func `a group of any size needs the same number of statements, at most 25`() async throws {
        let folder = try TemporaryFolder()
        let storage = CountingStorage(
            try SQLiteStorage(file: folder.file("ledger.sqlite")))
        let ledger = Ledger(storage: storage, randomness: .system)
        let endpoint = WebhookEndpoint(
            identifier: "e", url: "https://example.com", createdAt: Self.now, createdBy: "key",
            secret: [UInt8](repeating: 1, count: 32))
        _ = try await ledger.write { try $0.add(endpoint, upTo: 1) }
        // The first claim gives the app its number.
        _ = try await ledger.write {
            try $0.redeem([Self.claim(1_000_000)], for: try #require(User(name: "u")), at: Self.now)
        }
        var counts: [Int] = []
        for (round, size) in [1, 16, 128].enumerated() {
            // New and known users, items and credits, refused claims, notifications.
            let first = round * 10_000
            let requests = try (first..<first + size).flatMap { number in
                [
                    try Self.redemption(2 * number, by: number), try Self.redemption(2 * number + 1, by: number),
                    try Self.redemption(2 * number, by: number + 1),
                    .notify(
                        NotificationRecord(
                            app: "com.example.app", origin: .localSandbox, notificationUUID: "n\(number)", type: "TEST",
                            subtype: nil,
                            signedAt: Self.now, proofDigest: [UInt8](repeating: 8, count: 32)), stating: nil),
                ]
            }
            storage.count.store(0, ordering: .relaxed)
            let answers = try await ledger.write {
                try $0.decide(
                    requests, under: .keep, accepting: AcceptedOrigins([.localSandbox]), at: Self.now)
            }
            #expect(answers.count == 4 * size)
            counts.append(storage.count.load(ordering: .relaxed))
        }
        #expect(Set(counts).count == 1, "\(counts)")
        #expect(counts[0] <= 25)
    }
}

/// Storage that counts the SQL statements. An insertion of many rows is one.
private final class CountingStorage: LedgerStorage {
    private let storage: SQLiteStorage
    let count = Atomic(0)

    init(_ storage: SQLiteStorage) {
        self.storage = storage
    }

    var dialect: SQLDialect { storage.dialect }
    var damaged: StorageFault { storage.damaged }

    func observe(_ observer: @escaping @Sendable (Set<Int64>) -> Void) {}

    func read<Value>(_ extent: ReadExtent, _ body: (any LedgerDatabase) throws -> Value) throws -> Value {
        let before = count.load(ordering: .relaxed)
        defer { if extent == .statement { #expect(count.load(ordering: .relaxed) <= before + 2) } }
        return try storage.read(extent) { try body(CountingDatabase(database: $0, storage: self)) }
    }

    func commit(_ parts: [LedgerPart]) -> [(any Error)?] {
        storage.commit(
            parts.map { part in LedgerPart { try part.perform(CountingDatabase(database: $0, storage: self)) } })
    }
}

private struct CountingDatabase: LedgerDatabase {
    let database: any LedgerDatabase
    let storage: CountingStorage

    var tables: LedgerTables { database.tables }

    func presentTables() throws -> Set<String> {
        count()
        return try database.presentTables()
    }

    func create(_ table: Table) throws { try database.create(table) }

    private func count() { storage.count.add(1, ordering: .relaxed) }

    func forEachRow(
        _ sql: String,
        _ arguments: [any SQLConvertible],
        _ body: (inout ResultRow) throws -> Void
    ) throws {
        count()
        try database.forEachRow(sql, arguments, body)
    }

    func execute(_ sql: String, _ arguments: [any SQLConvertible]) throws -> Int {
        count()
        return try database.execute(sql, arguments)
    }

    func write(_ sql: String, _ arguments: [any SQLConvertible]) throws {
        count()
        try database.write(sql, arguments)
    }

    func insert(into table: String, _ columns: [String], _ rows: [[any SQLConvertible]], isNew: Bool) throws {
        if !rows.isEmpty { count() }
        try database.insert(into: table, columns, rows, isNew: isNew)
    }

    func update(
        _ table: String,
        set columns: [String],
        where keys: [String],
        incrementing version: String?,
        _ rows: [[any SQLConvertible]]
    ) throws {
        if !rows.isEmpty { count() }
        try database.update(table, set: columns, where: keys, incrementing: version, rows)
    }

    func require(_ column: String, of table: String, where keys: [String], _ rows: [[any SQLConvertible]]) throws {
        if !rows.isEmpty { count() }
        try database.require(column, of: table, where: keys, rows)
    }

    func add(to table: String, _ column: String, where keys: [String], _ rows: [[any SQLConvertible]]) throws {
        if !rows.isEmpty { count() }
        try database.add(to: table, column, where: keys, rows)
    }

    func fill(
        _ table: String, where keys: [String], _ owners: [String], with others: [String], _ rows: [[any SQLConvertible]]
    ) throws {
        if !rows.isEmpty { count() }
        try database.fill(table, where: keys, owners, with: others, rows)
    }

    func delete(from table: String, where keys: [String], _ rows: [[any SQLConvertible]]) throws {
        if !rows.isEmpty { count() }
        try database.delete(from: table, where: keys, rows)
    }

    func insertUsers(
        _ columns: [String],
        _ rows: [[any SQLConvertible]],
        _ randomness: Randomness
    ) throws -> [Int64] {
        count()
        return try database.insertUsers(columns, rows, randomness)
    }

    func empty(_ tables: [Table]) throws { try database.empty(tables) }
    func prefetch(_ queries: @autoclosure () -> [SQLQuery], asksForTables: Bool) throws {}
    func recordChange(of user: Int64) {}
    func streamRows(of sql: String, _ body: (inout ResultRow) throws -> Void) throws {
        try database.streamRows(of: sql, body)
    }
    func isIn(numbers parameter: String) -> String { database.isIn(numbers: parameter) }
    func isIn(_ parameter: String) -> String { database.isIn(parameter) }
    func isIn(packed parameter: String) -> String { database.isIn(packed: parameter) }
    func indexed(by index: String) -> String { database.indexed(by: index) }
    func keyedRows(of table: String, where columns: [String], _ keys: SQLKeys, by index: String?) -> KeyedRows {
        database.keyedRows(of: table, where: columns, keys, by: index)
    }
    var findsUsersInStatements: Bool { database.findsUsersInStatements }
    func isConstraintViolation(_ error: any Error) -> Bool { database.isConstraintViolation(error) }
}
