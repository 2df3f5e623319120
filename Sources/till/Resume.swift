import ArgumentParser
import Commerce

/// `till resume`
struct Resume: Command {
    static let configuration = CommandConfiguration(
        abstract: "Launch the app again: what is unfinished is delivered, redeemed and finished.",
        discussion: """
            Example:
              till resume --user alice
            """)

    @Option(help: "Whose app.")
    var user: User

    @OptionGroup var service: ServerOptions

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        try await Delivery(user: user, common: common, console: console).perform(
            try await Parties(common.dataDirectory, server: service))
    }
}
