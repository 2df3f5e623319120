import Entitlements
import HTTPSupport
import Hummingbird
import Proofs
import Vocabulary

/// The refused purchases of all users.
struct RefusalsRoutes: Sendable {
    private static let days: Int64 = 28
    private static let latest = 5

    let services: any ConsoleServices

    func add(to pages: ConsolePages) {
        pages.get("refusals") { _, _ in try await refusals() }
        pages.get("refusals/:code") { request, context in
            try await refusals(of: try context.parameters.text("code"), request)
        }
    }

    private func refusals() async throws -> Page {
        let since = services.entitlements.clock.now().adding(days: -Self.days)
        let groups = try await services.ledger.read {
            try $0.refusalGroups(since: since, latest: Self.latest)
        }
        // The refusals of an authentic proof are recorded.
        let proofs = services.metrics.refusals.compactMap { counted in
            ProofRefusal.Reason(rawValue: counted.code).map { (refusals: counted, step: $0.step) }
        }.filter { $0.step != .appAndOrigin }
        return Page("Refusals", section: .refusals) {
            h2 { "Refused purchases" }
            note(
                "Authentic purchases that a user presented and the service refused. Each is recorded once for a user and a transaction."
            )
            Listing.table("Refused purchases by code", of: groups, empty: "No purchase was ever refused.") {
                column("Code") { a(.href(ConsolePath("refusals", $0.code)), Shown.identifier($0.code)) }
                column("Last \(Self.days) days") { Self.count($0.count) }
                column("Latest") { Shown.moment($0.latest.first?.entry.happenedAt) }
                column("Cause") { RefusalRemedy(code: $0.code)?.causePhrase }
                column("Remedy") { RefusalRemedy(code: $0.code)?.remedyPhrase }
            }
            for group in groups {
                section {
                    h3 { spaced(Phrase("Latest refusals:"), Shown.identifier(group.code)) }
                    table("Latest refusals: \(group.code)", group.latest, next: nil)
                    p { a(.href(ConsolePath("refusals", group.code))) { "All with this code" } }
                }
            }
            h2 { "Refused proofs" }
            note(
                "Proofs that failed a check before their app and origin were looked at. They prove nothing about a user, so the service only counts them since its start."
            )
            Listing.table("Refused proofs by code", of: proofs, empty: "None since the start of the service.") {
                column("Code") { Shown.identifier($0.refusals.code) }
                column("Check") { ProofVerdict.Check($0.step)?.words.title }
                column("Redemptions") { Shown.number($0.refusals.redemptions) }
                column("Notifications") { Shown.number($0.refusals.notifications) }
                column("Cause") { RefusalRemedy(code: $0.refusals.code)?.causePhrase }
                column("Remedy") { RefusalRemedy(code: $0.refusals.code)?.remedyPhrase }
            }
        }
    }

    private static func count(_ count: Int) -> HTML {
        guard count >= RefusalGroup.maximumCount else { return Shown.number(count) }
        let digits = Shown.digits(count)
        return HTML { "\(digits) or more" }
    }

    private func refusals(of code: String, _ request: Request) async throws -> Page {
        let (shown, next) = try await RequestedPage(request).list(at: \.position) { position, limit in
            try await services.ledger.read {
                try $0.refusals(of: code, before: position, limit: limit)
            }
        }
        return Page("Refusals: \(code)", section: .refusals) {
            if let explanation = RefusalRemedy(code: code) {
                Facts.list {
                    fact("Cause") { explanation.causePhrase }
                    fact("Remedy") { explanation.remedyPhrase }
                }
            }
            h2 { "Refused purchases" }
            table(
                "Refused purchases, newest first", shown,
                next: next.map { ConsolePath("refusals", code, query: ["cursor": $0]) })
            p { a(.href(ConsoleSection.refusals.path)) { "All codes" } }
        }
    }

    private func table(_ caption: Phrase, _ refusals: [ActivityEntry], next: ConsolePath?) -> HTML {
        let names = services.names
        return Listing.table(caption, of: refusals, empty: "No purchase was refused with this code.", next: next) {
            column("Time") { Shown.moment($0.entry.happenedAt) }
            column("User") { Shown.customer($0.user) }
            column("Product") { names.lines($0.entry.subject) }
            column("Transaction") {
                a(.href(.customers($0.entry.reference)), Shown.identifier($0.entry.reference))
            }
            column("Origin") { Shown.origin($0.entry.origin) }
        }
    }
}
