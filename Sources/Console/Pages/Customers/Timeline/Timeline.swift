import Features
import HTTPSupport
import Hummingbird
import Ledger
import Proofs

extension CustomerView {
    /// The story of the customer: purchases, renewals, failures, refusals, transfers, refunds and what the team did.
    func timeline(_ page: HTTPSupport.Page) async throws -> HTML {
        let position = try page.position { StoryEntry.Position($0) }
        let found = try await entitlements.story(of: user, before: position, limit: page.size + 1)
        let (entries, next) = page.part(of: found) { $0.position.description }
        guard !entries.isEmpty else { return emptyNote("Nothing yet.") }
        let references = entries.compactMap { entry in
            if case .event(let event, _, _) = entry.content, event.origin != nil { event.reference } else { nil }
        }
        // The user's transactions that the entries are about.
        let transactions = try await entitlements.transactions(of: user, identifiedBy: references)
        return HTML {
            ol(.class("timeline")) {
                for each in entries {
                    switch each.content {
                    case .event(let event, let number, let otherOwner):
                        entry(of: event, number, otherOwner, transactions.first { $0.isMeant(by: event) })
                    case .notification(let notification): entry(of: notification)
                    }
                }
            }
            Listing.pager(next.map { .customer(user, "timeline", query: ["cursor": $0]) }, "Older entries")
        }
    }

    /// The page of the timeline.
    func timelinePage(_ request: Request) async throws -> Page {
        let timeline = try await timeline(try HTTPSupport.Page(request))
        return Page("Timeline", section: .customers) {
            Shown.wayBack(to: user)
            timeline
        }
    }

    private func entry(
        of event: AuditEntry, _ number: Int64, _ otherOwner: User?, _ transaction: RedeemedTransaction?
    ) -> HTML {
        let words = TimelineWords(entry: event, transaction: transaction, names: names)
        return li(.class(event.event.mood.rawValue)) {
            div {
                a(.href(.customer(user, "events", String(number)))) { strong { words.title } }
                also(OriginWords.mark(event.origin))
            }
            div(.class("note")) {
                spaced(by: " · ", Shown.moment(event.happenedAt), ActorWords.html(event.actor, keys))
                if let price = words.price { also(Shown.money(price), by: " · ") }
            }
            // In the words of a person, or in both languages.
            if let reason = words.reason { div { bdi { reason } } }
            if event.event == .refused { RefusalNote(code: event.reason, otherOwner: otherOwner).html }
        }
    }

    private func entry(of notification: StatedNotification) -> HTML {
        li {
            div {
                a(
                    .href(
                        .customer(
                            user, "notifications", notification.notificationUUID,
                            query: ["origin": notification.origin.rawValue]))
                ) {
                    spaced(by: ": ", Phrase("Notification of the App Store"), data(notification.title))
                }
                also(OriginWords.mark(notification.origin))
            }
            div(.class("note")) { spaced(by: " · ", Shown.moment(notification.signedAt), notification.outcome.title) }
        }
    }
}
