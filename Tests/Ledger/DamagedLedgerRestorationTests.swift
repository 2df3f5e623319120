import Entitlements
import Foundation
import GRDB
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The replacement of a damaged or missing ledger, and of one in several files, by a backup.
@Suite(.enabled(if: LedgerFixture.isFile)) struct DamagedLedgerRestorationTests: LedgerSuite {
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

    private func auxiliaryFile(_ suffix: String, of file: URL) -> URL {
        URL(filePath: file.path + suffix, directoryHint: .notDirectory)
    }

    /// Makes a backup with a purchase of alice.
    private func makeBackup() async throws {
        _ = try await redeem(claim("1"), for: alice)
        try LedgerFile(folder.file("ledger.sqlite")).backUp(to: backup)
    }

    private func items() async throws -> [Item] {
        try await LedgerFixture.withLedger(at: place) { ledger in
            try await ledger.read { try $0.items(of: alice, at: Self.now) }
        }
    }

    private func restore() throws -> RestorationReport {
        try LedgerFile(place).restore(from: backup, at: Self.now)
    }

    /// Expects the one purchase of the backup in place, in one file.
    private func expectRestored() async throws {
        for suffix in ["-wal", "-shm", "-journal", ".restoring"] {
            #expect(!FileManager.default.fileExists(atPath: auxiliaryFile(suffix, of: place).path))
        }
        let report = try LedgerFile(place).check()
        #expect(report.problems == [])
        #expect(report.redeemedTransactions == 1)
        #expect(try await items() == [Self.sprout1])
    }

    @Test func `a damaged ledger is replaced, and kept unchanged`() async throws {
        try await makeBackup()
        let damaged = Data(repeating: 0x55, count: 8192)
        try damaged.write(to: place)
        let report = try restore()
        #expect(report.revivedKeys == nil)
        guard case .keptDamaged(let kept) = report.previous else {
            Issue.record("The damaged ledger was not kept.")
            return
        }
        #expect(try Data(contentsOf: kept) == damaged)
        try await expectRestored()
    }

    @Test func `a missing ledger is restored, without the write-ahead log of another`() async throws {
        try await makeBackup()
        try await LedgerFixture.withLedger(at: place) { other in
            _ = try await other.write { try $0.redeem([claim("8"), claim("9")], for: bob, at: Self.now) }
            try withExtendedLifetime(other) {
                try FileManager.default.copyItem(at: auxiliaryFile("-wal", of: place), to: folder.file("log"))
            }
        }
        try FileManager.default.removeItem(at: place)
        try FileManager.default.copyItem(at: folder.file("log"), to: auxiliaryFile("-wal", of: place))
        let report = try restore()
        #expect(report.previous == .missing)
        #expect(report.revivedKeys == nil)
        try await expectRestored()
    }

    @Test func `the remains of an interrupted restoration are replaced`() async throws {
        try await makeBackup()
        for suffix in [".restoring", ".restoring-wal", ".restoring-journal"] {
            try Data(repeating: 0x55, count: 4096).write(to: auxiliaryFile(suffix, of: place))
        }
        #expect(try restore().previous == .missing)
        try await expectRestored()
    }

    @Test func `a copied ledger is restored with the write-ahead log beside it`() async throws {
        _ = try await redeem(claim("1"), for: alice)
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(
                at: auxiliaryFile(suffix, of: folder.file("ledger.sqlite")), to: auxiliaryFile(suffix, of: backup))
        }
        #expect(try restore().contents.redeemedTransactions == 1)
        try await expectRestored()
    }

    @Test func `a link to the ledger stays a link`() async throws {
        try await makeBackup()
        let target = folder.file("elsewhere.sqlite")
        do { _ = try Ledger(file: target) }
        try FileManager.default.createSymbolicLink(at: place, withDestinationURL: target)
        let report = try restore()
        #expect(report.previous.file?.deletingLastPathComponent().path == folder.url.path)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: place.path) == target.path)
        #expect(try await items() == [Self.sprout1])
    }
}
