import ArgumentParser

/// `till keys revoke`
struct KeysRevoke: Command {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revoke an API key. The service refuses it from the next request on.",
        discussion: """
            Example:
              till keys revoke 5e5ac1a1b2c3
            """)

    @Argument(help: "The id of the key, from `till keys list`.")
    var id: String

    @OptionGroup var ledger: LedgerOptions

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        guard try await ledger.place(common).apiKeys().revoke(id) else {
            try terminal.fail(
                code: "keyUnknown",
                message:
                    "No API key has the id \"\(id)\". \(common.hint("keys", "list", options: ledger.options)) lists the keys."
            )
        }
        terminal.line("Revoked: \(id)")
        try terminal.json(["revoked": id])
    }
}
