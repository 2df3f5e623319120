import Features
import Proofs

extension AppStoreRoutes {
    /// The reconciliations with the App Store, for each app.
    func reconciliations(_ context: ConsoleContext) async throws -> Page {
        let reconciliations = try await services.system.reconciliations()
        return Page("Reconciliation", section: .appStore) {
            AppStoreTab.links(present: AppStoreTab.reconciliation)
            p {
                "A reconciliation asks the App Store for notifications and transactions that did not arrive, and applies them. What is known already changes nothing."
            }
            for app in services.entitlements.apps.all.map(\.bundleIdentifier) {
                let own = reconciliations.filter { $0.app == app }
                section(.class("card")) {
                    h2 { data(app) }
                    if own.isEmpty {
                        p { Shown.badge("Not configured", .warning) }
                        note("Set app-store-key, app-store-key-id and app-store-issuer-id, and restart the service.")
                    }
                    for reconciliation in own { Self.part(reconciliation, context) }
                }
            }
        }
    }

    @HTMLBuilder private static func part(
        _ reconciliation: ConsoleReconciliation, _ context: ConsoleContext
    ) -> HTML {
        h3 { data(reconciliation.address) }
        p(.class("note")) { plain(reconciliation.origins.map(\.rawValue).joined(separator: ", ")) }
        div(.class("columns")) {
            for state in reconciliation.states {
                div {
                    p { strong { title(of: state.subject) } }
                    Facts.list(facts(state))
                    if context.may(.administer) {
                        let path = ConsolePath(
                            "app-store", "reconciliation", reconciliation.identifier, state.subject.rawValue)
                        context.form(to: path) {
                            button(state.isRunning ? .disabled : nil) {
                                switch state.subject {
                                case .notifications: "Fetch notifications now"
                                case .histories: "Fetch all histories now"
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    private static func title(of subject: ReconciliationRuns.Subject) -> Phrase {
        switch subject {
        case .notifications: "Notifications since the last run"
        case .histories: "Histories of all customers"
        }
    }

    @FactsBuilder private static func facts(_ state: ConsoleReconciliation.State) -> [Fact] {
        fact("State") { status(of: state) }
        fact("Complete until") { Shown.moment(state.checkpoint?.until) }
        fact("Found in that run") { findings(state) }
        fact("Interval") { interval(state.interval) }
        fact("Last run of this process") { lastRun(state.runs.last) }
    }

    private static func status(of state: ConsoleReconciliation.State) -> HTML {
        if state.isRunning { return Shown.badge("Runs now") }
        if state.runs.last?.errorCode != nil { return Shown.badge("Failed", .bad) }
        return state.checkpoint?.until == nil ? Shown.badge("Never ran", .warning) : Shown.badge("Done", .good)
    }

    private static func findings(_ state: ConsoleReconciliation.State) -> HTML {
        guard let findings = state.checkpoint?.findings else { return Shown.nothing }
        guard !findings.isEmpty else { return HTML { "Nothing" } }
        return ul {
            for (outcome, count) in findings.sorted(by: { $0.key < $1.key }) {
                li {
                    if let known = NotificationOutcome(rawValue: outcome) {
                        known.title
                    } else {
                        "Refused"
                    }
                    plain(" ")
                    spaced(by: ": ", code { data(outcome) }, Shown.number(Int64(count)))
                }
            }
        }
    }

    private static func interval(_ seconds: Int64?) -> HTML {
        guard let seconds else { return HTML { "Only on request" } }
        return HTML { "Every \(Shown.digits(seconds)) seconds" }
    }

    private static func lastRun(_ run: ReconciliationRuns.Run?) -> HTML {
        guard let run else { return Shown.nothing }
        return HTML {
            spaced(by: " – ", Shown.moment(run.startedAt), Shown.moment(run.endedAt))
            if let code = run.errorCode {
                plain(" ")
                spaced(Shown.badge("Failed", .bad), Console.code { data(code) })
            }
        }
    }
}
