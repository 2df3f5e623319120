import ArgumentParser
import Proofs

/// `till resume`
struct Resume: Command {
    static let configuration = CommandConfiguration(
        abstract: "Launch the app again. It redeems and finishes all unfinished transactions.",
        discussion: """
            Example:
              till resume --user alice
            """)

    @Option(help: "The user of the app.")
    var user: User

    @OptionGroup var service: ServerOptions

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        try await Delivery(user: user, common: common, terminal: terminal).perform(
            try await Parties(common.dataDirectory, server: service))
    }
}
