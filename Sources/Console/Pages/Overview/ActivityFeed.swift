import Features
import Ledger
import Proofs
import Synchronization

/// The live activity as events: each entry that was not among the latest ones before.
///
/// Entries may be recorded some time after they took effect, so the feed compares the latest entries with those before, not
/// their times.
package final class ActivityFeed: Sendable {
    /// The number of entries in the list.
    static let length = 50

    private let entitlements: EntitlementService
    private let environment: FigureQuery.Environment
    /// The newest entry that the page shows.
    private let shown: String
    /// The latest entries of the previous reading. Nil before the first.
    private let known = Mutex<Set<ActivityEntry.ID>?>(nil)

    package init(_ entitlements: EntitlementService, _ environment: FigureQuery.Environment, shown: String) {
        self.entitlements = entitlements
        self.environment = environment
        self.shown = shown
    }

    /// The events since the last call.
    package func events() async throws -> [LiveEvent] {
        let latest = try await entitlements.ledger.read { [environment] in
            try $0.latestActivity(from: environment.origins, limit: Self.length)
        }
        let before = known.withLock { known in
            defer { known = Set(latest.map(\.id)) }
            return known
        }
        guard let before else {
            // The page is older than the stream, after a reconnection by a quarter of an hour.
            return Self.newest(latest) == shown ? [] : [.change]
        }
        let new = latest.filter { !before.contains($0.id) }
        let names =
            new.contains { $0.entry.actor.keyIdentifier != nil } ? try await entitlements.ledger.apiKeyNames() : [:]
        return new.reversed().map { .row(ActivityRow(activity: $0, keyNames: names).html) }
    }

    /// The text that identifies the newest of some entries; empty without one.
    package static func newest(_ entries: [ActivityEntry]) -> String { entries.first?.id.description ?? "" }
}

/// An entry of the live activity.
struct ActivityRow {
    let activity: ActivityEntry
    /// The names of the API keys by their identifiers.
    let keyNames: [String: String]

    private var entry: AuditEntry { activity.entry }

    var html: HTML {
        li(.class(entry.event.mood == .neutral ? "" : entry.event.mood.rawValue)) {
            Shown.badge(entry.event.title, entry.event.mood)
            if !entry.subject.isEmpty, entry.event != .erased { also(Shown.identifier(entry.subject)) }
            also(customer)
            div(.class("note")) {
                spaced(by: " · ", Shown.moment(entry.happenedAt), actor)
                if let origin = entry.origin {
                    plain(" · ")
                    plain(origin.rawValue)
                }
                if let reason = entry.reason { also(data(reason), by: " · ") }
            }
        }
    }

    private var customer: HTML {
        guard let user = activity.user else { return HTML { "(erased customer)" } }
        return Shown.link(to: user)
    }

    @HTMLBuilder private var actor: HTML {
        switch entry.actor {
        case .user: "by the customer"
        case .appStore: "by the App Store"
        case .till: "by Till"
        case .member(let name): byline(name)
        case .apiKey(let identifier): byline(keyNames[identifier] ?? identifier)
        }
    }

    @HTMLBuilder private func byline(_ name: String) -> HTML {
        "by "
        data(name)
    }
}
