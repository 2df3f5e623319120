import ArgumentParser
import Proofs

/// `till restore`
struct Restore: Command {
    static let configuration = CommandConfiguration(
        abstract: "Restore earlier purchases, as on a new device, and redeem them again.",
        discussion: """
            Example:
              till restore --user alice
            """)

    @Option(help: "The user of the app.")
    var user: User

    @OptionGroup var service: ServerOptions

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let parties = try await Parties(common.dataDirectory, server: service)
        try parties.store.restoreCompletedTransactions(account: user.name)
        try await Delivery(user: user, common: common, terminal: terminal).perform(parties)
    }
}
