import Features
import HTTPSupport
import Hummingbird
import Ledger
import Proofs

/// The pages of the service's health: checks, performance, settings and the audit log of the team.
///
/// One value serves all requests: it keeps the results of the checks and the progress of the verification.
struct HealthRoutes: Sendable {
    private let services: ConsoleServices
    private let checks: HealthChecks
    private let audit: AuditCheck

    init(services: ConsoleServices) {
        self.services = services
        checks = HealthChecks(services.system.health, clock: services.clock)
        audit = AuditCheck(services.entitlements, clock: services.clock)
    }

    func add(to pages: ConsolePages) {
        pages.get("health") { _, context in try await page(context) }
        pages.post("health/checks", .view) { _, _ in
            _ = await checks.results(isRepeated: true)
            return ConsolePath("health")
        }
        pages.post("health/verification", .administer) { _, _ in
            await audit.start()
            return ConsolePath("health")
        }
        pages.get("health/team") { request, context in try await actions(request, context) }
    }

    private func page(_ context: ConsoleContext) async throws -> Page {
        async let results = checks.results()
        async let ledger = services.system.health.ledger()
        async let keys = services.keys.list()
        let health = services.system.health
        return try await HealthPage(
            context: context, now: services.clock.now(), results: results, ledger: ledger, keys: keys,
            performance: health.performance, versions: health.versions, settings: health.settings,
            startNotes: health.startNotes, verification: audit.progress
        ).page
    }

    private func actions(_ request: Request, _ context: ConsoleContext) async throws -> Page {
        let page = try HTTPSupport.Page(request)
        let member = try request.query("member").flatMap { $0.isEmpty ? nil : $0 }
        let pageSize = try request.query("pageSize")
        let event = try request.query("event").flatMap { AuditEntry.Event(rawValue: $0) }
        let found = try await services.team.actions(
            of: member, event: event, after: try page.position { TeamAction.Position($0) }, limit: page.size)
        let cursor = found.end.map { HTTPSupport.Page.cursor(after: $0.text) }
        return TeamActionsPage(
            members: try await services.team.members().map(\.name), member: member, event: event,
            actions: found.actions,
            next: cursor.map {
                ConsolePath(
                    "health", "team",
                    query: ["member": member, "event": event?.rawValue, "cursor": $0, "pageSize": pageSize])
            }
        ).page
    }
}
