import Entitlements
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
        checks = HealthChecks(services)
        audit = AuditCheck(services)
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
        let page = try RequestedPage(request)
        let member = try request.chosen("member")
        let pageSize = try request.query("pageSize")
        let event = try request.query("event").flatMap { AuditEntry.Event(rawValue: $0) }
        let found = try await services.team.actions(
            of: member, event: event, after: try page.position { RecordPosition($0) }, limit: page.size)
        let members = try await services.team.members().map(\.name)
        let names = services.names
        let next = found.end.map {
            ConsolePath(
                "health", "team",
                query: [
                    "member": member, "event": event?.rawValue,
                    "cursor": RequestedPage.cursor(after: $0.description),
                    "pageSize": pageSize,
                ])
        }
        return Page("Actions of the team", section: .health) {
            HealthTabs.links(present: HealthTabs.team)
            note(
                "The changes that people made to customers at the console. The timeline of a customer also shows those of API keys."
            )
            filters(HealthTabs.team) {
                Field.choice(
                    "member", "Person", empty: "everybody", members.map { ($0, Phrase(same: $0)) }, chosen: member)
                Field.choice(
                    "event", "Action", empty: "everything",
                    Self.shownEvents.map { ($0.rawValue, Self.title(of: $0)) }, chosen: event?.rawValue)
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
                    let reference = action.entry.reference
                    Shown.lines(
                        bdi { names.subject(of: action.entry) }, reference.isEmpty ? nil : Shown.identifier(reference))
                }
                column("Reason") { $0.entry.reason.map { data($0) } }
            }
        }
    }

    /// The events that a member can cause.
    private static let shownEvents = AuditEntry.Event.allCases.filter {
        $0.rule.part == .team || [.granted, .revoked, .spent, .erased].contains($0)
    }

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

    init(_ services: any ConsoleServices) {
        source = services.health
        clock = services.clock
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

extension HealthRoutes {
    func page(_ context: ConsoleContext) async throws -> Page {
        async let checked = checks.results()
        async let ledgerState = services.ledger.state()
        async let keyList = services.keys.list()
        async let openDuties = services.till.entitlements.openDuties(services.duties)
        let (results, ledger, keys, duties) = try await (checked, ledgerState, keyList, openDuties)
        let progress = await audit.progress
        let now = services.clock.now()
        return Page("Health", section: .health) {
            HealthTabs.links(present: HealthTabs.overview)
            Self.checks(results, context)
            if !services.duties.isEmpty { Self.deadlines(duties) }
            performance(ledger)
            Self.verification(progress, context)
            Self.certificates(results.certificates, at: now)
            Self.apiKeys(keys, at: now)
            configuration(ledger)
        }
    }

    @HTMLBuilder private static func checks(_ results: HealthChecks.Results, _ context: ConsoleContext) -> HTML {
        h2 { "Checks" }
        p {
            let problems = results.checks.count { $0.state == .problem }
            problems == 0 ? Shown.badge("No problems", .good) : Shown.badge("Problems: \(problems)", .bad)
        }
        Listing.table("Checks", of: results.checks, empty: "There are no checks.") {
            column("Check") { Phrase(titled: $0.subject) }
            column("State") { check in
                switch check.state {
                case .passed: Shown.badge("passed", .good)
                case .note: Shown.badge("note", .warning)
                case .problem: Shown.badge("problem", .bad)
                }
            }
            column("Result") { check in
                div { Shown.sentence(check.detail, Shown.moment) }
                if let remedy = check.remedy { div(.class("note")) { Shown.sentence(remedy, Shown.moment) } }
            }
        }
        div(.class("actions")) {
            context.form(to: ConsolePath("health", "checks")) { button { "Check again" } }
            span(.class("note")) { spaced(Phrase("Checked:"), Shown.moment(results.ranAt)) }
        }
    }

    private static let shownDuties = 20

    /// The duties with a deadline: those that were missed, and those that are due next.
    @HTMLBuilder private static func deadlines(_ duties: OpenDuties) -> HTML {
        let missed = duties.missedCount
        h2 { "Deadlines" }
        p {
            missed == 0
                ? Shown.badge("None was missed in the last days", .good)
                : Shown.badge("Missed in the last days: \(missed)", .bad)
        }
        Listing.table(
            "Deadlines", of: Array((duties.missed.prefix(shownDuties / 2) + duties.due).prefix(shownDuties)),
            empty: "No store awaits anything."
        ) {
            column("Work") { Self.title(of: $0.kind) }
            column("Purchase") { duty in
                if duty.kind.isOfCustomer {
                    a(.href(.customers(duty.subject)), Shown.identifier(duty.subject))
                } else {
                    Shown.identifier(duty.subject)
                }
            }
            column("Origin") { Shown.origin($0.origin) }
            column("Due") { Shown.moment($0.deadline) }
            column("State") {
                if $0.isMissed(at: duties.moment) {
                    Shown.badge("missed", .bad)
                } else {
                    $0.isRefused ? Shown.badge("refused", .bad) : Shown.badge("open", .warning)
                }
            }
        }
        note("The service does each within seconds. What is due for hours waits for a store that does not answer.")
        note("What a store has refused waits for a correction by your back end.")
    }

    private static func title(of kind: StoreDuty.Kind) -> Phrase {
        switch kind {
        case .consumptionAnswer: "Answer about a refund, 12 hours"
        case .refundReview: "Answer about a disputed payment, 24 hours"
        case .acknowledgement: "Acknowledgement at Google Play, 3 days"
        case .externalTransaction: "Report of an external transaction, 24 hours"
        case .externalPurchase: "Report of an external purchase to Apple, 15 days"
        }
    }

    @HTMLBuilder private func configuration(_ ledger: LedgerState) -> HTML {
        let system = services.health
        Facts.card("Versions") {
            for each in system.versions { fact(Phrase(same: each.name)) { plain(each.version) } }
            fact("Database") { plain(ledger.database) }
        }
        h2 { "Notes at the start" }
        if system.startNotes.isEmpty {
            emptyNote("There were none.")
        } else {
            ul(HTMLAttribute("lang", "en")) { for note in system.startNotes { li { data(note) } } }
        }
        details {
            summary { h2 { "Settings" } }
            Listing.table("Settings", of: system.settings, empty: "There are no settings.") {
                column("Setting") { Shown.identifier($0.name) }
                column("Value") { data($0.value) }
                column(Phrase("Source", context: "setting")) { setting in
                    if let source = setting.source { data(source) } else { "default" }
                }
            }
        }
    }

    /// The trusted roots and the TLS certificate, with their ends.
    @HTMLBuilder private static func certificates(_ certificates: [HealthCertificate], at now: Timestamp) -> HTML {
        h2 { "Certificates" }
        Listing.table(
            "Certificates", of: certificates,
            empty: "No certificate is trusted, so every proof is refused."
        ) {
            column("Use") { certificate in
                switch certificate.use {
                case .trustedRoot(.apple): "Root of Apple"
                case .trustedRoot(.xcode): "Root of Xcode"
                case .trustedRoot: "Root of a local store"
                case .tls: "TLS of this service"
                }
            }
            column("Name") { data($0.certificate.commonName ?? $0.file.path) }
            column("From") { Shown.day($0.certificate.validFrom) }
            column(Phrase("Until", context: "certificate")) { Shown.day($0.certificate.validUntil) }
            column("State") { certificate in
                switch certificate.certificate.state(at: now) {
                case .notYetValid: Shown.badge("not yet valid", .bad)
                case .valid: Shown.badge("valid", .good)
                case .endsSoon: Shown.badge("expires soon", .warning)
                case .expired: Shown.badge("expired", .bad)
                }
            }
            column("SHA-256") { Shown.identifier($0.certificate.fingerprint.hexadecimal) }
        }
    }
}

enum HealthTabs {
    static let overview = ConsolePath("health")
    static let team = ConsolePath("health", "team")

    /// - Parameter present: The page that shows the links.
    static func links(present: ConsolePath) -> HTML {
        Tabs.list("Health") {
            Tabs.link("Service", to: overview, isPresent: present == overview)
            Tabs.link("Actions of the team", to: team, isPresent: present == team)
            a(HTMLAttribute("href", "/openapi.json")) { "OpenAPI document" }
        }
    }
}
