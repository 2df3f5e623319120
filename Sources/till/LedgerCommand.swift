import ArgumentParser
import Features
import Foundation
import Ledger
import Proofs

/// `till ledger`
struct LedgerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ledger",
        abstract: "Check, back up, restore, export and import the ledger: the record of who owns what.",
        discussion: "check, backup and export work while the service runs.",
        subcommands: [
            LedgerCheck.self, LedgerBackup.self, LedgerRestore.self, LedgerExportCommand.self, LedgerImportCommand.self,
        ])
}

/// `till ledger check`
struct LedgerCheck: Command {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check the file and every rule of the ledger.",
        discussion: """
            Examples:
              till ledger check
              till ledger check --proofs
            """)

    @Flag(help: "Verify every stored proof again (till serve --keep-proofs).")
    var proofs = false

    @OptionGroup var ledger: LedgerOptions

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let place = try ledger.place(common)
        let report = try place.check()
        terminal.line(
            "users \(report.users), redeemed transactions \(report.redeemedTransactions), grants \(report.grants), "
                + "notifications \(report.notifications)")
        let proofs = try await proofs ? proofReport(of: place) : nil
        if let proofs { terminal.line("proofs verified \(proofs.verified), not kept \(proofs.notKept)") }
        let problems = report.problems + (proofs?.problems ?? [])
        problems.forEach(terminal.line)
        terminal.line(problems.isEmpty ? "sound" : "not sound")
        try terminal.json(LedgerCheckReport(report, proofs, problems))
        guard problems.isEmpty else { throw ExitCode(1) }
    }

    private func proofReport(of place: LedgerPlace) async throws -> ProofReport {
        let verifier = ProofVerifier(
            anchors: try TrustAnchors(folders: common.dataDirectory.trustedFolders), clock: SystemClock())
        return try await place.open(migrates: false).read { try $0.checkProofs(by: verifier) }
    }
}

/// `till ledger backup`
struct LedgerBackup: Command {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy a snapshot of the ledger into a new file.",
        discussion: """
            Example:
              till ledger backup ledger-2026-11-24.sqlite
            """)

    @Argument(help: ArgumentHelp("The file to create.", valueName: "file"))
    var file: String

    @OptionGroup var ledger: LedgerOptions

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let url = URL(filePath: file, directoryHint: .notDirectory)
        guard case .file(let ledger) = try ledger.place(common) else {
            throw ValidationError(
                "A ledger in PostgreSQL is backed up with PostgreSQL's own tools (pg_dump, pg_basebackup); to move it, there is "
                    + "till ledger export.")
        }
        try LedgerFile(ledger, features: .all()).backUp(to: url)
        terminal.line("\(url.path)")
        try terminal.json(["file": url.path])
    }
}

/// `till ledger export`
struct LedgerExportCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write a snapshot of the whole ledger as JSON Lines.",
        discussion: """
            Example:
              till ledger export ledger.jsonl
            """)

    @Argument(help: ArgumentHelp("The file to create.", valueName: "file"))
    var file: String

    @OptionGroup var ledger: LedgerOptions

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let url = URL(filePath: file, directoryHint: .notDirectory)
        let ledger = try ledger.place(common).open(migrates: false)
        let rows = try NewFile.write(to: url) { write in try ledger.export(to: write) }
        terminal.line("\(rows) rows in \(url.path)")
        try terminal.json(ExportReport(file: url.path, rows: rows))
    }
}

/// `till ledger import`
struct LedgerImportCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import an exported ledger, completely or not at all, into a data directory without a ledger.",
        discussion: """
            Example:
              till ledger import ledger.jsonl --data new-data
            """)

    @Argument(help: ArgumentHelp("A file from `till ledger export`.", valueName: "file"))
    var file: String

    @OptionGroup var ledger: LedgerOptions

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let url = URL(filePath: file, directoryHint: .notDirectory)
        guard let input = try? FileHandle(forReadingFrom: url) else { throw ImportError.unreadable(path: url.path) }
        let ledger = try ledger.place(common, isNew: true).open()
        let rows = try ledger.importLines { () throws(ImportError) -> Data? in
            do { return try input.read(upToCount: 1 << 20) } catch { throw .unreadable(path: url.path) }
        }
        terminal.line("\(rows) rows from \(url.path)")
        try terminal.json(ExportReport(file: url.path, rows: rows))
    }
}

private struct ExportReport: Encodable {
    let file: String
    let rows: Int
}

/// The JSON output of `till ledger check`.
struct LedgerCheckReport: Encodable {
    private let users: Int
    private let redeemedTransactions: Int
    private let grants: Int
    private let notifications: Int
    /// Nil without `--proofs`.
    private let proofsVerified: Int?
    private let proofsNotKept: Int?
    private let problems: [String]

    init(_ report: LedgerReport, _ proofs: ProofReport?, _ problems: [String]) {
        users = report.users
        redeemedTransactions = report.redeemedTransactions
        grants = report.grants
        notifications = report.notifications
        proofsVerified = proofs?.verified
        proofsNotKept = proofs?.notKept
        self.problems = problems
    }
}
