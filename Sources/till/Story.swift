import AppStore
import ArgumentParser
import Foundation
import HTTPSupport
import Proofs
import Service

/// `till story`
struct Story: Command {
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

    @OptionGroup var accepted: AcceptOption

    @OptionGroup var service: ServerOptions

    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard (1...1000).contains(limit) else { throw ValidationError("--limit must be a number from 1 to 1000.") }
    }

    func perform() async throws {
        let (issued, user, limit) = (issued, user, limit)
        let entries = try await service.withClient(common.dataDirectory, accepted) { client in
            var entries: [StoryEntryResource] = []
            var cursor: String?
            repeat {
                let size = min(100, limit - entries.count)
                let path = issued.path(
                    of: user, "/story", query: "pageSize=\(size)" + (cursor.map { "&cursor=\($0)" } ?? ""))
                let page: List<StoryEntryResource> = try await client.get(path)
                entries += page.elements
                cursor = page.nextCursor
            } while cursor != nil && entries.count < limit
            return entries
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
