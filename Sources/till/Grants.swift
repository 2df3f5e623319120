import AppStore
import ArgumentParser
import HTTPSupport
import Proofs

struct GrantsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grants",
        abstract: "List the items that the team has given to a user, and revoke one.",
        subcommands: [GrantsList.self, GrantsRevoke.self])
}

/// The shown part of an item that the team has given.
private struct GivenItem: Decodable, Listed, Sendable {
    struct Revocation: Decodable, Sendable {
        let revokedAt: String
    }

    static let listName = "grants"

    let grantId: String
    let item: Item
    let reason: String
    let grantedBy: String
    let grantedByName: String?
    let grantedAt: String
    let endsAt: String?
    let revocation: Revocation?
}

struct GrantsList: ServiceCaller {
    static let configuration = CommandConfiguration(
        "list", "List the items that the team has given to a user, newest first.",
        examples: "till grants list alice")

    @Argument(help: "The user.")
    var user: User

    @OptionGroup var list: ListLimit

    @OptionGroup var issued: IssuerOption

    @OptionGroup var call: CallOptions

    func perform() async throws {
        let grants: [Answered<GivenItem>] = try await elements(
            of: HTTPServiceConnection.path(of: user) + "/grants", [("issuer", issued.issuer)], upTo: list)
        terminal.table(
            ["GRANT", "ITEM", "GIVEN", "BY", "UNTIL", "REVOKED", "REASON"],
            grants.map { grant in
                [
                    grant.grantId, grant.item.description, grant.grantedAt, grant.grantedByName ?? grant.grantedBy,
                    grant.endsAt, grant.revocation?.revokedAt, grant.reason,
                ]
            }, orElse: "The team has given user \"\(user)\" nothing.")
        try terminal.json(List(grants))
    }
}

struct GrantsRevoke: ServiceCaller {
    static let configuration = CommandConfiguration(
        "revoke", "Revoke an item that the team has given.",
        examples: "till grants revoke alice 4c2f8c6e-1f0f-4b0a-9a55-2f1b7e3c9d10 --reason Typo")

    @Argument(help: "The user.")
    var user: User

    @Argument(help: "The grant, as `till grants list` names it.")
    var grant: String

    @Option(help: "The reason, in your own words. The audit log keeps it.")
    var reason: String

    @OptionGroup var issued: IssuerOption

    @OptionGroup var call: CallOptions

    func perform() async throws {
        let path = issued.path(of: user, "/grants/\(HTTPServiceConnection.segment(grant))/revocation")
        let request = ["reason": reason]
        let revoked: Answered<GivenItem> = try await withClient { try await $0.put(path, request) }
        terminal.line("Revoked \(revoked.item) of \(user).")
        try terminal.json(revoked)
    }
}
