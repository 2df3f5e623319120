import ArgumentParser

/// `till import`
struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import the customers of another purchase server.",
        subcommands: [ImportRevenueCat.self])
}
