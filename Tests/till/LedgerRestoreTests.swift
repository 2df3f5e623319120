import Foundation
import Service
import TestSupport
import Testing

/// `till ledger restore`
@Suite struct LedgerRestoreTests {
    private static let product = "com.memolease.sesac1."

    /// The output of `till ledger restore --json`.
    private struct Restored: Decodable {
        struct Key: Decodable {
            let keyId: String
        }

        let revokedAgain: Bool
        let revivedKeys: [Key]?
    }

    let till: TillProcess

    init() throws {
        till = try TillProcess()
    }

    private var backup: String { till.folder.file("backup.sqlite").path }

    private func buy(_ product: String) async throws {
        #expect(try await till.run("buy", Self.product + product, "--user", "alice").status == 0)
    }

    /// The number of redeemed transactions, of a sound ledger.
    private func redeemed() async throws -> Int {
        let report = try await till.run("ledger", "check", "--json").decoded(CheckedLedger.self)
        #expect(report.problems == [])
        return report.redeemedTransactions
    }

    @Test func `a backup is restored after the service has stopped, without its sessions and revoked keys`()
        async throws
    {
        let made = try await till.run("keys", "make", "shop", "--json").decoded(MadeKey.self)
        let (key, id) = (made.key, made.id)
        try await buy("sprout1")
        let first = try await ServeProcess(till, ["--accounts"])
        let entered = try await first.curl(
            "/v1/accounts", body: #"{"email":"mint@example.com","password":"correct horse"}"#)
        let access = try entered.decoded(EntranceResource.self).tokens.accessToken
        #expect(try await till.run("ledger", "backup", backup).status == 0)
        #expect(try await till.run("keys", "revoke", id).status == 0)
        try await buy("sprout2")
        let refused = try await till.run("ledger", "restore", backup, "--json")
        #expect(refused.status == 1)
        #expect(refused.code == "restorationLedgerInUse")
        #expect(refused.error.contains("ledger.sqlite\" is in use. Stop the service"))
        #expect(await first.end(SIGTERM) == 0)
        #expect(try await redeemed() == 2)

        let restored = try await till.run("ledger", "restore", backup)
        #expect(restored.status == 0, "\(restored.error)")
        #expect(restored.output.contains("users 2, redeemed transactions 1, sessions ended 1\n"))
        #expect(restored.output.contains("Revoked again: \(id)  shop  (revoked "))
        #expect(restored.output.contains("/ledger.before-restore-"))
        #expect(restored.error == "")
        #expect(try await redeemed() == 1)
        let second = try await ServeProcess(till, ["--accounts"])
        #expect(try await second.curl("/v1/products", key: key).status == 401)
        #expect(try await second.curl("/v1/me/items", key: access).status == 401)
        #expect(await second.end(SIGTERM) == 0)
    }

    @Test func `revived keys stay valid on request`() async throws {
        let made = try await till.run("keys", "make", "shop", "--json").decoded(MadeKey.self)
        let (key, id) = (made.key, made.id)
        #expect(try await till.run("ledger", "backup", backup).status == 0)
        #expect(try await till.run("keys", "revoke", id).status == 0)
        let restored = try await till.run("ledger", "restore", backup, "--keep-revived-keys", "--json")
            .decoded(Restored.self)
        #expect(!restored.revokedAgain)
        #expect(restored.revivedKeys?.map(\.keyId) == [id])
        let service = try await ServeProcess(till)
        #expect(try await service.curl("/v1/products", key: key).status == 200)
        #expect(await service.end(SIGTERM) == 0)
    }

    @Test func `a ledger is restored into a new directory, where revoked keys are unknown`() async throws {
        try await buy("sprout1")
        #expect(try await till.run("ledger", "backup", backup).status == 0)
        let restored = try await till.run("ledger", "restore", backup, "--data", "new")
        #expect(restored.status == 0)
        #expect(
            restored.error.contains(
                "There was no ledger in place, so the API keys revoked since the backup are unknown."))
        #expect(restored.error.contains("till keys list --data new"))
        #expect(try await till.run("owned", "alice", "--data", "new").output.contains("Sturdy Sprout"))
    }

    @Test func `a missing file creates nothing, and PostgreSQL has tools of its own`() async throws {
        let missing = try await till.run("ledger", "restore", "nowhere.sqlite", "--data", "new")
        #expect(missing.status == 1)
        #expect(missing.error.contains("nowhere.sqlite\" does not exist."))
        #expect(!FileManager.default.fileExists(atPath: till.folder.folder("new").path))
        let database = try await till.run("ledger", "restore", "x", "--ledger", "postgres://till@localhost/till")
        #expect(database.status == 64)
        #expect(database.error.contains("pg_restore"))
        #expect(database.error.contains("till keys revoke"))
    }

    @Test func `a restore that is killed leaves the one ledger or the other, whole`() async throws {
        try await buy("sprout1")
        #expect(try await till.run("ledger", "backup", backup).status == 0)
        try await buy("sprout2")
        let later = till.folder.file("later.sqlite").path
        #expect(try await till.run("ledger", "backup", later).status == 0)
        var found: Set<Int> = []
        for milliseconds in stride(from: 0, through: 60, by: 4) {
            try await kill(till.process(arguments: ["ledger", "restore", backup]), after: milliseconds)
            let count = try await redeemed()
            found.insert(count)
            if count == 1 { #expect(try await till.run("ledger", "restore", later).status == 0) }
        }
        #expect(found.isSubset(of: [1, 2]))
        #expect(try await till.run("ledger", "restore", backup).status == 0)
        #expect(try await redeemed() == 1)
    }

    /// Waits for the end of a process that is killed while it runs.
    private func kill(_ process: Process, after milliseconds: Int) async throws {
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do { try process.launchAlone() } catch { return continuation.resume(throwing: error) }
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) {
                if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
            }
        }
    }
}
