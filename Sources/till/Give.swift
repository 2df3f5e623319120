import AppStore
import ArgumentParser
import Foundation
import Proofs
import Service

/// `till give`
struct Give: Command {
    static let configuration = CommandConfiguration(
        commandName: "give",
        abstract: "Give a user an item without a purchase.",
        discussion: """
            Examples:
              till give alice sprout 3 --reason "Sorry for the outage"
              till give alice sprout 3 --reason "Spring gift" --until 2027-01-01T00:00:00Z
              till give mint sprout 3 --issuer customer --reason "Sorry"
            """)

    @Argument(help: "The user.")
    var user: User

    @OptionGroup var named: ItemArguments

    @Option(help: "The reason, in your own words. The audit log keeps it.")
    var reason: String

    @Option(help: ArgumentHelp("The end of the grant (default: none).", valueName: "date"))
    var until: String?

    @OptionGroup var issued: IssuerOption

    @OptionGroup var accepted: AcceptOption

    @OptionGroup var service: ServerOptions

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        struct Request: Encodable, Sendable {
            let item: Item
            let reason: String
            let endsAt: String?
        }
        let path = issued.path(of: user, "/grants")
        let request = Request(item: named.item, reason: reason, endsAt: until)
        let grant: GrantResource = try await service.withClient(common.dataDirectory, accepted) {
            try await $0.post(path, request)
        }
        terminal.line("\(user) has \(request.item) now. Grant \(grant.grantId).")
        try terminal.json(grant)
    }
}
