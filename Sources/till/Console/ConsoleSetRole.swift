import ArgumentParser
import Features

/// `till console set-role`
struct ConsoleSetRole: Command {
    static let configuration = CommandConfiguration(
        commandName: "set-role",
        abstract: "Change the role of a person. It applies from the next request on.",
        discussion: """
            Example:
              till console set-role ada support
            """)

    @Argument(help: "The name of the person.")
    var name: String

    @Argument(help: ArgumentHelp("The role: viewer, support, catalog or admin.", valueName: "role"))
    var role: TeamRole

    @OptionGroup var options: ConsoleOptions

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        try await options.team(common).setRole(role, of: name)
        terminal.line("\(name): \(role.rawValue)")
        try terminal.json(["name": name, "role": role.rawValue])
    }
}
