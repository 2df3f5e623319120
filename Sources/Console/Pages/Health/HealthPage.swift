import Ledger
import Proofs

extension HealthRoutes {
    /// The page of the service's health.
    func page(_ context: ConsoleContext) async throws -> Page {
        async let checked = checks.results()
        async let ledgerState = services.entitlements.ledger.state()
        async let keyList = services.keys.list()
        let (results, ledger, keys) = try await (checked, ledgerState, keyList)
        let progress = await audit.progress
        let now = services.clock.now()
        return Page("Health", section: .health) {
            HealthTabs.links(present: HealthTabs.overview)
            Self.checks(results, context)
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
            column("State") { check in
                switch check.state {
                case .passed: Shown.badge("passed", .good)
                case .note: Shown.badge("note", .warning)
                case .problem: Shown.badge("problem", .bad)
                }
            }
            column("Check") { $0.subject.title }
            column("Result") { check in
                div { check.detail }
                if let remedy = check.remedy { div(.class("note")) { remedy } }
            }
        }
        div(.class("actions")) {
            context.form(to: ConsolePath("health", "checks")) { button { "Check again" } }
            span(.class("note")) { spaced(Phrase("Checked:"), Shown.moment(results.ranAt)) }
        }
    }

    @HTMLBuilder private func configuration(_ ledger: LedgerState) -> HTML {
        let system = services.health
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
                case .trustedRoot(.local): "Root of a local store"
                case .tls: "TLS of this service"
                }
            }
            column("Name") { data($0.name ?? $0.file) }
            column("From") { Shown.day($0.notBefore) }
            column(Phrase("Until", context: "certificate")) { Shown.day($0.notAfter) }
            column("State") { certificate in
                switch certificate.state(at: now) {
                case .notYetValid: Shown.badge("not yet valid", .bad)
                case .valid: Shown.badge("valid", .good)
                case .endsSoon: Shown.badge("expires soon", .warning)
                case .expired: Shown.badge("expired", .bad)
                }
            }
            column("SHA-256") { Shown.identifier(String($0.fingerprint.prefix(16)) + "…") }
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
