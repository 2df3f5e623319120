import Foundation
import GRDB
import Ledger
import Proofs
import TestSupport
import Testing

/// The comparison of a ledger's tables, indexes, triggers and views with the ledger's own definitions.
@Suite struct LedgerDefinitionTests: LedgerSuite {
    let fixture: LedgerFixture

    init() throws {
        fixture = try LedgerFixture()
    }

    /// Changes of definitions in both databases.
    private static let changes = [
        "CREATE TABLE stranger (x BIGINT)", "CREATE VIEW stranger AS SELECT 1 AS x", "DROP TABLE wish",
        "DROP TABLE wish; CREATE VIEW wish AS SELECT 1 AS x",
        "CREATE INDEX stranger ON audit (actor)", "CREATE INDEX stranger ON audit (lower(actor))",
        "CREATE UNIQUE INDEX stranger ON audit (user_id, number) WHERE number = 1", "DROP INDEX audit_by_time",
        "DROP INDEX audit_by_time; CREATE INDEX audit_by_time ON audit (origin)",
        "DROP INDEX audit_by_time; CREATE UNIQUE INDEX audit_by_time ON audit (origin, happened_at, user_id, number)",
        "DROP INDEX audit_refused; CREATE INDEX audit_refused ON audit (reason, happened_at, user_id, number)",
        "ALTER TABLE app ADD COLUMN stranger TEXT", "ALTER TABLE app RENAME COLUMN bundle_id TO stranger",
        "ALTER TABLE app RENAME TO stranger",
        #"ALTER TABLE "user" ADD COLUMN stranger INTEGER NOT NULL DEFAULT 1"#,
    ]

    private static let fileChanges = [
        "CREATE TRIGGER stranger AFTER INSERT ON redeemed_transaction BEGIN DELETE FROM api_key; END",
        "CREATE TRIGGER stranger BEFORE UPDATE OF version ON \"user\" BEGIN SELECT RAISE(IGNORE); END",
        "CREATE VIEW stranger AS SELECT 1 AS x; CREATE TRIGGER code INSTEAD OF INSERT ON stranger BEGIN SELECT 1; END",
        "DROP TRIGGER audit_is_kept", "DROP TRIGGER audit_is_not_rewritten",
        "DROP TRIGGER audit_is_kept; CREATE TRIGGER audit_is_kept BEFORE DELETE ON audit BEGIN SELECT 1; END",
        "DROP TRIGGER audit_is_kept; CREATE TRIGGER audit_is_kept BEFORE DELETE ON app BEGIN SELECT RAISE(ABORT, 'The audit log is kept.'); END",
        rewriting("app", "CHECK (app > 0)", ""), rewriting("app", "bundle_id TEXT NOT NULL", "bundle_id TEXT"),
        rewriting("app", "STRICT", ""),
        rewriting("audit_of_members", "member ", "member  "),
        rewriting("app", "bundle_id TEXT NOT NULL", "bundle_id TEXT NOT NULL COLLATE NOCASE"),
        rewriting("app", "bundle_id TEXT NOT NULL", "bundle_id TEXT NOT NULL DEFAULT 'x'"),
    ]

    private static func rewriting(_ name: String, _ old: String, _ new: String) -> String {
        """
        PRAGMA writable_schema = ON;
        UPDATE sqlite_master SET sql = replace(sql, '\(old)', '\(new.replacing("'", with: "''"))') WHERE name = '\(name)';
        PRAGMA writable_schema = OFF
        """
    }

    private static let serverChanges = [
        """
        CREATE FUNCTION stranger() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
        CREATE TRIGGER stranger BEFORE INSERT ON redeemed_transaction FOR EACH ROW EXECUTE FUNCTION stranger()
        """,
        "CREATE RULE stranger AS ON DELETE TO audit DO INSTEAD NOTHING",
        "CREATE POLICY stranger ON audit USING (false)", "CREATE MATERIALIZED VIEW stranger AS SELECT 1 AS x",
        "ALTER TABLE app ALTER COLUMN bundle_id DROP NOT NULL", "ALTER TABLE app ALTER COLUMN bundle_id TYPE varchar",
        "ALTER TABLE app ALTER COLUMN bundle_id SET DEFAULT 'x'", "ALTER TABLE app ADD CHECK (app <> 13)",
        "ALTER TABLE app DROP CONSTRAINT app_app_check", "ALTER TABLE app DROP CONSTRAINT app_bundle_id_key",
        "ALTER TABLE session DROP CONSTRAINT session_user_id_fkey",
        "ALTER TABLE audit DROP CONSTRAINT audit_pkey CASCADE",
    ]

    private func execute(_ sql: String, in file: URL) throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let database = try DatabaseQueue(path: file.path, configuration: configuration)
        try database.writeWithoutTransaction { try $0.execute(sql: sql) }
        try database.close()
    }

    @Test(arguments: changes + (LedgerFixture.isFile ? fileChanges : serverChanges))
    func `a check reports each changed definition`(change: String) async throws {
        _ = try await redeem(claim("1"), for: alice)
        #expect(try fixture.problems() == [])
        if let schema = fixture.schema {
            try schema.execute(change)
        } else {
            try execute(change, in: folder.file("ledger.sqlite"))
        }
        let problems = try fixture.problems()
        #expect(
            problems.contains {
                $0.hasSuffix("does not belong to a ledger.") || $0.hasSuffix("is missing.")
                    || $0.hasSuffix("is not as Till defines it.")
            }, "\(problems)")
    }

    @Test(.enabled(if: LedgerFixture.isFile), arguments: changes + fileChanges)
    func `a backup with a changed definition is not restored`(change: String) async throws {
        _ = try await redeem(claim("1"), for: alice)
        let (backup, place) = (folder.file("backup.sqlite"), folder.file("other.sqlite"))
        try LedgerFile(folder.file("ledger.sqlite")).backUp(to: backup)
        try execute(change, in: backup)
        let refusal = #expect(throws: RestorationError.self) {
            try LedgerFile(place).restore(from: backup, at: Self.now)
        }
        #expect(refusal?.code == "restorationUnsound")
        #expect(!FileManager.default.fileExists(atPath: place.path))
    }

    @Test(.enabled(if: LedgerFixture.isFile)) func `the tables that SQLite makes are no difference`() async throws {
        _ = try await redeem(claim("1"), for: alice)
        try execute("ANALYZE", in: folder.file("ledger.sqlite"))
        #expect(try fixture.problems() == [])
    }
}
