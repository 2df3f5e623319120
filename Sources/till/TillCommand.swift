import ArgumentParser
import Foundation
import HTTPSupport

/// The command line. It runs the app, the store and the service on one machine.
@main
package struct TillCommand: AsyncParsableCommand {
    /// The version of Till. `till --version` prints it, and the packages and manual pages take it from there.
    static let version = "0.1.0"

    package static let configuration = CommandConfiguration(
        commandName: "till",
        abstract: "An in-app purchase server, with a local App Store to develop and test against.",
        discussion: """
            Buy a product, validate the receipt, and list the user's items:

              till products
              till buy com.memolease.sesac1.sprout1 --user alice
              till receipt export --user alice --out alice.receipt
              till receipt validate alice.receipt
              till owned alice

            Till stores its keys, the store's queue and the ledger in the data directory: --data DIR, else TILL_DATA, else \
            .till. Exit status: 0 done or valid, 1 refused or invalid, 64 wrong usage or setting.
            """,
        version: version,
        groupedSubcommands: [
            CommandGroup(
                name: "Buy and test",
                subcommands: [
                    DemoCommand.self, Buy.self, Resume.self, Restore.self, ReceiptCommand.self, StoreCommand.self,
                    PlayCommand.self,
                ]),
            CommandGroup(
                name: "Serve",
                subcommands: [
                    Serve.self, Status.self, Doctor.self, Reconcile.self, Notifications.self, WebhooksCommand.self,
                    MCPCommand.self,
                ]),
            CommandGroup(
                name: "Support",
                subcommands: [
                    CustomersCommand.self, FindTransaction.self, Owned.self, Why.self, Story.self, AuditCommand.self,
                    Give.self, Add.self, Revoke.self, Reinstate.self, Move.self, StoreActionsCommand.self,
                    UnclaimedCommand.self, AdvancedCommerceCommand.self, GrantsCommand.self, AttributesCommand.self,
                    Refusals.self, RefundsCommand.self, RetentionCommand.self, ExternalPurchasesCommand.self,
                    ExternalTransactionsCommand.self, ExportUser.self, EraseUser.self,
                ]),
            CommandGroup(name: "Catalog", subcommands: [InitCommand.self, ProductsCommand.self]),
            CommandGroup(name: "Figures", subcommands: [FiguresCommand.self, ExportCommand.self]),
            CommandGroup(name: "Ledger", subcommands: [LedgerCommand.self, ImportCommand.self]),
            CommandGroup(
                name: "Administration",
                subcommands: [
                    KeysCommand.self, TrustCommand.self, ConsoleCommand.self, VersionCommand.self,
                    CompletionCommand.self,
                ]),
        ])

    package init() {}

    /// The command that the words after `till` call.
    ///
    /// - Throws: An error of the parser, also for help.
    package static func command(of words: [String]) throws -> any ParsableCommand {
        try parseAsRoot(CommandWords.parsed(words))
    }

    static func main() async {
        CurlHandle.start()
        // A reader that has enough closes the pipe. That is no error, and must not interrupt a purchase.
        signal(SIGPIPE, SIG_IGN)
        let words = CommandWords.parsed(Array(CommandLine.arguments.dropFirst()))
        do {
            var command = try parseAsRoot(words)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            let code = exitCode(for: error)
            // Help, and scripts for shells; or the command has said the reason.
            guard !code.isSuccess, !(error is ExitCode) else { exit(withError: error) }
            if code == .validationFailure {
                WrongUsage(message(for: error), inReport: fullMessage(for: error), of: words).show()
            } else {
                let report = fullMessage(for: error)
                if !report.isEmpty { Terminal(isJSON: false).errorPage(report) }
            }
            exit(withError: code)
        }
    }
}
