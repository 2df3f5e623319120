import Console
import Proofs
import Service

/// The App Store and webhooks of the running service.
extension ServiceSystem {
    var allowsPrivateWebhooks: Bool { configuration.allowsPrivateWebhooks }

    var answersConsumptionRequests: Bool { configuration.appStore?.consumption != nil }

    func reconciliations() async throws -> [ConsoleReconciliation] {
        var found: [ConsoleReconciliation] = []
        for (number, reconciliation) in appStores.reconciliations.enumerated() {
            var states: [ConsoleReconciliation.State] = []
            for subject in ConsoleReconciliation.Subject.allCases {
                states.append(try await state(of: subject, reconciliation))
            }
            found.append(
                ConsoleReconciliation(
                    identifier: String(number), app: reconciliation.client.app.bundleIdentifier,
                    address: reconciliation.client.client.url.absoluteString,
                    origins: reconciliation.client.origins.sorted { $0.rawValue < $1.rawValue }, states: states))
        }
        return found
    }

    func requestReconciliation(_ identifier: String, _ subject: ConsoleReconciliation.Subject) -> Bool? {
        guard let number = Int(identifier), appStores.reconciliations.indices.contains(number) else { return nil }
        return appStores.reconciliations[number].runs.request(subject.runs)
    }

    private func state(
        of subject: ConsoleReconciliation.Subject,
        _ reconciliation: AppStoreServices.Reconciliation
    ) async throws -> ConsoleReconciliation.State {
        let checkpoint = try await reconciliation.reconciler.checkpoint(of: subject.runs)
        let state = reconciliation.runs.state(of: subject.runs)
        let settings = configuration.appStore
        return ConsoleReconciliation.State(
            subject: subject,
            interval: subject == .notifications ? settings?.notificationSeconds : settings?.historySeconds,
            reconciledUntil: checkpoint?.until, findings: checkpoint?.findings,
            lastRun: state.last.map { run in
                ConsoleReconciliation.Run(
                    startedAt: run.startedAt, endedAt: run.endedAt, errorCode: run.errorCode)
            }, isRunning: state.runningSince != nil || state.isRequested)
    }
}

extension ConsoleReconciliation.Subject {
    fileprivate var runs: ReconciliationRuns.Subject {
        switch self {
        case .notifications: .notifications
        case .histories: .histories
        }
    }
}
