import Features
import HTTPSupport
import Hummingbird
import Proofs

/// The page of all refusals by their codes.
struct RefusalsPage {
    let days: Int64
    let groups: [RefusalGroup]
    /// The refusals that the service has counted since its start.
    let uncounted: [ServiceMetrics.Refusals]

    var page: Page {
        Page("Refusals", section: .refusals) {
            h2 { "Refused purchases" }
            note(
                "Authentic purchases that a user presented and the service refused. Each is recorded once for a user and a transaction."
            )
            purchases
            for group in groups { latest(group) }
            h2 { "Refused proofs" }
            note(
                "Proofs that failed a check before their app and origin were looked at. They prove nothing about a user, so the service only counts them since its start."
            )
            proofs
        }
    }

    private var purchases: HTML {
        Listing.table("Refused purchases by code", of: groups, empty: "No purchase was ever refused.") {
            column("Code") { group in
                a(.href(ConsolePath("refusals", group.code))) { Shown.identifier(group.code) }
            }
            column("Last \(days) days") { Self.count($0.count) }
            column("Latest") { Shown.moment($0.latest.first?.entry.happenedAt) }
            column("Cause") { Self.text(RefusalExplanation(code: $0.code)?.cause) }
            column("Remedy") { Self.text(RefusalExplanation(code: $0.code)?.remedy) }
        }
    }

    private static func count(_ count: Int) -> HTML {
        guard count >= RefusalGroup.maximumCount else { return Shown.number(Int64(count)) }
        let digits = Shown.digits(Int64(count))
        return HTML { "\(digits) or more" }
    }

    private static func text(_ phrase: Phrase?) -> HTML {
        phrase.map { phrase in HTML { phrase } } ?? Shown.nothing
    }

    private func latest(_ group: RefusalGroup) -> HTML {
        section {
            h3 {
                "Latest refusals:"
                plain(" ")
                Shown.identifier(group.code)
            }
            RefusedPurchasesPage.table("Latest refusals: \(group.code)", group.latest, next: nil)
            p { a(.href(ConsolePath("refusals", group.code))) { "All with this code" } }
        }
    }

    private var proofs: HTML {
        // The refusals of an authentic proof are recorded above.
        let refused = uncounted.compactMap { counted in
            ProofRefusal.Reason(rawValue: counted.code).map { (refusals: counted, step: $0.step) }
        }.filter { $0.step != .appAndOrigin }
        return Listing.table("Refused proofs by code", of: refused, empty: "None since the start of the service.") {
            column("Code") { Shown.identifier($0.refusals.code) }
            column("Check") { Self.text(ProofVerdict.Check($0.step)?.title) }
            column("Redemptions") { Shown.number(Int64($0.refusals.redemptions)) }
            column("Notifications") { Shown.number(Int64($0.refusals.notifications)) }
            column("Cause") { Self.text(RefusalExplanation(code: $0.refusals.code)?.cause) }
            column("Remedy") { Self.text(RefusalExplanation(code: $0.refusals.code)?.remedy) }
        }
    }
}

/// The page of the refused purchases with one code.
struct RefusedPurchasesPage {
    let code: String
    let refusals: [ActivityEntry]
    let nextCursor: String?

    var page: Page {
        Page("Refusals: \(code)", section: .refusals) {
            if let explanation = RefusalExplanation(code: code) {
                Facts.list {
                    fact("Cause") { explanation.cause }
                    fact("Remedy") { explanation.remedy }
                }
            }
            h2 { "Refused purchases" }
            Self.table(
                "Refused purchases, newest first", refusals,
                next: nextCursor.map { ConsolePath("refusals", code, query: ["cursor": $0]) })
            p { a(.href(ConsoleSection.refusals.path)) { "All codes" } }
        }
    }

    static func table(_ caption: Phrase, _ refusals: [ActivityEntry], next: ConsolePath?) -> HTML {
        Listing.table(caption, of: refusals, empty: "No purchase was refused with this code.", next: next) {
            column("Time") { Shown.moment($0.entry.happenedAt) }
            column("User") { Shown.customer($0.user) }
            column("Product") { Shown.identifier($0.entry.subject) }
            column("Transaction") { refusal in
                a(.href(ConsolePath("customers", query: ["search": refusal.entry.reference]))) {
                    Shown.identifier(refusal.entry.reference)
                }
            }
            column("Origin") { Shown.identifier($0.entry.origin?.rawValue) }
        }
    }
}

/// The refused purchases of all users.
struct RefusalsRoutes: Sendable {
    private static let days: Int64 = 28
    private static let latest = 5

    let services: ConsoleServices

    func add(to pages: ConsolePages) {
        pages.get("refusals") { _, _ in
            let since = services.entitlements.clock.now().adding(days: -Self.days)
            let groups = try await services.entitlements.ledger.read {
                try $0.refusalGroups(since: since, latest: Self.latest)
            }
            return RefusalsPage(days: Self.days, groups: groups, uncounted: services.metrics.refusals).page
        }
        pages.get("refusals/:code") { request, context in
            let code = try context.parameters.text("code")
            let page = try HTTPSupport.Page(request)
            let position = try page.position { RecordPosition($0) }
            let found = try await services.entitlements.ledger.read {
                try $0.refusals(of: code, before: position, limit: page.size + 1)
            }
            let (shown, next) = page.part(of: found) { $0.position.description }
            return RefusedPurchasesPage(code: code, refusals: shown, nextCursor: next).page
        }
    }
}
