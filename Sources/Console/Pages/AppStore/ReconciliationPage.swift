import Features
import Proofs

extension AppStoreRoutes {
    /// The state of a subject.
    private struct State {
        let subject: ReconciliationRuns.Subject
        let interval: Int64?
        let checkpoint: ReconciliationCheckpoint?
        let runs: ReconciliationRuns.State

        /// True if a run is under way or requested.
        var isRunning: Bool { runs.runningSince != nil || runs.isRequested }
    }

    /// The reconciliations with the App Store, for each app.
    func reconciliations(_ context: ConsoleContext) async throws -> Page {
        var reconciliations: [(number: Int, reconciliation: any ConsoleReconciliation, states: [State])] = []
        for (number, reconciliation) in services.reconciliations.enumerated() {
            var states: [State] = []
            for subject in ReconciliationRuns.Subject.allCases {
                states.append(
                    State(
                        subject: subject, interval: reconciliation.interval(of: subject),
                        checkpoint: try await reconciliation.checkpoint(of: subject),
                        runs: reconciliation.runs.state(of: subject)))
            }
            reconciliations.append((number, reconciliation, states))
        }
        return Page("Reconciliation", section: .appStore) {
            AppStoreTab.links(present: AppStoreTab.reconciliation)
            p {
                "A reconciliation asks the App Store for notifications and transactions that did not arrive, and applies them. What is known already changes nothing."
            }
            for app in services.entitlements.apps.all.map(\.bundleIdentifier) {
                let own = reconciliations.filter { $0.reconciliation.bundleIdentifier == app }
                section(.class("card")) {
                    h2 { data(app) }
                    if own.isEmpty {
                        p { Shown.badge("Not configured", .warning) }
                        note("Set app-store-key, app-store-key-id and app-store-issuer-id, and restart the service.")
                    }
                    for (number, reconciliation, states) in own {
                        Self.part(number, reconciliation, states, context)
                    }
                }
            }
        }
    }

    @HTMLBuilder private static func part(
        _ number: Int, _ reconciliation: any ConsoleReconciliation, _ states: [State], _ context: ConsoleContext
    ) -> HTML {
        h3 { data(reconciliation.address) }
        p(.class("note")) { plain(reconciliation.origins.map(\.rawValue).sorted().joined(separator: ", ")) }
        div(.class("columns")) {
            for state in states {
                div {
                    p { strong { title(of: state.subject) } }
                    Facts.list(facts(state))
                    if context.may(.administer) {
                        context.form(
                            to: ConsolePath("app-store", "reconciliation", String(number), state.subject.rawValue)
                        ) {
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

    @FactsBuilder private static func facts(_ state: State) -> [Fact] {
        fact("State") { status(of: state) }
        fact("Complete until") { Shown.moment(state.checkpoint?.until) }
        fact("Found in that run") { findings(state) }
        fact("Interval") { interval(state.interval) }
        fact("Last run of this process") { lastRun(state.runs.last) }
    }

    private static func status(of state: State) -> HTML {
        if state.isRunning { return Shown.badge("Runs now") }
        if state.runs.last?.errorCode != nil { return Shown.badge("Failed", .bad) }
        return state.checkpoint?.until == nil ? Shown.badge("Never ran", .warning) : Shown.badge("Done", .good)
    }

    private static func findings(_ state: State) -> HTML {
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
