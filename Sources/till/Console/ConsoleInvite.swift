import ArgumentParser
import Features

/// `till console invite`
struct ConsoleInvite: Command {
    static let configuration = CommandConfiguration(
        commandName: "invite",
        abstract: "Print a new link for a person, which sets another password and turns off one-time codes.",
        discussion: """
            Example:
              till console invite ada
            """)

    @Argument(help: "The name of the person.")
    var name: String

    @OptionGroup var address: ConsoleAddressOption

    @OptionGroup var options: ConsoleOptions

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let link = address.link(try await options.team(common).invite(name))
        terminal.line(link)
        if !common.json { terminal.note("Send the link to \(name). It works once, for three days.") }
        try terminal.json(["name": name, "link": link])
    }
}
