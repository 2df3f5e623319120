import ArgumentParser
import Features

/// `till console add-user`
struct ConsoleAddUser: Command {
    static let configuration = CommandConfiguration(
        commandName: "add-user",
        abstract: "Add a person, and print a link that sets the password once, within three days.",
        discussion: """
            Roles: viewer (sees everything, changes nothing), support (gives, revokes and assigns),
            catalog (changes products), admin (may do everything).

            Examples:
              till console add-user ada
              till console add-user "Jun Park" --role support --url https://till.example.com
            """)

    @Argument(help: "The name of the person. The audit log shows it.")
    var name: String

    @Option(help: ArgumentHelp("The role: viewer, support, catalog or admin.", valueName: "role"))
    var role = TeamRole.viewer

    @OptionGroup var address: ConsoleAddressOption

    @OptionGroup var options: ConsoleOptions

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let secret = try await options.team(common, isNew: true).add(name, role: role)
        let link = address.link(secret)
        terminal.line(link)
        if !common.json { terminal.note("Send the link to \(name). It works once, for three days.") }
        try terminal.json(["name": name, "role": role.rawValue, "link": link])
    }
}
