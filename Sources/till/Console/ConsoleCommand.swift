import ArgumentParser

/// `till console`
struct ConsoleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "console",
        abstract: "Add, invite, list and remove the people who use the web console.",
        subcommands: [
            ConsoleAddUser.self, ConsoleInvite.self, ConsoleSetRole.self, ConsoleListUsers.self, ConsoleRemoveUser.self,
        ])
}
