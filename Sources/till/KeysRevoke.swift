import ArgumentParser

/// `till keys revoke`
struct KeysRevoke: Command {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "End an API key: from the next request on it is refused.",
        discussion: """
            Example:
              till keys revoke 5e5ac1a1b2c3
            """)

    @Argument(help: "The key's id, as `till keys list` shows it.")
    var id: String

    @OptionGroup var ledger: LedgerOptions

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        guard try await ledger.place(common).apiKeys().revoke(id) else {
            try console.fail(
                code: "keyUnknown",
                message: "There is no key with the id \(id): \(common.hint("keys", "list")) shows those there are.")
        }
        console.line("Revoked: \(id)")
        try console.json(["revoked": id])
    }
}
