import AppStore
import ArgumentParser
import HTTPSupport
import Vocabulary

struct ExportUser: UserCaller, NamesUser {
    static let configuration = CommandConfiguration(
        "export-user", "Print all data about a user as JSON.",
        "A running service needs a key with the scope `export`.",
        examples: "till export-user alice > alice.json")

    @OptionGroup var subject: UserArgument

    @OptionGroup var userCall: UserCallOptions

    func perform() async throws {
        let archive: JSONContent = try await get(userCall.path(of: user, "/export"))
        try terminal.document(archive)
        try terminal.json(archive)
    }
}

struct EraseUser: UserCaller, NamesUser {
    static let configuration = CommandConfiguration(
        "erase-user", "Erase a user: the name, and the texts that people have written. This cannot be undone.",
        """
        The purchases stay redeemed, under a random name. A running service needs a key with the scope `erase`.
        """,
        examples: "till erase-user alice --confirm alice")

    @OptionGroup var subject: UserArgument

    @Option(help: .value("user", "The name of the user again."))
    var confirm: String?

    @OptionGroup var userCall: UserCallOptions

    var need: ConfigurationNeed { .none }

    func validate() throws {
        try require(
            confirm == user.name,
            "Erasure cannot be undone. Repeat the name: --confirm \(CommonOptions.quoted(user.name))")
    }

    func perform() async throws {
        let _: NoContent = try await post(userCall.path(of: user, "/erasure"))
        try terminal.result("Erased \(user).", ["erased": user.name])
    }
}

struct AttributesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attributes",
        abstract: "List, set and remove the attributes of a user.",
        subcommands: [AttributesList.self, AttributesSet.self, AttributesRemove.self])
}

struct AttributesList: UserCaller, NamesUser {
    static let configuration = CommandConfiguration(
        "list", "List the attributes of a user.",
        "With the key of a running service, reserved attributes, such as $email, need the scope `export`.",
        examples: "till attributes list alice")

    @OptionGroup var subject: UserArgument

    @OptionGroup var userCall: UserCallOptions

    private struct Attribute: Decodable, Listed, Sendable {
        static let listName = "attributes"

        let name: String
        let value: String
        let statedAt: String
    }

    var need: ConfigurationNeed { .none }

    func perform() async throws {
        let attributes: List<Answered<Attribute>> = try await get(userCall.path(of: user, "/attributes"))
        terminal.table(
            ["NAME", "VALUE", "SET"], attributes.elements.map { [$0.name, $0.value, $0.statedAt] },
            orElse: "No attributes of user \"\(user)\".")
        terminal.note(attributes.unknownUser, about: userCall.named(user))
        try terminal.json(attributes)
    }
}

struct AttributesSet: UserCaller, NamesUser {
    static let configuration = CommandConfiguration(
        "set", "Set an attribute of a user. Other attributes stay.", examples: "till attributes set alice level 9")

    @OptionGroup var subject: UserArgument

    @Argument(help: "The name of the attribute.")
    var name: String

    @Argument(help: "The value, of at most 2000 bytes.")
    var value: String

    @OptionGroup var userCall: UserCallOptions

    var need: ConfigurationNeed { .none }

    func perform() async throws {
        try await state(name, .string(value), of: user)
        terminal.line("Set \(name) of \(user).")
    }
}

struct AttributesRemove: UserCaller, NamesUser {
    static let configuration = CommandConfiguration(
        "remove", "Remove an attribute of a user.", examples: "till attributes remove alice level")

    @OptionGroup var subject: UserArgument

    @Argument(help: "The name of the attribute.")
    var name: String

    @OptionGroup var userCall: UserCallOptions

    var need: ConfigurationNeed { .none }

    func perform() async throws {
        try await state(name, .null, of: user)
        terminal.line("Removed \(name) of \(user).")
    }
}

extension UserCaller {
    /// States an attribute; null removes it.
    fileprivate func state(_ name: String, _ value: JSONContent, of user: User) async throws {
        let statement: [String: JSONContent] = ["name": .string(name), "value": value]
        let _: NoContent = try await put(userCall.path(of: user, "/attributes"), ["attributes": [statement]])
        try terminal.json(statement)
    }
}
