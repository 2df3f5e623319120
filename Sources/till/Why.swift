import ArgumentParser
import Commerce
import Device
import Foundation
import Wire

/// `till why`
struct Why: Command {
    static let configuration = CommandConfiguration(
        commandName: "why",
        abstract: "Explain why a user has an item, or does not.",
        discussion: """
            Examples:
              till why alice sprout 1
              till why mint sprout 1 --issuer customer   # a customer of a door
            """)

    @Argument(help: "The user.")
    var user: User

    @OptionGroup var named: ItemArguments

    @Option(
        help: "The issuer of the user: customer for the ids of apps (default: the back end names the user).")
    var issuer: String?

    @OptionGroup var service: ServerOptions

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let path =
            HTTPServiceConnection.path(of: user)
            + "/items/\(HTTPServiceConnection.segment(named.collection))/\(named.number)/explanation"
            + (issuer.map { "?issuer=" + HTTPServiceConnection.segment($0) } ?? "")
        let explanation: ExplanationResource = try await service.withClient(common.dataDirectory) {
            try await $0.get(path)
        }
        terminal.line("\(user) \(explanation.isOwned ? "has" : "does not have") \(explanation.item).")
        terminal.line(explanation.text)
        if let remedy = explanation.remedy { terminal.line(remedy) }
        if let owner = explanation.otherOwner { terminal.line("The purchase is \(owner.name)'s.") }
        try terminal.json(explanation)
    }
}
