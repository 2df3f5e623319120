import Features
import HTTPSupport
import Hummingbird
import Proofs

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
            keys: try await entitlements.apiKeyNames(), names: CatalogNames(catalogs: entitlements.catalogs),
            next: cursor.map { .customer(user, "timeline", query: ["cursor": $0]) })
    }
}
