import ArgumentParser
import Console
import Features
import Foundation
import Proofs

struct ConsoleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "console",
        abstract: "Add, invite, list and remove the people who use the web console, and list their actions.",
        subcommands: [
            ConsoleAddUser.self, ConsoleInvite.self, ConsoleSetRole.self, ConsoleListUsers.self, ConsoleRemoveUser.self,
            ConsoleActions.self,
        ])
}

struct ConsoleAddUser: LedgerUser {
    static let configuration = CommandConfiguration(
        "add-user", "Add a person, and print a link that sets the password once, within three days.",
        """
        Roles: viewer (sees everything, changes nothing), support (gives, revokes and assigns),
        catalog (changes products), admin (may do everything).
        """,
        examples: """
            till console add-user ada
            till console add-user "Jun Park" --role support --url https://till.example.com
            """)

    @Argument(help: "The name of the person. The audit log shows it.")
    var name: String

    @Option(help: .value("role", "The role: viewer, support, catalog or admin."))
    var role = TeamRole.viewer

    @OptionGroup var address: ConsoleAddressOption

    @OptionGroup var ledger: LedgerOptions

    func perform() async throws {
        try show(address.link(try await team(isNew: true).add(name, role: role)), of: name, role: role)
    }
}

extension LedgerUser {
    /// - Parameter isNew: True if the command creates a missing ledger.
    fileprivate func team(isNew: Bool = false) throws -> TeamService {
        let ledger = try ledger.place(isNew: isNew).open(.all(using: isNew ? [.team] : []), migrates: isNew)
        return TeamService(ledger: ledger, clock: SystemClock())
    }

    /// Prints the link of an invitation.
    fileprivate func show(_ link: String, of name: String, role: TeamRole? = nil) throws {
        terminal.line(link)
        if !common.json { terminal.note("Send the link to \(name). It works once, for three days.") }
        try terminal.report(["name": name, "role": role?.rawValue, "link": link])
    }
}

struct ConsoleAddressOption: ParsableArguments {
    @Option(help: .value("url", "The address (at which browsers reach the service)."))
    var url = "http://127.0.0.1:8080"

    func validate() throws {
        try require(
            URL(web: url) != nil, "--url must be an http or https address; it is \"\(url.prefix(256))\".")
    }

    func link(_ secret: String) -> String {
        InvitationLink.text(secret, at: url.hasSuffix("/") ? String(url.dropLast()) : url)
    }
}

extension TeamRole: ExpressibleByArgument {}

struct ConsoleInvite: LedgerUser {
    static let configuration = CommandConfiguration(
        "invite", "Print a new link for a person, which sets another password and turns off one-time codes.",
        examples: "till console invite ada")

    @Argument(help: "The name of the person.")
    var name: String

    @OptionGroup var address: ConsoleAddressOption

    @OptionGroup var ledger: LedgerOptions

    func perform() async throws {
        try show(address.link(try await team().invite(name)), of: name)
    }
}

struct ConsoleListUsers: LedgerUser {
    static let configuration = CommandConfiguration(
        "list-users", "List the people of the console.", examples: "till console list-users")

    @OptionGroup var ledger: LedgerOptions

    func perform() async throws {
        let people = try await team().members()
        terminal.table(
            ["NAME", "ROLE", "PASSWORD", "CODES", "ADDED", "REMOVED"],
            people.map { person in
                [
                    person.name, person.role.rawValue, person.passwordHash == nil ? "invited" : "yes",
                    person.codeSecret == nil ? "no" : "yes", person.createdAt.rfc3339, person.removedAt?.rfc3339,
                ]
            })
        let reports: [Report] = people.map { person in
            [
                "name": person.name, "role": person.role.rawValue, "hasPassword": person.passwordHash != nil,
                "usesCodes": person.codeSecret != nil, "addedAt": person.createdAt.rfc3339,
                "removedAt": person.removedAt?.rfc3339,
            ]
        }
        try terminal.json(["users": reports])
    }
}

struct ConsoleRemoveUser: LedgerUser {
    static let configuration = CommandConfiguration(
        "remove-user", "Remove a person, and end the sessions. The audit log keeps the name.",
        examples: "till console remove-user ada")

    @Argument(help: "The name of the person.")
    var name: String

    @OptionGroup var ledger: LedgerOptions

    func perform() async throws {
        try await team().remove(name)
        try terminal.result("Removed: \(name)", ["removed": name])
    }
}

struct ConsoleSetRole: LedgerUser {
    static let configuration = CommandConfiguration(
        "set-role", "Change the role of a person. It applies from the next request on.",
        examples: "till console set-role ada support")

    @Argument(help: "The name of the person.")
    var name: String

    @Argument(help: .value("role", "The role: viewer, support, catalog or admin."))
    var role: TeamRole

    @OptionGroup var ledger: LedgerOptions

    func perform() async throws {
        try await team().setRole(role, of: name)
        try terminal.result("\(name): \(role.rawValue)", ["name": name, "role": role.rawValue])
    }
}
