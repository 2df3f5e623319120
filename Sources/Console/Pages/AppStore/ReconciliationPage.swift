import Features
import Proofs

/// The reconciliations with the App Store, for each app.
struct ReconciliationPage {
    let context: ConsoleContext
    /// The bundle identifiers of all apps.
    let apps: [String]
    let reconciliations: [ConsoleReconciliation]

    var page: Page {
        Page(Phrase("Reconciliation", "대조"), section: .appStore) {
            AppStoreTab.links(present: .reconciliation)
            p {
                Phrase(
                    "A reconciliation asks the App Store for notifications and transactions that did not arrive, and "
                        + "applies them. What is known already changes nothing.",
                    "대조는 도착하지 않은 알림과 거래를 App Store에 물어 반영합니다. 이미 알고 있는 것은 아무것도 바꾸지 않습니다.")
            }
            for app in apps {
                let own = reconciliations.filter { $0.app == app }
                section(.class("card")) {
                    h2 { data(app) }
                    if own.isEmpty { notConfigured }
                    for reconciliation in own { part(reconciliation) }
                }
            }
        }
    }

    private var notConfigured: HTML {
        HTML {
            p { Shown.badge(Phrase("Not configured", "설정되지 않음"), .warning) }
            p(.class("note")) {
                Phrase(
                    "Set app-store-key, app-store-key-id and app-store-issuer-id, and restart the service.",
                    "app-store-key, app-store-key-id, app-store-issuer-id를 설정하고 서비스를 다시 시작하세요.")
            }
        }
    }

    private func part(_ reconciliation: ConsoleReconciliation) -> HTML {
        HTML {
            h3 { data(reconciliation.address) }
            p(.class("note")) {
                plain(reconciliation.origins.map(\.rawValue).joined(separator: ", "))
            }
            div(.class("columns")) {
                for state in reconciliation.states {
                    div {
                        p { strong { Self.title(of: state.subject) } }
                        Facts.list(Self.facts(state))
                        if context.may(.administer) { action(state, reconciliation) }
                    }
                }
            }
        }
    }

    private func action(_ state: ConsoleReconciliation.State, _ reconciliation: ConsoleReconciliation) -> HTML {
        context.form(
            to: ConsolePath("app-store", "reconciliation", reconciliation.identifier, state.subject.rawValue)
        ) {
            button(state.isRunning ? .disabled : nil) {
                switch state.subject {
                case .notifications: Phrase("Fetch notifications now", "지금 알림 가져오기")
                case .histories: Phrase("Fetch all histories now", "지금 모든 내역 가져오기")
                }
            }
        }
    }

    private static func title(of subject: ReconciliationRuns.Subject) -> Phrase {
        switch subject {
        case .notifications: Phrase("Notifications since the last run", "지난 실행 이후의 알림")
        case .histories: Phrase("Histories of all customers", "모든 고객의 거래 내역")
        }
    }

    private static func facts(_ state: ConsoleReconciliation.State) -> [(name: Phrase, value: HTML)] {
        [
            (Phrase("State", "상태"), status(of: state)),
            (Phrase("Complete until", "완료 시점"), Shown.moment(state.checkpoint?.until)),
            (Phrase("Found in that run", "그 실행의 결과"), findings(state)),
            (Phrase("Interval", "간격"), interval(state.interval)),
            (Phrase("Last run of this process", "이 프로세스의 마지막 실행"), lastRun(state.runs.last)),
        ]
    }

    private static func status(of state: ConsoleReconciliation.State) -> HTML {
        if state.isRunning { return Shown.badge(Phrase("Runs now", "실행 중")) }
        if state.runs.last?.errorCode != nil { return Shown.badge(Phrase("Failed", "실패"), .bad) }
        return state.checkpoint?.until == nil
            ? Shown.badge(Phrase("Never ran", "실행한 적 없음"), .warning) : Shown.badge(Phrase("Done", "완료"), .good)
    }

    private static func findings(_ state: ConsoleReconciliation.State) -> HTML {
        guard let findings = state.checkpoint?.findings else { return Shown.nothing }
        guard !findings.isEmpty else { return HTML { Phrase("Nothing", "없음") } }
        return ul {
            for (outcome, count) in findings.sorted(by: { $0.key < $1.key }) {
                li {
                    if let known = NotificationOutcome(rawValue: outcome) {
                        known.title
                    } else {
                        Phrase("Refused", "거절")
                    }
                    plain(" ")
                    code { data(outcome) }
                    plain(": ")
                    Shown.number(Int64(count))
                }
            }
        }
    }

    private static func interval(_ seconds: Int64?) -> HTML {
        guard let seconds else { return HTML { Phrase("Only on request", "요청할 때만") } }
        return HTML {
            Phrase("Every \(Shown.digits(seconds)) seconds", "\(Shown.digits(seconds))초마다")
        }
    }

    private static func lastRun(_ run: ReconciliationRuns.Run?) -> HTML {
        guard let run else { return Shown.nothing }
        return HTML {
            Shown.moment(run.startedAt)
            plain(" – ")
            Shown.moment(run.endedAt)
            if let code = run.errorCode {
                plain(" ")
                Shown.badge(Phrase("Failed", "실패"), .bad)
                plain(" ")
                Console.code { data(code) }
            }
        }
    }
}
