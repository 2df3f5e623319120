import Features
import HTTPSupport
import Hummingbird
import Ledger
import Proofs

/// The pages of the service's health: checks, performance, settings and the audit log of the team.
///
/// One value serves all requests: it keeps the results of the checks and the progress of the verification.
struct HealthRoutes: Sendable {
    let services: any ConsoleServices
    let checks: HealthChecks
    let audit: AuditCheck

    init(services: any ConsoleServices) {
        self.services = services
        checks = HealthChecks(services.health, clock: services.clock)
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
        pages.get("health/team") { request, _ in try await actions(request) }
    }

    /// The page of what the team's members did to customers, newest first.
    private func actions(_ request: Request) async throws -> Page {
        let page = try HTTPSupport.Page(request)
        let member = try request.query("member").flatMap { $0.isEmpty ? nil : $0 }
        let pageSize = try request.query("pageSize")
        let event = try request.query("event").flatMap { AuditEntry.Event(rawValue: $0) }
        let found = try await services.team.actions(
            of: member, event: event, after: try page.position { TeamAction.Position($0) }, limit: page.size)
        let members = try await services.team.members().map(\.name)
        let next = found.end.map {
            ConsolePath(
                "health", "team",
                query: [
                    "member": member, "event": event?.rawValue, "cursor": HTTPSupport.Page.cursor(after: $0.text),
                    "pageSize": pageSize,
                ])
        }
        return Page("Actions of the team", section: .health) {
            HealthTabs.links(present: HealthTabs.team)
            note(
                "The changes that people made to customers at the console. The timeline of a customer also shows those of API keys."
            )
            form(.class("actions"), .method("get"), .action(HealthTabs.team)) {
                Field.choice(
                    "member", "Person", empty: "everybody", members.map { ($0, Phrase(same: $0)) }, chosen: member)
                Field.choice(
                    "event", "Action", empty: "everything",
                    Self.shownEvents.map { ($0.rawValue, Self.title(of: $0)) }, chosen: event?.rawValue)
                button { "Show" }
            }
            Listing.table(
                "Actions of the team", of: found.actions,
                empty: next == nil ? "There are none." : "There are none among the latest actions.", next: next
            ) {
                column("Time") { Shown.moment($0.entry.happenedAt) }
                column("Person") { action in
                    if case .member(let name) = action.entry.actor {
                        data(name)
                    } else {
                        data(action.entry.actor.description)
                    }
                }
                column("Action") { Self.title(of: $0.entry.event) }
                column("Customer") { Shown.customer($0.user) }
                column("What") { action in
                    data(action.entry.subject)
                    if !action.entry.reference.isEmpty { also(Shown.identifier(action.entry.reference)) }
                }
                column("Reason") { $0.entry.reason.map { data($0) } ?? Shown.nothing }
            }
            if found.actions.isEmpty { Listing.pager(next, "Search further") }
        }
    }

    /// The events that a member can cause.
    private static let shownEvents: [AuditEntry.Event] = [
        .itemGiven, .itemTakenBack, .granted, .revoked, .assigned, .credited, .spent, .erased,
    ]

    private static func title(of event: AuditEntry.Event) -> Phrase {
        // The team also grants by reinstating.
        event == .granted ? "Purchase reinstated or redeemed" : event.title
    }
}

/// The checks of the installation. Their results are kept for a minute, and concurrent requests share one run.
actor HealthChecks {
    struct Results: Sendable {
        let checks: [HealthCheck]
        let certificates: [HealthCertificate]
        let ranAt: Timestamp
    }

    /// The time for which results are kept, in milliseconds.
    private static let keepingTime: Int64 = 60_000
    /// The shortest time between two runs, in milliseconds.
    private static let minimumInterval: Int64 = 2000

    private let source: any HealthSource
    private let clock: any WallClock
    private var last: Results?
    private var run: Task<Results, Never>?

    init(_ source: any HealthSource, clock: any WallClock) {
        self.source = source
        self.clock = clock
    }

    /// - Parameter isRepeated: True to run the checks again, unless they have just run.
    func results(isRepeated: Bool = false) async -> Results {
        let keepingTime = isRepeated ? Self.minimumInterval : Self.keepingTime
        if let last, clock.now().millisecondsSince1970 - last.ranAt.millisecondsSince1970 < keepingTime { return last }
        if let run { return await run.value }
        let task = Task { [source, clock] in
            async let certificates = source.certificates()
            return Results(checks: await source.checks(), certificates: await certificates, ranAt: clock.now())
        }
        run = task
        let results = await task.value
        (last, run) = (results, nil)
        return results
    }
}
