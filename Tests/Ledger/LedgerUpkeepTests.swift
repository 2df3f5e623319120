import Commerce
import Foundation
import GRDB
import Ledger
import TestSupport
import Testing

/// A ledger is checked and copied while it is written.
@Suite(.enabled(if: LedgerFixture.isFile)) struct LedgerUpkeepTests: LedgerSuite {
    let fixture: LedgerFixture

    init() throws {
        fixture = try LedgerFixture()
    }

    private var file: LedgerFile { LedgerFile(folder.file("ledger.sqlite")) }

    private func fill() async throws {
        _ = try await redeem(claim("1"), claim("2", original: "1"), for: alice)
        _ = try await redeem(claim("3"), for: bob)
    }

    @Test func aLedgerThatIsSoundIsCounted() async throws {
        try await fill()
        let report = try file.check()
        #expect(report.problems == [])
        #expect(report.users == 2)
        #expect(report.redeemedTransactions == 3)
    }

    @Test(arguments: [
        ("UPDATE redeemed_transaction SET user_id = 2 WHERE transaction_id = '2'", "another user than its original"),
        ("UPDATE entitlement SET user_id = 2 WHERE transaction_id = '1'", "An item stands on a transaction of another"),
        (
            "INSERT INTO parked_transaction (origin, transaction_id, stated_at) VALUES ('local/Sandbox', '1', 1)",
            "is redeemed, and waits"
        ),
        ("UPDATE redeemed_transaction SET grace_ends_at = 1", "A grace period"),
        ("UPDATE redeemed_transaction SET origin = 'nowhere' WHERE transaction_id = '3'", "that there is not"),
        ("UPDATE user SET app_account_token = upper(app_account_token) || ''", "no UUID in lowercase"),
        ("DELETE FROM original_transaction", "refers to one of original_transaction"),
        ("UPDATE redeemed_transaction SET quantity = 0", "CHECK constraint"),
    ])
    func whatIsWrongIsNamed(damage: String, problem: String) async throws {
        try await fill()
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA ignore_check_constraints = ON") }
        let database = try DatabaseQueue(path: folder.file("ledger.sqlite").path, configuration: configuration)
        try await database.writeWithoutTransaction { try $0.execute(sql: damage) }
        let problems = try file.check().problems
        #expect(problems.contains { $0.contains(problem) }, "\(problems)")
    }

    @Test func aCopyIsWholeAndPrivateAndOverwritesNothing() async throws {
        try await fill()
        let copied = folder.file("copy.sqlite")
        try file.backUp(to: copied)
        _ = try await redeem(claim("4"), for: alice)
        #expect(throws: BackupError.exists(path: copied.path)) { try file.backUp(to: copied) }
        let mode = try FileManager.default.attributesOfItem(atPath: copied.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let beside = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
            .filter { $0.hasPrefix("copy.sqlite") }
        #expect(beside == ["copy.sqlite"])
        let report = try LedgerFile(copied).check()
        let copy = try Ledger(file: copied)
        #expect(report.problems == [])
        #expect(report.redeemedTransactions == 3)
        #expect(
            try await copy.read { try $0.items(of: alice, at: Self.now) }
                == ledger.read {
                    try $0.items(of: alice, at: Self.now)
                })
        let nowhere = folder.url.appending(path: "nowhere/copy.sqlite")
        #expect(throws: BackupError.notWritten(path: nowhere.path)) { try file.backUp(to: nowhere) }
    }

    @Test func aLedgerOfAnEarlierVersionStaysOfIt() async throws {
        let old = folder.file("old.sqlite")
        try makeLedgerOfVersionFourteen(at: old)
        let file = LedgerFile(old)
        let report = try file.check()
        #expect(!report.isOfThisVersion)
        #expect(report.problems == [])
        try file.backUp(to: folder.file("copy.sqlite"))
        #expect(try !file.check().isOfThisVersion)
        #expect(try !LedgerFile(folder.file("copy.sqlite")).check().isOfThisVersion)
        // The next service takes it over.
        _ = try Ledger(file: old)
        #expect(try file.check().isOfThisVersion)
        #expect(try file.check().problems == [])
        try await DatabaseQueue(path: old.path).writeWithoutTransaction {
            try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('99: later')")
        }
        #expect { try file.check() } throws: { ($0 as? StorageFault)?.cause == .newerVersion }
    }
}
