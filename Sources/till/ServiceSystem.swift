import Catalog
import Console
import Features
import Foundation
import HTTPSupport
import Proofs
import Service
import ServiceLifecycle

/// The running service, as the console shows it.
struct ServiceSystem: ConsoleSystem {
    let configuration: ServeConfiguration
    let appStores: AppStoreServices
    let health: any HealthSource
}

/// The App Store and webhooks of the running service.
extension ServiceSystem {
    var allowsPrivateWebhooks: Bool { configuration.allowsPrivateWebhooks }

    var answersConsumptionRequests: Bool { configuration.appStore?.consumption != nil }

    func reconciliations() async throws -> [ConsoleReconciliation] {
        var found: [ConsoleReconciliation] = []
        for (number, reconciliation) in appStores.reconciliations.enumerated() {
            var states: [ConsoleReconciliation.State] = []
            for subject in ReconciliationRuns.Subject.allCases {
                states.append(try await state(of: subject, reconciliation))
            }
            found.append(
                ConsoleReconciliation(
                    identifier: String(number), app: reconciliation.app.bundleIdentifier,
                    address: reconciliation.client.url.absoluteString,
                    origins: reconciliation.origins.sorted { $0.rawValue < $1.rawValue }, states: states))
        }
        return found
    }

    func requestReconciliation(_ identifier: String, _ subject: ReconciliationRuns.Subject) -> Bool? {
        guard let number = Int(identifier), appStores.reconciliations.indices.contains(number) else { return nil }
        return appStores.reconciliations[number].runs.request(subject)
    }

    private func state(
        of subject: ReconciliationRuns.Subject, _ reconciliation: AppStoreServices.Reconciliation
    ) async throws -> ConsoleReconciliation.State {
        let settings = configuration.appStore
        return ConsoleReconciliation.State(
            subject: subject,
            interval: subject == .notifications ? settings?.notificationSeconds : settings?.historySeconds,
            checkpoint: try await reconciliation.reconciler.checkpoint(of: subject),
            runs: reconciliation.runs.state(of: subject))
    }
}

/// The background parts that ask the App Store for missed purchases and answer its consumption requests.
struct AppStoreServices {
    /// The reconciliation of one app with one App Store.
    struct Reconciliation {
        let app: App
        let client: AppStoreServerClient
        /// The origins of the purchases that the App Store at the client's address knows.
        let origins: Set<Origin>
        let reconciler: Reconciler
        let runs = ReconciliationRuns()
    }

    /// The reconciliations of all apps with a key; none without App Store settings.
    private(set) var reconciliations: [Reconciliation] = []
    private(set) var backgroundServices: [any ServiceLifecycle.Service] = []

    /// The signers of promotional offers, by the bundle identifier of the app.
    var offerSigners: [ByteKey: DoorServices.OfferSigner] {
        var signers: [ByteKey: DoorServices.OfferSigner] = [:]
        for reconciliation in reconciliations {
            let key = reconciliation.client.key
            signers[ByteKey(reconciliation.app.bundleIdentifier)] = { product, offer, username, moment in
                try key.sign(offer: offer, of: product, applicationUsername: username, nonce: UUID(), at: moment)
            }
        }
        return signers
    }

    /// - Throws: `ReconciliationError` for a key that cannot be read.
    init(
        service: EntitlementService,
        configuration: ServeConfiguration,
        clock: any WallClock,
        metrics: ServiceMetrics
    ) throws(ReconciliationError) {
        guard let settings = configuration.appStore else { return }
        for app in service.apps.all {
            let own = configuration.appSettings.first { $0.bundleIdentifier == app.bundleIdentifier }
            guard let keySettings = own?.appStoreKey ?? settings.key else { continue }
            let key = try AppStoreServerKey(keySettings, bundleIdentifier: app.bundleIdentifier)
            for (url, origins) in settings.sources(own?.appStoreURL, configuration.origins) {
                // The machine's clock decides the validity of tokens, even if the store's clock was advanced.
                let client = AppStoreServerClient(url: url, key: key)
                let reconciliation = Reconciliation(
                    app: app, client: client, origins: origins,
                    reconciler: Reconciler(service: service, app: app, client: client, origins: origins, clock: clock))
                reconciliations.append(reconciliation)
                backgroundServices.append(
                    reconciliation.reconciler.schedule(
                        notificationSeconds: settings.notificationSeconds, historySeconds: settings.historySeconds,
                        runs: reconciliation.runs, metrics: metrics, logger: configuration.logger))
                guard let answer = settings.consumption else { continue }
                backgroundServices.append(
                    reconciliation.reconciler.consumptionResponder(
                        answering: answer, metrics: metrics, logger: configuration.logger))
            }
        }
    }
}
