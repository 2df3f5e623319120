import Features
import HTTPSupport
import Hummingbird
import Proofs

/// The refused purchases of all users.
struct RefusalsRoutes: Sendable {
    private static let days: Int64 = 28
    private static let latest = 5

    let services: ConsoleServices

    func add(to pages: ConsolePages) {
        pages.get("refusals") { _, _ in
            let groups = try await services.entitlements.refusalGroups(
                since: services.entitlements.clock.now().adding(days: -Self.days), latest: Self.latest)
            return RefusalsPage(days: Self.days, groups: groups, uncounted: services.metrics.refusals).page
        }
        pages.get("refusals/:code") { request, context in
            let code = try context.parameters.text("code")
            let page = try HTTPSupport.Page(request)
            let found = try await services.entitlements.refusals(
                of: code, before: try page.position { RecordedRefusal.Position($0) }, limit: page.size + 1)
            let (shown, next) = page.part(of: found) { $0.position.description }
            return RefusedPurchasesPage(code: code, refusals: shown, nextCursor: next).page
        }
    }
}
