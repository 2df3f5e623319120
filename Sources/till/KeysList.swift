import AppStore
import ArgumentParser
import HTTPSupport
import Ledger
import Proofs
import Service

/// `till keys list`
struct KeysList: Command {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the API keys (secrets are not stored).",
        discussion: """
            The scope of an app's public key is its platform, such as "public apple". Its id is the key.

            LAST USED is at most about an hour old.

            Example:
              till keys list
            """)

    @OptionGroup var ledger: LedgerOptions

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let reports = try await ledger.place(common).apiKeys().list().map(APIKeyReport.init)
        var table = TextTable(header: ["ID", "NAME", "SCOPES", "APP", "MADE", "EXPIRES", "LAST USED", "REVOKED"])
        for report in reports {
            table.add([
                report.id, report.name, report.platform.map { "public \($0)" } ?? report.scopes.joined(separator: ","),
                report.app ?? "-", report.createdAt,
                report.expiresAt ?? "-", report.lastUsedAt ?? "-", report.revokedAt ?? "-",
            ])
        }
        table.lines.forEach(terminal.line)
        try terminal.json(["keys": reports])
    }
}
