import ArgumentParser
import Features
import Foundation
import HTTPSupport
import Ledger
import Proofs

struct LedgerRestore: LedgerUser {
    static let configuration = CommandConfiguration(
        "restore", "Replace the ledger with a backup.",
        """
        Stop the service first. The command checks the backup and does not change it. All sessions end: users of accounts \
        sign in again. API keys that were revoked since the backup are revoked again. The replaced ledger stays beside the \
        new one.
        """,
        examples: "till ledger restore ledger-2026-11-22.sqlite")

    @Argument(help: ArgumentHelp("A file from `till ledger backup`.", valueName: "file"))
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
        guard FileManager.default.isReadableFile(atPath: backup.path) else {
            throw RestorationError.unreadable(path: backup.path)
        }
        guard case .file(let place) = try ledger.place(isNew: true) else { return }
        let report = try LedgerFile(place, features: .all())
            .restore(from: backup, at: SystemClock().now(), revokesRevivedKeys: !keepRevivedKeys)
        printReport(report, place: place, backup: backup)
        let revivedKeys: [Report]? = report.revivedKeys?.map {
            ["id": $0.identifier, "name": $0.name, "revokedAt": $0.revokedAt.rfc3339]
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

/// The location of the ledger: a file in the data directory, or a PostgreSQL database.
enum LedgerPlace: CustomStringConvertible {
    case file(URL)
    case postgreSQL(PostgreSQLAddress)

    /// - Parameter address: Nil for the file.
    init(_ address: PostgreSQLAddress?, in data: DataDirectory) {
        self = address.map { .postgreSQL($0) } ?? .file(data.ledgerFile)
    }

    /// The path of the file, or the address of the database without its password.
    var description: String {
        switch self {
        case .file(let file): file.path
        case .postgreSQL(let address): address.description
        }
    }

    /// - Parameter migrates: True if missing tables and columns are added.
    func open(_ features: [LedgerFeature] = .all(), migrates: Bool = true) throws(StorageFault) -> Ledger {
        switch self {
        case .file(let file): try Ledger(file: file, features: features, migrates: migrates)
        case .postgreSQL(let address): try Ledger(address, features: features, migrates: migrates)
        }
    }

    func check() throws -> LedgerReport {
        switch self {
        case .file(let file): try LedgerFile(file, features: .all()).check()
        case .postgreSQL(let address): try Ledger(address, features: .all(), migrates: false).check()
        }
    }

    /// - Parameter isNew: True if a missing ledger is created.
    func apiKeys(isNew: Bool = false) throws(StorageFault) -> APIKeys {
        try open(migrates: isNew).apiKeys(clock: SystemClock())
    }
}

/// The options that select the ledger of a command.
struct LedgerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A PostgreSQL database as the ledger: postgres://user@host/database (default: $TILL_LEDGER, else a file in the data "
                + "directory).", valueName: "url"))
    var ledger: String?

    @OptionGroup var common: CommonOptions

    /// The address of the PostgreSQL database; nil for a file.
    ///
    /// - Throws: `PostgreSQLAddressError`.
    var address: PostgreSQLAddress? {
        get throws {
            try (ledger?.isEmpty == false ? ledger : ProcessInfo.variable("TILL_LEDGER")).map {
                try PostgreSQLAddress($0)
            }
        }
    }

    /// The option of another command that leads to the same ledger, without a password; empty without `--ledger`.
    var options: [String] {
        guard let ledger, let address = try? PostgreSQLAddress(ledger) else { return [] }
        return ["--ledger", address.description]
    }

    /// - Parameter isNew: True if the command creates a missing ledger.
    /// - Throws: `CommandError` if there is none; `PermissionDenied`; `PostgreSQLAddressError`.
    func place(isNew: Bool = false) throws -> LedgerPlace {
        let data = common.dataDirectory
        let place = LedgerPlace(try address, in: data)
        guard case .file = place else { return place }
        if isNew { try data.prepareService() } else { try data.requireLedger() }
        return place
    }
}

extension [LedgerFeature] {
    /// All features, of which a service uses those that its settings turn on.
    ///
    /// - Parameters:
    ///   - configuration: The configuration of the service; nil for a command, which creates no tables for features.
    ///   - others: The features besides these whose tables a command creates.
    static func all(
        of configuration: ServeConfiguration? = nil, using others: [LedgerFeature] = []
    ) -> [LedgerFeature] {
        func uses(_ setting: KeyPath<ServeConfiguration, Bool>) -> Bool { configuration?[keyPath: setting] ?? false }
        let optional: [(feature: LedgerFeature, isUsed: Bool)] = [
            (.keptProofs, uses(\.keepsProofs)), (.accounts, uses(\.hasAccounts)), (.accountMail, uses(\.sendsMail)),
            (.profiles, uses(\.hasProfiles) || uses(\.servesSeedApp)), (.seedApp, uses(\.servesSeedApp)),
            (.webhooks, uses(\.hasWebhooks)), (.forwarding, uses(\.forwardsNotifications)),
            (.catalogAdministration, uses(\.administersCatalog)),
            (.figures, uses(\.hasFigures)), (.team, uses(\.hasConsole)),
        ]
        return all.map { feature in
            feature.used(
                if: others.contains(feature) || optional.first { $0.feature == feature }?.isUsed ?? true)
        }
    }
}
