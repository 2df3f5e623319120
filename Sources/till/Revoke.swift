import AppStore
import ArgumentParser
import Foundation
import Proofs
import Service

/// `till revoke`
struct Revoke: Command {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Take a purchase back from a user. Only Apple refunds.",
        discussion: """
            The customer asks Apple for the money: https://reportaproblem.apple.com. Till takes the purchase back by itself when \
            Apple notifies of the refund.

            Example:
              till revoke alice 2000000000000001 --reason "Chargeback"
            """)

    @Argument(help: "The user.")
    var user: User

    @Argument(help: "The transaction, as `till story` names it.")
    var transaction: String

    @Option(help: "The reason, in your own words. The audit log keeps it.")
    var reason: String

    @OptionGroup var issued: IssuerOption

    @OptionGroup var accepted: AcceptOption

    @OptionGroup var service: ServerOptions

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let path = issued.path(of: user, "/transactions/\(HTTPServiceConnection.segment(transaction))/revocation")
        let request = ["reason": reason]
        let revoked: TransactionResource = try await service.withClient(common.dataDirectory, accepted) {
            try await $0.put(path, request)
        }
        terminal.line("Revoked \(revoked.productId) from \(user).")
        terminal.line("Only Apple refunds: the customer asks at https://reportaproblem.apple.com.")
        try terminal.json(revoked)
    }
}
