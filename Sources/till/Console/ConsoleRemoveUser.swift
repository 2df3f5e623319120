import ArgumentParser
import Features

/// `till console remove-user`
struct ConsoleRemoveUser: Command {
    static let configuration = CommandConfiguration(
        commandName: "remove-user",
        abstract: "Remove a person, and end the sessions. The audit log keeps the name.",
        discussion: """
            Example:
              till console remove-user ada
            """)

    @Argument(help: "The name of the person.")
    var name: String

    @OptionGroup var options: ConsoleOptions

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        try await options.team(common).remove(name)
        terminal.line("Removed: \(name)")
        try terminal.json(["removed": name])
    }
}
