import ArgumentParser
import Catalog
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

    @OptionGroup var service: ServerOptions

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let data = common.dataDirectory
        let items = try await service.withService(for: user, or: { try await LocalService(reading: data) }) {
            try await $0.items()
        }
        console.owned(items, by: service.named(user), names: try Catalog(folder: Installation.products).name(of:))
        try console.json(["items": items])
    }
}
