import Features
import HTTPSupport
import Hummingbird
import Ledger
import Proofs

/// The story of a customer: purchases, renewals, failures, refusals, transfers, refunds and what the team did.
struct Timeline {
    let user: User
    let entries: [StoryEntry]
    /// The user's transactions that the entries are about.
    let transactions: [RedeemedTransaction]
    /// The names of API keys by their identifiers.
    let keys: [String: String]
    let names: CatalogNames
    /// The address of the older entries; nil if there are none.
    let next: ConsolePath?

    var html: HTML {
        guard !entries.isEmpty else { return emptyNote("Nothing yet.") }
        return HTML {
            ol(.class("timeline")) { for entry in entries { item(entry) } }
            Listing.pager(next, "Older entries")
        }
    }

    private func item(_ entry: StoryEntry) -> HTML {
        switch entry.content {
        case .event(let event, let number, let otherOwner): item(event, number, otherOwner)
        case .notification(let notification): item(notification)
        }
    }

    private func item(_ event: AuditEntry, _ number: Int64, _ otherOwner: User?) -> HTML {
        let words = TimelineWords(
            entry: event, transaction: transactions.first(where: { $0.isMeant(by: event) }), names: names)
        return li(.class(event.event.mood.rawValue)) {
            div {
                a(.href(.customer(user, "events", String(number)))) { strong { words.title } }
                plain(" ")
                OriginWords.mark(event.origin)
            }
            div(.class("note")) {
                spaced(by: " · ", Shown.moment(event.happenedAt), ActorWords.html(event.actor, keys))
                if let price = words.price {
                    plain(" · ")
                    Shown.money(price)
                }
            }
            if let reason = words.reason { div { data(reason) } }
            if event.event == .refused { RefusalNote(code: event.reason, otherOwner: otherOwner).html }
        }
    }

    private func item(_ notification: StatedNotification) -> HTML {
        li {
            div {
                a(
                    .href(
                        .customer(
                            user, "notifications", notification.notificationUUID,
                            query: ["origin": notification.origin.rawValue]))
                ) {
                    "Notification of the App Store"
                    plain(": ")
                    data([notification.type, notification.subtype].compactMap(\.self).joined(separator: " "))
                }
                plain(" ")
                OriginWords.mark(notification.origin)
            }
            div(.class("note")) { spaced(by: " · ", Shown.moment(notification.signedAt), notification.outcome.title) }
        }
    }

    /// A reason in the words of a person, or in both languages.
    private func data(_ reason: Phrase) -> HTML {
        bdi { reason }
    }

    private func data(_ text: String) -> HTML { Console.data(text) }
}

/// Reads pages of a customer's timeline.
struct TimelineReader {
    let entitlements: EntitlementService

    /// - Parameter page: The page of the request.
    func timeline(of user: User, _ page: HTTPSupport.Page) async throws -> Timeline {
        let position = try page.position { StoryEntry.Position($0) }
        let found = try await entitlements.story(of: user, before: position, limit: page.size + 1)
        let (shown, cursor) = page.part(of: found) { $0.position.description }
        let references = shown.compactMap { entry in
            if case .event(let event, _, _) = entry.content, event.origin != nil { event.reference } else { nil }
        }
        return Timeline(
            user: user, entries: shown,
            transactions: try await entitlements.transactions(of: user, identifiedBy: references),
            keys: try await entitlements.ledger.apiKeyNames(), names: CatalogNames(catalogs: entitlements.catalogs),
            next: cursor.map { .customer(user, "timeline", query: ["cursor": $0]) })
    }
}
