import Entitlements
import Foundation
import GRDB
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The file of a ledger: concurrent processes, damage, and the constraints of its tables.
@Suite(.enabled(if: LedgerFixture.isFile)) struct LedgerFileTests: LedgerSuite {
    let fixture: LedgerFixture

    init() throws {
        fixture = try LedgerFixture()
    }

    @Test func `an answered redemption is in the ledger after it is opened again`() async throws {
        _ = try await redeem(claim(), for: alice)
        let again = try Ledger(file: folder.file("ledger.sqlite"))
        #expect(try again.readNow { try $0.items(of: alice, at: Self.now) } == [Self.sprout1])
        #expect(try again.writeNow { try $0.redeem([claim()], for: alice, at: Self.now) }.results == [.alreadyRedeemed])
    }

    #if os(Linux)
        @Test func `a second ledger in the process leaves the file locked for other processes`() throws {
            let file = folder.file("ledger.sqlite")
            let ledgers = [try Ledger(file: file), try Ledger(file: file)]
            let inode = try #require(
                try FileManager.default.attributesOfItem(atPath: file.path)[.systemFileNumber] as? NSNumber)
            // Without the shared lock (SQLite, os_unix.c), another process would delete the write-ahead log when it ends.
            // Other tests change the list while it is read, so that a read may miss an entry.
            let isLocked = try withExtendedLifetime(ledgers) {
                try (0..<100).contains { _ in
                    let list = try FileHandle(forReadingFrom: URL(filePath: "/proc/locks"))
                    defer { try? list.close() }
                    let text = String(decoding: try list.readToEnd() ?? Data(), as: UTF8.self)
                    return text.contains(":\(inode) 1073741826 1073742335")
                }
            }
            #expect(isLocked)
        }
    #endif

    /// Values that fit into a kilobyte together are not copied by SQLite, and the others are.
    @Test(arguments: [0, 1, 15, 16, 340, 341, 342, 1022, 1024, 1025, 5000])
    func `values of any length arrive as they are`(length: Int) async throws {
        let (text, blob) = (String(repeating: "é", count: length), [UInt8](repeating: 7, count: length))
        let (texts, blobs) = try await ledger.read { transaction in
            var (texts, blobs): ([String], [[UInt8]]) = ([], [])
            // The second run has the same statement.
            for _ in 0..<2 {
                try transaction.database.forEachRow(
                    "SELECT $1, $2, $3, $4", [text, blob, "end", [1] as [UInt8]]
                ) { row in
                    texts.append(try row.next())
                    blobs.append(try row.next())
                    texts.append(try row.next())
                    blobs.append(try row.next())
                }
            }
            return (texts, blobs)
        }
        #expect(texts == [text, "end", text, "end"])
        #expect(blobs == [blob, [1], blob, [1]])
    }

    @Test func `concurrent redemptions grant a transaction once`() async throws {
        let file = folder.file("ledger.sqlite")
        let results = try await withThrowingTaskGroup(of: [Redemption.Result].self) { group in
            for number in 0..<16 {
                let user = number.isMultiple(of: 2) ? alice : bob
                let claim = claim()
                // Each task has its own connection, as separate processes have.
                group.addTask {
                    try await Ledger(file: file).write { try $0.redeem([claim], for: user, at: Self.now) }.results
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(results.count { $0 == .granted } == 1)
        #expect(results.count { $0 == .alreadyRedeemed } == 7)
        #expect(results.count { $0 == .ownedByAnotherUser } == 8)
    }

    @Test func `several processes open a new ledger at once`() async throws {
        let file = folder.file("new.sqlite")
        let alice = alice
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { _ = try await Ledger(file: file).read { try $0.items(of: alice, at: Self.now) } }
            }
            try await group.waitForAll()
        }
    }

    @Test func `the tables allow no second owner`() async throws {
        _ = try await redeem(claim(), for: alice)
        _ = try await redeem(claim("9"), for: bob)
        let database = try DatabaseQueue(path: folder.file("ledger.sqlite").path)
        func execute(_ sql: String) async throws {
            try await database.write { try $0.execute(sql: sql) }
        }
        let rules = TableRules(alice: "1", bob: "2", digest: "zeroblob(32)", dialect: .sqlite)
        for statement in rules.allowed { try await execute(statement) }
        for statement in rules.forbidden + rules.dangling {
            await #expect(throws: DatabaseError.self, "\(statement)") { try await execute(statement) }
        }
    }

    @Test func `a renewal that comes first leaves its purchase one owner`() async throws {
        _ = try await redeem(claim("2", original: "1"), for: alice)
        let key: [any SQLConvertible] = [SQLValue.packed("1"), Origin.localSandbox, 1 as Int64]
        func fill(_ owner: Int64?, ofPurchase purchase: Int64?) throws {
            try ledger.writeNow {
                try $0.database.fill(
                    "claim", where: ["transaction_id", "origin", "app"], ["user_id", "owner_id"], with: [],
                    [key + [owner, purchase]])
            }
        }
        for owner in [nil, 1, 2] as [Int64?] {
            #expect(throws: (any Error).self) { try fill(owner, ofPurchase: 2) }
        }
        try fill(1, ofPurchase: nil)
        #expect(throws: (any Error).self) { try fill(2, ofPurchase: nil) }
        let owners = try ledger.readNow {
            try $0.database.rows("SELECT user_id, owner_id FROM claim WHERE transaction_id = '1'") {
                [try $0.next() as Int64?, try $0.next()]
            }
        }
        #expect(owners == [[1, 1]])
    }

    @Test func `only the owner can read the files`() async throws {
        _ = try await redeem(claim(), for: alice)
        for name in ["ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-shm"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(name).path)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
    }

    @Test func `a file that is not a database is refused`() async throws {
        let file = folder.file("damaged.sqlite")
        try Data(repeating: 0x55, count: 4096).write(to: file)
        #expect(throws: StorageFault(cause: .damaged, path: file.path)) { try Ledger(file: file) }
        let nowhere = folder.file("none/ledger.sqlite")
        #expect(throws: StorageFault(cause: .cannotOpen, path: nowhere.path)) { try Ledger(file: nowhere) }
    }

    enum Way: CaseIterable {
        case alone, together, readTogether
    }

    /// The ledger keeps nothing of wrong bytes that a disk returned once.
    @Test(arguments: Way.allCases) func `a misread page is read again`(way: Way) async throws {
        let file = folder.file("misread.sqlite")
        let users = try (0..<600).map { try #require(User(name: "user \($0)".replacing(" ", with: "-"))) }
        do {
            let ledger = try Ledger(file: file)
            _ = ledger.together(
                users.map { user in { _ = try $0.makeAppAccountToken(of: user, at: Self.now) } })
        }
        let sound = try Data(contentsOf: file)
        let ledger = try Ledger(file: file)
        func attempt() async throws {
            let (user, claim) = (users[300], claim("7"))
            if way == .alone {
                _ = try await ledger.write { try $0.redeem([claim], for: user, at: Self.now) }
                return
            }
            try ledger.allTogether(
                Array(
                    repeating: { transaction in
                        if way == .together {
                            _ = try transaction.redeem([claim], for: user, at: Self.now)
                        } else {
                            _ = try transaction.appAccountToken(of: user)
                        }
                    }, count: 2))
        }
        let disk = try FileHandle(forWritingTo: file)
        try disk.seek(toOffset: 4096)
        try disk.write(contentsOf: Data(repeating: 0x55, count: sound.count - 4096))
        let damaged = StorageFault(cause: .damaged, path: file.path)
        await #expect(throws: damaged) { try await attempt() }
        try disk.seek(toOffset: 0)
        try disk.write(contentsOf: sound)
        try await attempt()
        #expect(try LedgerFile(file).check().problems == [])
    }
}
