import AppStore
import ArgumentParser
import Catalog
import HTTPSupport
import Proofs

/// `till owned`
struct Owned: Command {
    static let configuration = CommandConfiguration(
        abstract: "List a user's items, with the start and the end of each.",
        discussion: """
            Example:
              till owned alice
            """)

    @Argument(help: "The user.")
    var user: User

    @OptionGroup var accepted: AcceptOption

    @OptionGroup var service: ServerOptions

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let (data, accepted) = (common.dataDirectory, accepted)
        let items = try await service.withService(
            for: user, or: { try await ServerOptions.localService(reading: data, accepted) }
        ) {
            try await $0.items()
        }
        let catalog = try Catalog(folder: common.dataDirectory.catalogFolder)
        terminal.line("\(service.named(user)?.name ?? "The token's user") owns:")
        for item in items { terminal.line("  \(item.item)  \(item.sentence(naming: catalog))") }
        try terminal.json(List(items))
    }
}
