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

    var version: String { Till.version }
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
                    identifier: String(number), app: reconciliation.client.app.bundleIdentifier,
                    address: reconciliation.client.client.url.absoluteString,
                    origins: reconciliation.client.origins.sorted { $0.rawValue < $1.rawValue }, states: states))
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
    /// A client of the App Store Server API for one app.
    struct Client {
        let app: App
        let client: AppStoreServerClient
        /// The origins of the purchases that the App Store at the client's address knows.
        let origins: Set<Origin>
    }

    /// The reconciliation of one client.
    struct Reconciliation {
        let client: Client
        let reconciler: Reconciler
        let runs = ReconciliationRuns()
    }

    private let service: EntitlementService
    private let configuration: ServeConfiguration
    private let clock: any WallClock
    private let metrics: ServiceMetrics
    /// The reconciliations of all apps with a key; none without App Store settings.
    let reconciliations: [Reconciliation]

    var clients: [Client] { reconciliations.map(\.client) }

    /// The signers of promotional offers, by the bundle identifier of the app.
    var offerSigners: [ByteKey: DoorServices.OfferSigner] {
        var signers: [ByteKey: DoorServices.OfferSigner] = [:]
        for client in clients {
            signers[ByteKey(client.app.bundleIdentifier)] = { product, offer, username, moment in
                try client.client.key.sign(
                    offer: offer, of: product, applicationUsername: username, nonce: UUID(), at: moment)
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
        self.service = service
        self.configuration = configuration
        self.clock = clock
        self.metrics = metrics
        var clients: [Client] = []
        for app in service.apps.all {
            let own = configuration.appSettings.first { $0.bundleIdentifier == app.bundleIdentifier }
            guard let settings = configuration.appStore, let keySettings = own?.appStoreKey ?? settings.key else {
                continue
            }
            let key = try AppStoreServerKey(keySettings, bundleIdentifier: app.bundleIdentifier)
            for (url, origins) in settings.sources(own?.appStoreURL, configuration.origins) {
                // The machine's clock decides the validity of tokens, even if the store's clock was advanced.
                clients.append(Client(app: app, client: AppStoreServerClient(url: url, key: key), origins: origins))
            }
        }
        reconciliations = clients.map { client in
            Reconciliation(
                client: client,
                reconciler: Reconciler(
                    service: service, app: client.app, client: client.client, origins: client.origins, clock: clock))
        }
    }

    /// The parts of each client.
    var backgroundServices: [any ServiceLifecycle.Service] {
        guard let settings = configuration.appStore else { return [] }
        return reconciliations.flatMap { backgroundServices(of: $0, settings) }
    }

    private func backgroundServices(
        of reconciliation: Reconciliation, _ settings: AppStoreSettings
    ) -> [any ServiceLifecycle.Service] {
        let client = reconciliation.client
        let schedule = ReconciliationSchedule(
            reconciler: reconciliation.reconciler,
            notificationSeconds: settings.notificationSeconds, historySeconds: settings.historySeconds,
            runs: reconciliation.runs, clock: clock, metrics: metrics, logger: configuration.logger)
        guard let answer = settings.consumption else { return [schedule] }
        return [
            schedule,
            ConsumptionResponder(
                service: service, app: client.app, client: client.client, origins: client.origins, answer: answer,
                metrics: metrics, logger: configuration.logger),
        ]
    }
}
