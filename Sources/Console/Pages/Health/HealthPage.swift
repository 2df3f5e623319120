import Ledger
import Proofs

/// The page of the service's health.
struct HealthPage {
    let context: ConsoleContext
    let services: ConsoleServices
    let results: HealthChecks.Results
    let ledger: LedgerState
    let keys: [APIKeyRecord]
    /// The last verification of the audit logs; nil for none.
    let verification: AuditCheck.Progress?

    private var system: any HealthSource { services.system.health }

    var page: Page {
        let now = services.clock.now()
        return Page("Health", section: .health) {
            HealthTabs.links(present: HealthTabs.overview)
            checks
            HealthPerformanceTable(services: services, state: ledger).html
            AuditCheckCard(context: context, progress: verification).html
            HealthCertificateTable(certificates: results.certificates, now: now).html
            HealthKeyTable(keys: keys, now: now).html
            configuration
        }
    }

    @HTMLBuilder private var checks: HTML {
        h2 { "Checks" }
        summary
        Listing.table("Checks", of: results.checks, empty: "There are no checks.") {
            column("State") { badge($0.state) }
            column("Check") { $0.subject.title }
            column("Result") { check in
                div { check.detail }
                if let remedy = check.remedy { div(.class("note")) { remedy } }
            }
        }
        div(.class("actions")) {
            context.form(to: ConsolePath("health", "checks")) { button { "Check again" } }
            span(.class("note")) {
                "Checked:"
                plain(" ")
                Shown.moment(results.ranAt)
            }
        }
    }

    private var summary: HTML {
        let problems = results.checks.count { $0.state == .problem }
        return p { problems == 0 ? Shown.badge("No problems", .good) : Shown.badge("Problems: \(problems)", .bad) }
    }

    private func badge(_ state: HealthCheck.State) -> HTML {
        switch state {
        case .passed: Shown.badge("passed", .good)
        case .note: Shown.badge("note", .warning)
        case .problem: Shown.badge("problem", .bad)
        }
    }

    @HTMLBuilder private var configuration: HTML {
        h2 { "Versions" }
        section(.class("card")) {
            Facts.list {
                for each in system.versions { fact(Phrase(same: each.name)) { plain(each.version) } }
                fact("Database") { plain(ledger.database) }
            }
        }
        h2 { "Notes at the start" }
        if system.startNotes.isEmpty {
            emptyNote("There were none.")
        } else {
            ul(HTMLAttribute("lang", "en")) { for note in system.startNotes { li { data(note) } } }
        }
        h2 { "Settings" }
        Listing.table("Settings", of: system.settings, empty: "There are no settings.") {
            column("Setting") { Shown.identifier($0.name) }
            column("Value") { data($0.value) }
            column("Source") { setting in
                if let source = setting.source { data(source) } else { "default" }
            }
        }
    }
}

/// The trusted roots and the TLS certificate, with their ends.
struct HealthCertificateTable {
    let certificates: [HealthCertificate]
    let now: Timestamp

    @HTMLBuilder var html: HTML {
        h2 { "Certificates" }
        Listing.table(
            "Certificates", of: certificates,
            empty: "No certificate is trusted, so every proof is refused."
        ) {
            column("Use") { use($0.use) }
            column("Name") { data($0.name ?? $0.file) }
            column("From") { Shown.day($0.notBefore) }
            column(Phrase("Until", context: "certificate")) { Shown.day($0.notAfter) }
            column("State") { state($0) }
            column("SHA-256") { Shown.identifier(String($0.fingerprint.prefix(16)) + "…") }
        }
    }

    private func use(_ use: HealthCertificate.Use) -> Phrase {
        switch use {
        case .trustedRoot(.apple): "Root of Apple"
        case .trustedRoot(.xcode): "Root of Xcode"
        case .trustedRoot(.local): "Root of a local store"
        case .tls: "TLS of this service"
        }
    }

    private func state(_ certificate: HealthCertificate) -> HTML {
        switch certificate.state(at: now) {
        case .notYetValid: Shown.badge("not yet valid", .bad)
        case .valid: Shown.badge("valid", .good)
        case .endsSoon: Shown.badge("expires soon", .warning)
        case .expired: Shown.badge("expired", .bad)
        }
    }
}

/// The links between the pages of the service's health.
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
