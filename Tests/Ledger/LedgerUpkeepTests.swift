import Foundation
import GRDB
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// Checks and backups of a ledger that is in use.
@Suite(.enabled(if: LedgerFixture.isFile)) struct LedgerUpkeepTests: LedgerSuite {
    let fixture: LedgerFixture

    init() throws {
        fixture = try LedgerFixture()
    }

    private var file: LedgerFile { LedgerFile(folder.file("ledger.sqlite")) }

    private func fill() async throws {
        _ = try await redeem(claim("1"), claim("2", original: "1"), for: alice)
        _ = try await redeem(claim("3"), claim("4", item: nil, credit: Credit(balance: "coins", amount: 1)), for: bob)
    }

    @Test func `a check counts the rows of a sound ledger`() async throws {
        try await fill()
        let report = try file.check()
        #expect(report.problems == [])
        #expect(report.users == 2)
        #expect(report.redeemedTransactions == 4)
    }

    @Test(arguments: [
        (
            "UPDATE redeemed_transaction SET user_id = 2, sequence = 9 WHERE transaction_id = '2'",
            "another user than its claim"
        ),
        ("UPDATE claim SET owner_id = 2 WHERE transaction_id = '1'", "another user than its original"),
        ("DELETE FROM claim WHERE transaction_id = '1'", "another user than its claim"),
        ("DELETE FROM redeemed_transaction WHERE transaction_id = '1'", "A claim has no transaction"),
        ("UPDATE user_name SET user_id = 2", "A name leads to another user"),
        ("INSERT INTO user_name VALUES ('x', 'customer', 99)", "A name leads to another user"),
        ("INSERT INTO user_alias VALUES (1, 'x', 'customer', 1)", "A name leads to another user"),
        ("INSERT INTO user_merge VALUES (2, 1, 1)", "A merged user still owns a purchase"),
        (
            "INSERT INTO expected_transaction VALUES ('90', 4, 1, 99)",
            "The original transaction of an expected purchase leads to another"
        ),
        (
            "INSERT INTO expected_purchase VALUES (1, '90', 4, 1, 1, 'p', 1, NULL)",
            "The original transaction of an expected purchase leads to another"
        ),
        (
            """
            INSERT INTO expected_transaction VALUES ('90', 4, 1, 1);
            INSERT INTO user_merge VALUES (2, 1, 1)
            """,
            "An import expects a purchase for a merged user"
        ),
        ("DELETE FROM account_token", "An account token leads to another user"),
        ("INSERT INTO account_email VALUES ('a@b.co', 1)", "An e-mail address leads to another account"),
        ("UPDATE user SET audit_number = 1 WHERE user_id = 1", "last numbers"),
        ("UPDATE user SET audit_digest = zeroblob(32)", "last numbers"),
        ("UPDATE user SET last_transaction = 0", "last numbers"),
        ("UPDATE credit SET sequence = 9 WHERE user_id = 2", "refers to a missing row of redeemed_transaction"),
        ("UPDATE redeemed_transaction SET ends_at = 1", "period of an item differs"),
        ("UPDATE redeemed_transaction SET is_revoked = 1", "period of an item differs"),
        ("UPDATE redeemed_transaction SET renewal_stated_at = 1", "renewal of an item differs"),
        (
            """
            INSERT INTO subscription (user_id, original_transaction_id, origin, app, stated_at, proof_digest,
                auto_renew_status, settings) VALUES (1, '1', 4, 1, 7, zeroblob(32), 0, '5+ 6-')
            """,
            "The settings of a renewal lack"
        ),
        ("UPDATE redeemed_transaction SET chain = 99", "unknown chain"),
        ("UPDATE redeemed_transaction SET product = 99 WHERE transaction_id = '2'", "unknown product"),
        ("DELETE FROM product", "A record of the audit log has an unknown app or product"),
        ("UPDATE product SET product_id = 'q' WHERE product = 1", "audit log"),
        (
            "UPDATE redeemed_transaction SET transaction_id = '1', origin = 4 WHERE transaction_id = '2'",
            "A transaction is there twice"
        ),
        ("UPDATE redeemed_transaction SET revocation_date = 1", "period of an item differs"),
        ("UPDATE credit SET is_revoked = 1", "A credit differs"),
        (
            """
            INSERT INTO parked_transaction (transaction_id, origin, app, original_transaction_id, stated_at, claim)
            VALUES ('1', 4, 1, '1', 1, zeroblob(1))
            """,
            "is still parked"
        ),
        (
            """
            INSERT INTO parked_transaction (transaction_id, origin, app, original_transaction_id, stated_at, claim)
            VALUES ('91', 4, 1, '90', 1, zeroblob(1))
            """,
            "A purchase does not lead to a parked transaction"
        ),
        (
            "INSERT INTO parked_original VALUES ('90', 4, 1, '91')",
            "A purchase leads to no parked transaction, and to none that states a move from it"
        ),
        ("UPDATE redeemed_transaction SET grace_ends_at = 1", "A grace period"),
        ("UPDATE redeemed_transaction SET origin = 99 WHERE transaction_id = '3'", "unknown origin"),
        ("UPDATE user SET app_account_token = upper(app_account_token) || ''", "not a UUID in lowercase"),
        ("DELETE FROM user WHERE user_id = 2", "refers to a missing row of user"),
        ("UPDATE redeemed_transaction SET quantity = 0", "CHECK constraint"),
        (
            """
            INSERT INTO google_purchase VALUES
                ('t', 7, 1, 't', NULL, 0, 'purchased', 'p', NULL, 1, NULL, NULL, NULL, 0, NULL, 'q', 0, 1, NULL, NULL, 0)
            """,
            "CHECK constraint failed in google_purchase"
        ),
        (
            """
            INSERT INTO google_purchase VALUES
                ('t', 7, 1, 't', NULL, 0, 'purchased', NULL, 'GPA.1', 1, NULL, NULL, NULL, 0, NULL, 'q', 0, 1, NULL, NULL, 0)
            """,
            "CHECK constraint failed in google_purchase"
        ),
        (
            """
            INSERT INTO google_purchase VALUES
                ('t', 7, 1, 't', NULL, 0, 'purchased', NULL, NULL, 1, NULL, 5, NULL, 0, 5, 'q', 0, 1, NULL, NULL, 0)
            """,
            "CHECK constraint failed in google_purchase"
        ),
    ])
    func `a check names the problem`(damage: String, problem: String) async throws {
        try await fill()
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA ignore_check_constraints = ON") }
        let database = try DatabaseQueue(path: folder.file("ledger.sqlite").path, configuration: configuration)
        try await database.writeWithoutTransaction { try $0.execute(sql: damage) }
        let problems = try file.check().problems
        #expect(problems.contains { $0.contains(problem) }, "\(problems)")
    }

    @Test func `a backup is complete and private, and overwrites nothing`() async throws {
        try await fill()
        let copied = folder.file("copy.sqlite")
        try file.backUp(to: copied)
        _ = try await redeem(claim("5"), for: alice)
        #expect(throws: BackupError.exists(path: copied.path)) { try file.backUp(to: copied) }
        let mode = try FileManager.default.attributesOfItem(atPath: copied.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let beside = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
            .filter { $0.hasPrefix("copy.sqlite") }
        #expect(beside == ["copy.sqlite"])
        let report = try LedgerFile(copied).check()
        let copy = try Ledger(file: copied)
        #expect(report.problems == [])
        #expect(report.redeemedTransactions == 4)
        #expect(
            try await copy.read { try $0.items(of: alice, at: Self.now) }
                == ledger.read {
                    try $0.items(of: alice, at: Self.now)
                })
        let nowhere = folder.url.appending(path: "nowhere/copy.sqlite")
        #expect(throws: BackupError.notWritten(path: nowhere.path)) { try file.backUp(to: nowhere) }
    }
}
