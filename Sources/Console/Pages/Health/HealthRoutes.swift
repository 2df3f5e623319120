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
        async let ledger = services.entitlements.ledger.state()
        async let keys = services.keys.list()
        return try await HealthPage(
            context: context, services: services, results: results, ledger: ledger, keys: keys,
            verification: audit.progress
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

/// The page of what the team's members did to customers, newest first.
struct TeamActionsPage {
    /// The names of the members, removed ones included.
    let members: [String]
    /// The chosen member; nil for all.
    let member: String?
    /// The chosen event; nil for all.
    let event: AuditEntry.Event?
    let actions: [TeamAction]
    /// The address of the next page.
    let next: ConsolePath?

    var page: Page {
        Page("Actions of the team", section: .health) {
            HealthTabs.links(present: HealthTabs.team)
            note(
                "The changes that people made to customers at the console. The timeline of a customer also shows those of API keys."
            )
            filter
            table
            if actions.isEmpty { Listing.pager(next, "Search further") }
        }
    }

    private var empty: Phrase { next == nil ? "There are none." : "There are none among the latest actions." }

    private var filter: HTML {
        form(.class("actions"), .method("get"), .action(ConsolePath("health", "team"))) {
            Field.choice("member", "Person", empty: "everybody", members.map { ($0, Phrase(same: $0)) }, chosen: member)
            Field.choice(
                "event", "Action", empty: "everything",
                Self.shownEvents.map { ($0.rawValue, Self.title(of: $0)) }, chosen: event?.rawValue)
            button { "Show" }
        }
    }

    private var table: HTML {
        Listing.table("Actions of the team", of: actions, empty: empty, next: next) {
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
                if !action.entry.reference.isEmpty {
                    plain(" ")
                    Shown.identifier(action.entry.reference)
                }
            }
            column("Reason") { $0.entry.reason.map { data($0) } ?? Shown.nothing }
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
