import AppStore
import ArgumentParser
import Catalog
import Console
import Features
import HTTPSupport
import Ledger
import Proofs
import Vocabulary

struct Story: UserCaller, NamesUser {
    static let configuration = CommandConfiguration(
        "story", "List the events of a user, newest first: store statements, purchases, refusals and team actions.",
        examples: """
            till story alice
            till story alice --month 2027-03 --kind purchases
            till story alice --limit 100 --json
            """)

    @OptionGroup var subject: UserArgument

    @OptionGroup var list: ListLimit

    @Option(help: "A month in UTC, such as 2027-03 (default: all).")
    var month: Month?

    /// A month by its first day.
    struct Month: ExpressibleByArgument {
        let text: String

        init?(argument: String) {
            guard CalendarDay(argument + "-01") != nil else { return nil }
            text = argument
        }
    }

    @Option(help: "A kind of entries (default: all).")
    var kind: StoryKind?

    @OptionGroup var userCall: UserCallOptions

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
        let entries: [Answered<Entry>] = try await elements(
            of: HTTPServiceConnection.path(of: user) + "/story",
            [("month", month?.text), ("kind", kind?.rawValue), ("issuer", userCall.issuer)], upTo: list,
            about: userCall.named(user))
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

extension StoryKind: ExpressibleByArgument {}

struct Owned: UserCaller, NamesUser {
    static let configuration = CommandConfiguration(
        "owned", "List a user's items, with the start and the end of each, and balances.",
        examples: """
            till owned alice
            till owned mint --issuer customer
            """)

    @OptionGroup var subject: UserArgument

    @OptionGroup var userCall: UserCallOptions

    func perform() async throws {
        let (call, issuer) = (call, userCall.issuer)
        let local = call.service.server == nil ? try await call.localService() : nil
        let catalogs = try local?.catalogs.all ?? [common.dataDirectory.catalog()]
        // A running service may have another catalog, whose identifiers of products are others, too.
        let isCatalogKnown = local != nil || common.namesCatalog
        let owned = try await call.service.withService(
            for: user, issuer: issuer, or: { if let local { local } else { try await call.localService() } }
        ) {
            try await $0.possessions()
        }
        terminal.owned(
            owned.items.map { ($0.item, $0.sentence(naming: catalogs, isCatalogKnown: isCatalogKnown)) },
            owned.balances, by: call.service.named(user))
        terminal.note(owned.unknownUser, about: userCall.named(user))
        try terminal.json(owned)
    }
}

extension Set<User> {
    /// The users as settings and options list them: `NAME` for a user of the back end, `ISSUER NAME` for another.
    init?(listed texts: [String]) {
        let users = texts.map { text -> User? in
            let parts = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
            return switch parts.count {
            case 1: User(name: text)
            case 2 where !parts[0].isEmpty: User(issuer: parts[0], name: parts[1])
            default: nil
            }
        }
        guard !users.contains(nil) else { return nil }
        self.init(users.compactMap(\.self))
    }
}

struct Why: UserCaller, NamesUser {
    static let configuration = CommandConfiguration(
        "why", "Explain why a user has an item, or does not.",
        "The exit status is 0 if the user has the item, and 1 if not.",
        examples: """
            till why alice sprout 1
            till why mint sprout 1 --issuer customer
            """)

    @OptionGroup var subject: UserArgument

    @OptionGroup var named: ItemArguments

    @OptionGroup var userCall: UserCallOptions

    var need: ConfigurationNeed { .explanation }

    func perform() async throws {
        struct Explanation: Decodable, Sendable {
            let item: Item
            let isOwned: Bool
            let isUserUnknown: Bool?
            let knownUnderIssuers: [String]?
            let text: String
            let remedy: String?
            let otherOwner: UserName?
        }
        let collection = HTTPServiceConnection.segment(named.collection)
        let path = userCall.path(of: user, "/items/\(collection)/\(named.number)/explanation")
        let explanation: Answered<Explanation> = try await get(path)
        terminal.line("\(user) \(explanation.isOwned ? "has" : "does not have") \(explanation.item).")
        if explanation.isUserUnknown == true {
            terminal.line(
                UnknownUser(knownUnder: explanation.knownUnderIssuers ?? []).sentence(about: userCall.named(user)))
        }
        terminal.line(explanation.text)
        if let remedy = explanation.remedy { terminal.line(remedy) }
        if let owner = explanation.otherOwner { terminal.line("The purchase is \(owner.name)'s.") }
        try terminal.json(explanation)
        guard explanation.isOwned else { throw ExitCode.failure }
    }
}

extension OwnedItemResource {
    /// The item for people, such as "Basic, monthly, until 2026-12-22, renews".
    ///
    /// - Parameters:
    ///   - catalogs: Those of the service, if they are known.
    ///   - isCatalogKnown: False to name products alone. Items of other catalogs have the same numbers.
    func sentence(naming catalogs: [Catalog], isCatalogKnown: Bool) -> String {
        let product = productId.flatMap { productId in catalogs.lazy.compactMap { $0.product(productId) }.first }
        let name =
            product?.localization(language: "en")?.displayName
            ?? (isCatalogKnown ? catalogs : []).lazy.map { $0.name(of: item) }.first { !$0.isEmpty } ?? productId ?? ""
        return
            ([name, (product?.subscription?.period).map { CustomerWords.period($0).english }] + times + [stateWords])
            .compactMap { $0?.isEmpty == false ? $0 : nil }.joined(separator: ", ")
    }

    private var times: [String?] {
        guard let until else { return [since.map { "since \(Self.day($0))" }] }
        return ["until \(Self.day(until))"]
    }

    /// The day of an RFC 3339 date in UTC, such as "2026-12-22"; the text itself if it is none.
    private static func day(_ text: String) -> String {
        CalendarDay(String(text.prefix(10)))?.description ?? text
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

struct AuditCommand: LedgerUser, NamesUser {
    static let configuration = CommandConfiguration(
        "audit", "List the audit log of a user, oldest entry first. The service may run.",
        """
        Each entry has a digest over the entry before it. If an entry was changed or removed, the exit status is 1. Store \
        the head, which is printed last, in another place: with it you can prove later that no earlier entry was changed.
        """,
        examples: """
            till audit alice
            till audit 248289761001 --issuer https://accounts.example.com
            """)

    @OptionGroup var subject: UserArgument

    @Option(help: .issuer)
    var issuer: String?

    @OptionGroup var ledger: LedgerOptions

    func validate() throws { try UserCallOptions.validate(issuer: issuer) }

    func perform() async throws {
        let ledger = try existingLedger()
        guard let user = User(issuer: issuer ?? "", name: user.name) else { return }
        var records: [AuditRecord] = []
        let keys = try await ledger.apiKeyNames()
        var brokenAt: Int64?
        while true {
            let number = records.last?.number ?? 0
            let page = try await ledger.read { try $0.audit(of: user, after: number, limit: 1000) }
            if page.isEmpty { break }
            for record in page {
                if brokenAt == nil, !record.follows(records.last) { brokenAt = record.number }
                records.append(record)
            }
        }
        terminal.table(
            ["NO", "TIME", "EVENT", "BY", "WHAT", "REFERENCE", "ORIGIN", "REASON"],
            records.map { record in
                let (entry, name) = (record.entry, record.keyName(keys))
                return [
                    String(record.number), entry.happenedAt.rfc3339, entry.event.rawValue,
                    name.map { "key \"\($0)\"" } ?? entry.actor.description, entry.subject, entry.reference,
                    entry.origin?.rawValue, entry.reason,
                ]
            }, orElse: "No audit entries for user \"\(user)\".")
        if records.isEmpty { terminal.note(try await ledger.unknownUser(user), about: user) }
        if let brokenAt {
            terminal.line("broken: record \(brokenAt) or an earlier one was changed or removed")
        } else if let last = records.last {
            terminal.line("unbroken; head \(last.number) \(last.digest.hexadecimal)")
        }
        try terminal.report(["isUnbroken": brokenAt == nil, "records": records.map { $0.report(naming: keys) }])
        guard brokenAt == nil else { throw ExitCode(1) }
    }
}

extension AuditRecord {
    /// The name of the actor's API key; nil for another actor, and if the ledger does not have the key.
    ///
    /// - Parameter names: The names of API keys by their identifiers.
    fileprivate func keyName(_ names: [String: String]) -> String? { entry.actor.keyIdentifier.flatMap { names[$0] } }

    /// The record in the output of commands.
    fileprivate func report(naming names: [String: String]) -> Report {
        [
            "number": number, "happenedAt": entry.happenedAt.rfc3339, "event": entry.event.rawValue,
            "actor": entry.actor.description, "actorName": keyName(names), "subject": entry.subject,
            "reference": entry.reference, "origin": entry.origin?.rawValue, "reason": entry.reason,
            "digest": digest.hexadecimal,
        ]
    }
}
