import ArgumentParser
import Commerce

/// `till owned`
struct Owned: Command {
    static let configuration = CommandConfiguration(
        abstract: "List what a user owns.",
        discussion: """
            Example:
              till owned alice
            """)

    @Argument(help: "The user.")
    var user: User

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let parties = try Parties(common.dataDirectory)
        let items = try await parties.withService(for: user) { try await $0.items() }
        console.owned(items, by: user, names: parties.name(of:))
        try console.json(["items": items])
    }
}
