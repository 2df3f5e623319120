import AppStore
import ArgumentParser
import Foundation
import Proofs
import Service

/// `till why`
struct Why: Command {
    static let configuration = CommandConfiguration(
        commandName: "why",
        abstract: "Explain why a user has an item, or does not.",
        discussion: """
            Examples:
              till why alice sprout 1
              till why mint sprout 1 --issuer customer
            """)

    @Argument(help: "The user.")
    var user: User

    @OptionGroup var named: ItemArguments

    @OptionGroup var issued: IssuerOption

    @OptionGroup var accepted: AcceptOption

    @OptionGroup var service: ServerOptions

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let collection = HTTPServiceConnection.segment(named.collection)
        let path = issued.path(of: user, "/items/\(collection)/\(named.number)/explanation")
        let explanation: ExplanationResource = try await service.withClient(common.dataDirectory, accepted) {
            try await $0.get(path)
        }
        terminal.line("\(user) \(explanation.isOwned ? "has" : "does not have") \(explanation.item).")
        terminal.line(explanation.text)
        if let remedy = explanation.remedy { terminal.line(remedy) }
        if let owner = explanation.otherOwner { terminal.line("The purchase is \(owner.name)'s.") }
        try terminal.json(explanation)
    }
}
