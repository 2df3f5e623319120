import Entitlements
import Features
import Foundation
import GRDB
import HTTPSupport
import Ledger
import Proofs
import TestSupport
import Testing

/// The replacement of a ledger in its own folder by a backup.
@Suite(.enabled(if: LedgerFixture.isFile)) struct LedgerRestorationTests: LedgerSuite {
    let fixture: LedgerFixture
    private let place: URL
    private let backup: URL

    init() throws {
        fixture = try LedgerFixture()
        let service = fixture.folder.folder("service")
        try FileManager.default.createDirectory(at: service, withIntermediateDirectories: true)
        place = service.appending(path: "ledger.sqlite", directoryHint: .notDirectory)
        backup = fixture.folder.file("backup.sqlite")
    }

    /// Opens the ledger in place during `body`.
    @discardableResult
    private func withLedger<Value>(_ body: (Ledger) async throws -> Value) async throws -> Value {
        try await LedgerFixture.withLedger(at: place, body)
    }

    private func addKey(_ identifier: String, to ledger: Ledger, revokedAt: Timestamp? = nil) async throws {
        let key = APIKeyRecord(
            identifier: identifier, name: "key \(identifier)", scopes: ["read"], key: identifier, createdAt: Self.now)
        try await ledger.write {
            try $0.add(key)
            if let revokedAt { _ = try $0.revokeAPIKey(identifier, at: revokedAt) }
        }
    }

    /// Makes a backup with a purchase and three API keys, of which one is revoked. Then adds a purchase and a revoked key, and
    /// revokes another key.
    private func makeBackupAndGoOn() async throws {
        try await withLedger { ledger in
            _ = try await ledger.write { try $0.redeem([claim("1")], for: alice, at: Self.now) }
            try await addKey("a", to: ledger, revokedAt: Self.now)
            for identifier in ["b", "c"] { try await addKey(identifier, to: ledger) }
        }
        try LedgerFile(place).backUp(to: backup)
        try await withLedger { ledger in
            _ = try await ledger.write { try $0.redeem([claim("2")], for: bob, at: Self.now) }
            try await addKey("d", to: ledger, revokedAt: Self.later(9))
            _ = try await ledger.write { try $0.revokeAPIKey("b", at: Self.later(5)) }
        }
    }

    @discardableResult
    private func restore(revokesRevivedKeys: Bool = true) throws -> RestorationReport {
        try LedgerFile(place).restore(from: backup, at: Self.now, revokesRevivedKeys: revokesRevivedKeys)
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: place.deletingLastPathComponent().path).sorted()
    }

    private func auxiliaryFile(_ suffix: String) -> URL {
        URL(filePath: place.path + suffix, directoryHint: .notDirectory)
    }

    private func revocations() async throws -> [String: Timestamp?] {
        try await withLedger { ledger in
            Dictionary(
                uniqueKeysWithValues: try await ledger.read { try $0.apiKeys() }.map { ($0.identifier, $0.revokedAt) })
        }
    }

    @Test func `a backup replaces the ledger, which is kept complete beside it`() async throws {
        try await makeBackupAndGoOn()
        let report = try restore()
        #expect(report.contents.redeemedTransactions == 1)
        let name = "ledger.before-restore-20260921T141320Z.sqlite"
        #expect(try names() == [name, "ledger.lock", "ledger.sqlite", "ledger.sqlite.lock"])
        let kept = place.deletingLastPathComponent().appending(path: name, directoryHint: .notDirectory)
        #expect(report.previous == .kept(kept))
        for file in [place, kept] {
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
        #expect(try LedgerFile(place).check().problems == [])
        #expect(try LedgerFile(place).check().redeemedTransactions == 1)
        #expect(try LedgerFile(kept).check().redeemedTransactions == 2)
        // A second restoration overwrites nothing.
        #expect(try restore().previous.file?.lastPathComponent == "ledger.before-restore-20260921T141320Z-2.sqlite")
    }

    @Test func `an API key revoked since the backup is revoked again`() async throws {
        try await makeBackupAndGoOn()
        let report = try restore()
        #expect(report.revivedKeys?.map(\.identifier) == ["b"])
        #expect(report.revivedKeys?.map(\.name) == ["key b"])
        #expect(report.revokedAgain)
        #expect(try await revocations() == ["a": Self.now, "b": Self.later(5), "c": nil])
    }

    @Test func `a revived API key stays valid on request, and is listed`() async throws {
        try await makeBackupAndGoOn()
        let report = try restore(revokesRevivedKeys: false)
        #expect(report.revivedKeys?.map(\.identifier) == ["b"])
        #expect(!report.revokedAgain)
        #expect(try await revocations() == ["a": Self.now, "b": nil, "c": nil])
    }

    @Test func `all sessions end, and accounts stay`() async throws {
        func accounts(_ ledger: Ledger) -> AccountService {
            AccountService(ledger: ledger, clock: ManualClock(Self.now), cost: .minimal)
        }
        let mint = try await withLedger { ledger in
            try await accounts(ledger).open(try EmailAddress("mint@example.com"), passwordHash: "h")
        }
        try LedgerFile(place).backUp(to: backup)
        #expect(try restore().endedSessions == 1)
        try await withLedger { ledger in
            let presented = try await accounts(ledger).user(presenting: mint.tokens.access.text)
            #expect(presented == .invalid)
            let account = try await accounts(ledger).account(of: mint.account.user)
            #expect(account == mint.account)
        }
    }

    @Test func `a ledger in use is not replaced`() async throws {
        try await makeBackupAndGoOn()
        let items = try await withLedger { ledger in
            #expect(throws: RestorationError.inUse(path: place.path)) { try restore() }
            return try await ledger.read { try $0.items(of: bob, at: Self.now) }
        }
        #expect(items == [Self.sprout1])
        // Another program does not use Till's lock.
        let other = try DatabaseQueue(path: place.path)
        try await other.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
        _ = try await other.read { try $0.tableExists("user") }
        #expect(throws: RestorationError.inUse(path: place.path)) { try restore() }
        try other.close()
        #expect(try LedgerFile(place).check().redeemedTransactions == 2)
        try restore()
        #expect(try LedgerFile(place).check().redeemedTransactions == 1)
    }

    @Test func `the backup stays as it is`() async throws {
        try await makeBackupAndGoOn()
        let before = try Data(contentsOf: backup)
        try restore()
        #expect(try Data(contentsOf: backup) == before)
        let beside = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(beside.filter { $0.hasPrefix("backup") } == ["backup.sqlite"])
        #expect(throws: RestorationError.sameFile(path: place.path)) {
            try LedgerFile(place).restore(from: place, at: Self.now)
        }
    }

    enum Fault: CaseIterable {
        case noDatabase, empty, otherDatabase, otherVersion, brokenRule, folder, missing
    }

    private func damageBackup(_ fault: Fault) throws {
        switch fault {
        case .noDatabase: try Data(repeating: 0x55, count: 4096).write(to: backup)
        case .empty: try Data().write(to: backup)
        case .otherDatabase, .folder, .missing: try FileManager.default.removeItem(at: backup)
        case .otherVersion, .brokenRule: break
        }
        if fault == .folder {
            try FileManager.default.createDirectory(at: backup, withIntermediateDirectories: false)
        }
        let statement: String? =
            switch fault {
            case .otherDatabase: "CREATE TABLE user (name TEXT)"
            case .otherVersion: "PRAGMA user_version = 21"
            case .brokenRule: "DELETE FROM claim"
            default: nil
            }
        guard let statement else { return }
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        try DatabaseQueue(path: backup.path, configuration: configuration)
            .writeWithoutTransaction { try $0.execute(sql: statement) }
    }

    @Test(arguments: Fault.allCases)
    func `an unusable backup is refused, and nothing changes`(fault: Fault) async throws {
        try await makeBackupAndGoOn()
        try damageBackup(fault)
        let (before, namesBefore) = (try Data(contentsOf: place), try names())
        let refusal = #expect(throws: RestorationError.self) { try restore() }
        let code =
            switch fault {
            case .noDatabase, .empty, .otherDatabase: "restorationNotALedger"
            case .otherVersion: "restorationOtherVersion"
            case .brokenRule: "restorationUnsound"
            case .folder, .missing: "restorationUnreadable"
            }
        #expect(refusal?.code == code)
        #expect(refusal?.message.contains(backup.path) == true)
        #expect(try Data(contentsOf: place) == before)
        #expect(try names() == namesBefore)
    }
}
