import ArgumentParser
import Entitlements
import Foundation
import Ledger
import Proofs

struct LedgerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ledger",
        abstract: "Check, back up, restore, export, import, distribute and reset the ledger (who owns what).",
        discussion: "check, backup, export and reset work while the service runs.",
        subcommands: [
            LedgerCheck.self, LedgerBackup.self, LedgerRestore.self, LedgerExportCommand.self, LedgerImportCommand.self,
            LedgerDistribute.self, LedgerResetCommand.self,
        ])
}

struct LedgerCheck: LedgerUser {
    static let configuration = CommandConfiguration(
        "check", "Check the file and every rule of the ledger.",
        examples: """
            till ledger check
            till ledger check --proofs
            """)

    @Flag(help: "Verify every stored proof again (till serve --keep-proofs).")
    var proofs = false

    @OptionGroup var ledger: LedgerOptions

    func perform() async throws {
        let place = try ledger.place()
        let checking = Progress("Checking the ledger")
        let report = try place.check()
        let proofs = try await proofs ? proofReport(of: place) : nil
        checking.end()
        terminal.line(
            "users \(report.users), redeemed transactions \(report.redeemedTransactions), grants \(report.grants), "
                + "notifications \(report.notifications)")
        if let proofs { terminal.line("proofs verified \(proofs.verified), not kept \(proofs.notKept)") }
        let problems = report.problems + (proofs?.problems ?? [])
        problems.forEach(terminal.line)
        terminal.line(problems.isEmpty ? "sound" : "not sound")
        try terminal.report([
            "users": report.users, "redeemedTransactions": report.redeemedTransactions, "grants": report.grants,
            "notifications": report.notifications, "proofsVerified": proofs?.verified,
            "proofsNotKept": proofs?.notKept, "problems": problems,
        ])
        guard problems.isEmpty else { throw ExitCode(1) }
    }

    private func proofReport(of place: LedgerPlace) async throws -> ProofReport {
        let verifier = try ProofVerifier(trusting: common.dataDirectory.trustedFolders, clock: SystemClock())
        return try await place.open(migrates: false).read { try $0.checkProofs(by: verifier) }
    }
}

struct LedgerBackup: LedgerUser, NamesOutput {
    static let configuration = CommandConfiguration(
        "backup", "Copy a snapshot of the ledger into a new file.",
        examples: "till ledger backup ledger-2026-11-24.sqlite")

    @OptionGroup var output: OutputArgument

    @OptionGroup var ledger: LedgerOptions

    func perform() async throws {
        let url = URL(filePath: output.file, directoryHint: .notDirectory)
        guard case .file(let ledger) = try ledger.place() else {
            throw ValidationError(
                "A ledger in PostgreSQL is backed up with PostgreSQL's own tools (pg_dump, pg_basebackup); to move it, there is "
                    + "till ledger export.")
        }
        let copying = Progress("Copying the ledger")
        try LedgerFile(ledger, features: .all()).backUp(to: url)
        copying.end()
        try terminal.result("\(url.path)", ["file": url.path])
    }
}

struct LedgerExportCommand: LedgerUser, NamesOutput {
    static let configuration = CommandConfiguration(
        "export", "Write a snapshot of the whole ledger as JSON Lines.", examples: "till ledger export ledger.jsonl")

    @OptionGroup var output: OutputArgument

    @OptionGroup var ledger: LedgerOptions

    func perform() async throws {
        let url = URL(filePath: output.file, directoryHint: .notDirectory)
        let ledger = try existingLedger()
        let exporting = Progress("Exporting the ledger")
        let rows = try NewFile.write(to: url) { write in try ledger.export(to: write) }
        exporting.end()
        try terminal.rows(rows, "in", url)
    }
}

struct LedgerImportCommand: LedgerUser {
    static let configuration = CommandConfiguration(
        "import", "Import an exported ledger, completely or not at all, into a data directory without a ledger.",
        examples: "till ledger import ledger.jsonl --data new-data")

    @Argument(help: .value("file", "A file from `till ledger export`."))
    var file: String

    @OptionGroup var ledger: LedgerOptions

    func perform() async throws {
        let url = URL(filePath: file, directoryHint: .notDirectory)
        guard let input = NamedFile.handle(of: url) else { throw ImportError.unreadable(path: url.path) }
        let ledger = try ledger.place(isNew: true).open()
        let importing = Progress("Importing the ledger")
        let rows = try ledger.importLines { () throws(ImportError) -> Data? in
            do { return try input.read(upToCount: 1 << 20) } catch { throw .unreadable(path: url.path) }
        }
        importing.end()
        try terminal.rows(rows, "from", url)
    }
}

struct LedgerDistribute: LedgerUser {
    static let configuration = CommandConfiguration(
        "distribute", "Distribute the ledger's tables over the nodes of Citus.",
        """
        Stop the services first. The database is on the coordinator of Citus, and has a ledger. All tables are distributed, or none. \
        Tables that are distributed already stay as they are.
        """,
        examples: "till ledger distribute --ledger postgres://till@coordinator/till")

    @OptionGroup var ledger: LedgerOptions

    func perform() async throws {
        let report = try existingLedger().distribute()
        if !report.distributed.isEmpty {
            terminal.table(
                ["TABLE", "ROWS"],
                report.distributed.map { [$0.table, $0.column.map { "by \($0)" } ?? "on every node"] })
        }
        terminal.line(
            "tables distributed \(report.distributed.count), distributed before \(report.earlier), nodes \(report.nodes)"
        )
        let distributed: [Report] = report.distributed.map { ["table": $0.table, "column": $0.column] }
        try terminal.report([
            "distributed": distributed, "distributedBefore": report.earlier, "nodes": report.nodes,
        ])
    }
}

struct LedgerRestore: LedgerUser {
    static let configuration = CommandConfiguration(
        "restore", "Replace the ledger with a backup.",
        """
        Stop the service first. The command checks the backup and does not change it. All sessions end: users of accounts \
        sign in again. API keys that were revoked since the backup are revoked again. The replaced ledger stays beside the \
        new one.
        """,
        examples: "till ledger restore ledger-2026-11-22.sqlite")

    @Argument(help: .value("file", "A file from `till ledger backup`."))
    var file: String

    @Flag(help: "Keep API keys valid that were revoked since the backup.")
    var keepRevivedKeys = false

    @OptionGroup var ledger: LedgerOptions

    func perform() async throws {
        try require(
            ledger.address == nil,
            "A ledger in PostgreSQL is restored with pg_restore. Then revoke the API keys again that were revoked since the "
                + "backup: till keys revoke.")
        let backup = URL(filePath: file, directoryHint: .notDirectory)
        // A wrong name creates no data directory.
        guard NamedFile.handle(of: backup, isRegular: true) != nil else {
            throw RestorationError.unreadable(path: backup.path)
        }
        guard case .file(let place) = try ledger.place(isNew: true) else { return }
        let restoring = Progress("Restoring the ledger")
        let report = try LedgerFile(place, features: .all())
            .restore(from: backup, at: SystemClock().now(), revokesRevivedKeys: !keepRevivedKeys)
        restoring.end()
        printReport(report, place: place, backup: backup)
        let revivedKeys: [Report]? = report.revivedKeys?.map {
            ["keyId": $0.identifier, "name": $0.name, "revokedAt": $0.revokedAt.rfc3339]
        }
        try terminal.report([
            "ledger": place.path, "backup": backup.path, "users": report.contents.users,
            "redeemedTransactions": report.contents.redeemedTransactions, "endedSessions": report.endedSessions,
            // The API keys revoked since the backup; left out if they are unknown.
            "revivedKeys": revivedKeys, "revokedAgain": report.revokedAgain, "previous": report.previous.file?.path,
        ])
    }

    private func printReport(_ report: RestorationReport, place: URL, backup: URL) {
        terminal.line("Restored \(place.path) from \(backup.path)")
        terminal.line(
            "users \(report.contents.users), redeemed transactions \(report.contents.redeemedTransactions), sessions ended "
                + "\(report.endedSessions)")
        for key in report.revivedKeys ?? [] {
            let state = report.revokedAgain ? "Revoked again" : "Valid again"
            terminal.line("\(state): \(key.identifier)  \(key.name)  (revoked \(key.revokedAt.rfc3339))")
        }
        if let previous = report.previous.file { terminal.line("The replaced ledger is in \(previous.path)") }
        guard report.revivedKeys == nil else { return }
        let reason =
            if case .missing = report.previous { "There was no ledger in place" } else {
                "The replaced ledger is damaged"
            }
        terminal.note(
            "\(reason), so the API keys revoked since the backup are unknown. List the keys with \(common.hint("keys", "list")), "
                + "and revoke them again with \(common.hint("keys", "revoke", "ID")).")
    }
}

struct LedgerResetCommand: LedgerUser {
    static let configuration = CommandConfiguration(
        "reset", "Delete the users and the purchases of a suite's ledger.",
        """
        Only the ledger of a service that was started with --allow-reset is reset, and none with purchases of the App Store or Google \
        Play. The API keys, the catalog, the webhooks and the team stay. `till store reset` and `till play reset` clear the local stores.
        """,
        examples: "till ledger reset --data suite")

    @OptionGroup var ledger: LedgerOptions

    func perform() async throws {
        let reset = try await existingLedger().reset(at: SystemClock().now())
        terminal.line("Deleted \(counted(reset.users, "user")), with all purchases. The keys and the catalog stay.")
        try terminal.report(["users": reset.users])
    }
}
