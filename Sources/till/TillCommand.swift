import ArgumentParser
import Vocabulary

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
            .till. Exit status: 0 done or valid, 1 refused or invalid, 64 wrong usage.
            """,
        version: version,
        subcommands: [
            ProductsCommand.self, Buy.self, Resume.self, Restore.self,
            ReceiptCommand.self,
            CustomersCommand.self, FindTransaction.self, Owned.self, Why.self, Story.self, Give.self, Add.self,
            Revoke.self, Reinstate.self,
            Move.self, UnclaimedCommand.self, GrantsCommand.self, AttributesCommand.self, ExportUser.self,
            EraseUser.self, WebhooksCommand.self,
            InitCommand.self,
            Doctor.self,
            Serve.self,
            StoreCommand.self,
            PlayCommand.self,
            Reconcile.self,
            RefundsCommand.self, Refusals.self, Notifications.self,
            ImportCommand.self,
            AuditCommand.self,
            FiguresCommand.self,
            ExportCommand.self,
            LedgerCommand.self,
            KeysCommand.self,
            TrustCommand.self,
            ConsoleCommand.self,
            DemoCommand.self,
        ])

    package init() {}

    static func main() async {
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            let code = exitCode(for: error)
            // Help, and scripts for shells.
            guard !code.isSuccess else { exit(withError: error) }
            let isWrongUsage = code == .validationFailure
            let problem =
                isWrongUsage
                ? misspelling(in: CommandLine.arguments.dropFirst(), reportedAs: message(for: error)) : nil
            let report = problem.map { "Error: \($0)" } ?? fullMessage(for: error)
            // The parser quotes arguments, whose line breaks are not those of its report.
            let arguments = CommandLine.arguments.flatMap {
                [$0] + $0.split(separator: "=", maxSplits: 1).map(String.init)
            }
            let shown = arguments.reduce(report) { $0.replacing($1, with: $1.shown(as: .line)) }
            if !shown.isEmpty { Terminal(isJSON: false).errorPage(shown) }
            exit(withError: code)
        }
    }

    /// The message for an unknown command or option, with the nearest known one.
    ///
    /// The parser suggests no command, and reports a missing argument before the misspelt option that caused it.
    ///
    /// - Parameter report: The message of the parser.
    /// - Returns: Nil if every command is known, and every option beside a missing argument.
    private static func misspelling(in arguments: some Collection<String>, reportedAs report: String) -> String? {
        var group: any ParsableCommand.Type = TillCommand.self
        var path = ""
        for name in arguments.prefix(while: { !$0.hasPrefix("-") }) {
            let commands = group.configuration.subcommands
            guard !commands.isEmpty else { break }
            guard let next = commands.first(where: { $0._commandName == name }) else {
                // A default command with arguments takes the name as its first one.
                if let standard = group.configuration.defaultSubcommand,
                    standard.helpMessage().contains("\nARGUMENTS:")
                {
                    group = standard
                    break
                }
                let suggestion = Suggestion.sentence(for: path + name, among: commands.map { path + $0._commandName })
                return "There is no command \"\((path + name).prefix(100))\".\(suggestion)\n"
                    + "  See 'till \(path)--help' for more information."
            }
            group = next
            path += name + " "
        }
        guard report.hasPrefix("Missing expected argument") else { return nil }
        let options = group.helpMessage(includeHidden: true, columns: 1000)
            .matches(of: /(?m)^ +(?:-[a-z], )?(--[a-z0-9-]+)/).map { String($0.1) }
        let given = arguments.prefix { $0 != "--" }.filter { $0.hasPrefix("--") }
            .map { String($0.prefix { $0 != "=" }) }
        guard let unknown = given.first(where: { !options.contains($0) }) else { return nil }
        let suggestion = Suggestion.nearest(to: unknown, among: options).map { ". Did you mean '\($0)'?" } ?? ""
        return "Unknown option '\(unknown.prefix(100))'\(suggestion)\n"
            + "  See 'till \(path)--help' for more information."
    }
}
