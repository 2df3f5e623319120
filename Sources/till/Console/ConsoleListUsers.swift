import ArgumentParser
import Features

/// `till console list-users`
struct ConsoleListUsers: Command {
    static let configuration = CommandConfiguration(
        commandName: "list-users",
        abstract: "List the people of the console.",
        discussion: """
            Example:
              till console list-users
            """)

    @OptionGroup var options: ConsoleOptions

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let people = try await options.team(common).members().map(Person.init)
        var table = TextTable(header: ["NAME", "ROLE", "PASSWORD", "CODES", "ADDED", "REMOVED"])
        for person in people {
            table.add([
                person.name, person.role, person.hasPassword ? "yes" : "invited", person.usesCodes ? "yes" : "no",
                person.addedAt, person.removedAt ?? "-",
            ])
        }
        table.lines.forEach(terminal.line)
        try terminal.json(["users": people])
    }

    private struct Person: Encodable {
        let name: String
        let role: String
        let hasPassword: Bool
        let usesCodes: Bool
        let addedAt: String
        let removedAt: String?

        init(_ member: TeamMember) {
            name = member.name
            role = member.role.rawValue
            hasPassword = member.passwordHash != nil
            usesCodes = member.codeSecret != nil
            addedAt = member.createdAt.rfc3339
            removedAt = member.removedAt?.rfc3339
        }
    }
}
