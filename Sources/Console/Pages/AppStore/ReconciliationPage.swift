import Entitlements
import Proofs

/// A reconciliation of one app with one address of the App Store Server API.
package protocol ConsoleReconciliation: Sendable {
    var bundleIdentifier: String { get }
    /// The address of the App Store Server API.
    var address: String { get }
    /// The origins of the purchases that the address knows.
    var origins: Set<Origin> { get }
    /// The runs of this process. They take requests for further ones.
    var runs: ReconciliationRuns { get }

    /// The interval between runs, in seconds; nil if runs happen only on request.
    func interval(of subject: ReconciliationRuns.Subject) -> Int64?

    /// The last complete run of any process; nil if there was none.
    func checkpoint(of subject: ReconciliationRuns.Subject) async throws -> ReconciliationCheckpoint?
}

/// The last list of voided purchases of an app on Google Play; without a run if there was none.
package struct VoidedPurchases: Sendable {
    let package: String
    let last: ReconciliationCheckpoint?

    package init(package: String, last: ReconciliationCheckpoint?) {
        (self.package, self.last) = (package, last)
    }
}

extension AppStoreRoutes {
    private typealias Checkpoints = [ReconciliationRuns.Subject: ReconciliationCheckpoint]

    func reconciliations(_ context: ConsoleContext) async throws -> Page {
        var reconciliations: [(number: Int, shown: any ConsoleReconciliation, checkpoints: Checkpoints)] = []
        for (number, reconciliation) in services.reconciliations.enumerated() {
            var checkpoints: Checkpoints = [:]
            for subject in ReconciliationRuns.Subject.allCases {
                checkpoints[subject] = try await reconciliation.checkpoint(of: subject)
            }
            reconciliations.append((number, reconciliation, checkpoints))
        }
        let voided = try await services.voidedPurchases()
        return AppStoreTab.page("Reconciliation", AppStoreTab.reconciliation) {
            p {
                "A reconciliation asks the App Store for notifications and transactions that did not arrive, and applies them. What is known already changes nothing."
            }
            for app in services.appNames {
                let own = reconciliations.filter { $0.shown.bundleIdentifier == app }
                section(.class("card")) {
                    h2 { data(app) }
                    if own.isEmpty {
                        p { Shown.badge("Not configured", .warning) }
                        note("Set app-store-key, app-store-key-id and app-store-issuer-id, and restart the service.")
                    }
                    for (number, reconciliation, checkpoints) in own {
                        h3 { data(reconciliation.address) }
                        p(.class("note")) {
                            plain(reconciliation.origins.map(\.rawValue).sorted().joined(separator: ", "))
                        }
                        div(.class("columns")) {
                            for subject in ReconciliationRuns.Subject.allCases {
                                let path = ConsolePath(
                                    "app-store", "reconciliation", String(number), subject.rawValue)
                                div { Self.part(subject, of: reconciliation, checkpoints[subject], path, context) }
                            }
                        }
                    }
                }
            }
            for list in voided {
                Facts.card("Voided purchases of Google Play") {
                    fact("App") { Shown.identifier(list.package) }
                    fact("Complete until") { Shown.moment(list.last?.until) }
                    fact("Found in that run") { list.last.map { Self.findings($0.findings) } }
                }
            }
        }
    }

    /// The runs for a subject, and the button that requests one.
    @HTMLBuilder private static func part(
        _ subject: ReconciliationRuns.Subject, of reconciliation: any ConsoleReconciliation,
        _ checkpoint: ReconciliationCheckpoint?, _ path: ConsolePath, _ context: ConsoleContext
    ) -> HTML {
        let runs = reconciliation.runs.state(of: subject)
        let words: (title: Phrase, button: Phrase) =
            switch subject {
            case .notifications: ("Notifications since the last run", "Fetch notifications now")
            case .histories: ("Histories of all customers", "Fetch all histories now")
            }
        p { strong { words.title } }
        Facts.list {
            fact("State") {
                if runs.isRunning {
                    Shown.badge("Runs now")
                } else if runs.last?.errorCode != nil {
                    Shown.badge("Failed", .bad)
                } else {
                    checkpoint?.until == nil ? Shown.badge("Never ran", .warning) : Shown.badge("Done", .good)
                }
            }
            fact("Complete until") { Shown.moment(checkpoint?.until) }
            fact("Found in that run") { checkpoint.map { findings($0.findings) } }
            fact("Interval") {
                if let seconds = reconciliation.interval(of: subject) {
                    "Every \(Shown.digits(seconds)) seconds"
                } else {
                    "Only on request"
                }
            }
            fact("Last run of this process") {
                if let run = runs.last {
                    spaced(by: " – ", Shown.moment(run.startedAt), Shown.moment(run.endedAt))
                    if let code = run.errorCode {
                        also(spaced(Shown.badge("Failed", .bad), Console.code { data(code) }))
                    }
                }
            }
        }
        if context.may(.administer) {
            context.form(to: path) { button(runs.isRunning ? .disabled : nil) { words.button } }
        }
    }

    private static func findings(_ findings: [String: Int]) -> HTML {
        guard !findings.isEmpty else { return HTML { "Nothing" } }
        return ul {
            for (outcome, count) in findings.sorted(by: { $0.key < $1.key }) {
                li {
                    NotificationOutcome(rawValue: outcome)?.title ?? "Refused"
                    also(spaced(by: ": ", code { data(outcome) }, Shown.number(count)))
                }
            }
        }
    }
}
