import AppStore
import ArgumentParser
import Catalog
import Features
import Foundation
import HTTPSupport
import Proofs
import Service

/// `till story`
struct Story: ServiceCaller {
    static let configuration = CommandConfiguration(
        commandName: "story",
        abstract: "List the events of a user, newest first: store statements, purchases, refusals and team actions.",
        discussion: """
            Examples:
              till story alice
              till story alice --limit 100 --json
            """)

    @Argument(help: "The user.")
    var user: User

    @Option(help: "The number of entries, from 1 to 1000.")
    var limit = 50

    @OptionGroup var issued: IssuerOption

    @OptionGroup var call: CallOptions

    func validate() throws {
        guard (1...1000).contains(limit) else { throw ValidationError("--limit must be a number from 1 to 1000.") }
    }

    /// The shown part of an entry.
    private struct Entry: Decodable, Listed, Sendable {
        static let listName = "entries"

        let happenedAt: String
        let text: String
        let actor: String
        let actorName: String?
        let remedy: String?
        let otherOwner: UserName?
    }

    func perform() async throws {
        let (issued, user, limit) = (issued, user, limit)
        let entries = try await withClient { client in
            try await ServiceClient.elements(upTo: limit) { size, cursor -> List<Answered<Entry>> in
                try await client.get(
                    issued.path(
                        of: user, "/story", query: "pageSize=\(size)" + (cursor.map { "&cursor=\($0)" } ?? "")))
            }
        }
        if entries.isEmpty { terminal.line("No entries for user \"\(user)\".") }
        for entry in entries {
            let actor = entry.actorName.map { "key \"\($0)\"" } ?? entry.actor
            terminal.line("\(entry.happenedAt)  \(actor)  \(entry.text)")
            if let remedy = entry.remedy { terminal.line("    \(remedy)") }
            if let owner = entry.otherOwner { terminal.line("    The purchase is \(owner.name)'s.") }
        }
        try terminal.json(List(entries))
    }
}

/// `till owned`
struct Owned: ServiceCaller {
    static let configuration = CommandConfiguration(
        abstract: "List a user's items, with the start and the end of each.",
        discussion: """
            Example:
              till owned alice
            """)

    @Argument(help: "The user.")
    var user: User

    @OptionGroup var call: CallOptions

    func perform() async throws {
        let call = call
        let items = try await call.service.withService(for: user, or: { try await call.localService() }) {
            try await $0.items()
        }
        let catalog = try Catalog(folder: common.dataDirectory.catalogFolder)
        terminal.line("\(call.service.named(user)?.name ?? "The token's user") owns:")
        for item in items { terminal.line("  \(item.item)  \(item.sentence(naming: catalog))") }
        try terminal.json(List(items))
    }
}

extension User {
    /// A user as settings and options list one: `NAME` for a user of the back end, `ISSUER NAME` for another.
    init?(listed text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        switch parts.count {
        case 1: self.init(name: text)
        case 2 where !parts[0].isEmpty: self.init(issuer: String(parts[0]), name: String(parts[1]))
        default: return nil
        }
    }

    /// The same as a setting lists it.
    var listed: String { issuer.isEmpty ? name : "\(issuer) \(name)" }
}

/// `till why`
struct Why: ServiceCaller {
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

    @OptionGroup var call: CallOptions

    func perform() async throws {
        struct Explanation: Decodable, Sendable {
            let item: Item
            let isOwned: Bool
            let text: String
            let remedy: String?
            let otherOwner: UserName?
        }
        let collection = HTTPServiceConnection.segment(named.collection)
        let path = issued.path(of: user, "/items/\(collection)/\(named.number)/explanation")
        let explanation: Answered<Explanation> = try await withClient {
            try await $0.get(path)
        }
        terminal.line("\(user) \(explanation.isOwned ? "has" : "does not have") \(explanation.item).")
        terminal.line(explanation.text)
        if let remedy = explanation.remedy { terminal.line(remedy) }
        if let owner = explanation.otherOwner { terminal.line("The purchase is \(owner.name)'s.") }
        try terminal.json(explanation)
    }
}

extension OwnedItemResource {
    /// The item for people, such as "Basic, monthly, until 22 December 2026, renews".
    func sentence(naming catalog: Catalog) -> String {
        let product = productId.flatMap { catalog.product($0) }
        let name = product?.localization(language: "en")?.displayName ?? catalog.name(of: item)
        return ([name, product?.subscription?.period.adverb] + times + [stateWords])
            .compactMap { $0?.isEmpty == false ? $0 : nil }.joined(separator: ", ")
    }

    private var times: [String?] {
        guard let until = until?.day else { return [since.map { "since \($0.day)" }] }
        return ["until \(until)"]
    }

    private var stateWords: String? {
        switch state {
        case "trial": renews == false ? "trial, does not renew" : "trial"
        case "gracePeriod": "not paid, grace period"
        case "familyShared": "family sharing"
        case "willNotRenew": "does not renew"
        default: source == "grant" ? "granted by the team" : renews == true ? "renews" : nil
        }
    }
}

extension String {
    /// The day of an RFC 3339 date in UTC, such as "22 December 2026"; the text itself if it is none.
    fileprivate var day: String {
        let parts = prefix(10).split(separator: "-").compactMap { Int($0) }
        let months = [
            "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
            "November", "December",
        ]
        guard parts.count == 3, months.indices.contains(parts[1] - 1) else { return self }
        return "\(parts[2]) \(months[parts[1] - 1]) \(parts[0])"
    }
}

extension SubscriptionPeriod {
    /// The period as an adverb: "monthly", "every 3 months".
    fileprivate var adverb: String {
        guard value == 1 else { return "every \(words)" }
        return switch unit {
        case .day: "daily"
        case .week: "weekly"
        case .month: "monthly"
        case .year: "yearly"
        }
    }
}
