import ArgumentParser

/// `till trust`
struct TrustCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trust",
        abstract: "Add, list and remove the root certificates whose proofs are trusted.",
        subcommands: [TrustAdd.self, TrustList.self, TrustRemove.self])
}
