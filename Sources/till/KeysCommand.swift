import ArgumentParser

/// `till keys`
struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Make, list and revoke the API keys of back ends and apps.",
        subcommands: [KeysMake.self, KeysList.self, KeysRevoke.self])
}
