import AppStore
import Catalog
import Console
import Features
import Foundation
import HTTPSupport
import PlayStore
import Proofs
import Service
import ServiceLifecycle

/// The running service, as the console shows it.
struct ServiceSystem: ConsoleServices {
    let configuration: ServeConfiguration
    let team: TeamService
    let entitlements: EntitlementService
    let keys: APIKeys
    let figures: FigureService?
    let webhooks: WebhookService?
    let administration: CatalogService?
    let profiles: ProfileService?
    let store: Store?
    let play: GooglePlay?
    let metrics: ServiceMetrics
    let clock: any WallClock = SystemClock()
    let randomness = Randomness.system
    let health: any HealthSource
    let appStores: AppStoreServices
    let googlePlay: GooglePlayApps

    var orders: (@Sendable (String) async throws -> [String])? {
        guard !appStores.orderClients.isEmpty else { return nil }
        return { [entitlements, clients = appStores.orderClients] in
            try await entitlements.originalTransactions(ofOrder: $0, asking: clients)
        }
    }

    var voidedPurchases: @Sendable () async throws -> [VoidedPurchases] {
        { [apps = googlePlay] in
            var lists: [VoidedPurchases] = []
            for app in apps {
                let last = try await app.reconciler.lastVoidedPurchases()
                lists.append(VoidedPurchases(package: app.client.packageName, last: last))
            }
            return lists
        }
    }

    var testWebhook: (@Sendable (WebhookEndpoint) async throws -> WebhookDelivery.Outcome)? {
        guard let webhooks else { return nil }
        let allowsPrivate = allowsPrivateWebhooks
        return { try await webhooks.sendTest(to: $0, allowsPrivateAddresses: allowsPrivate) }
    }

    var allowsPrivateWebhooks: Bool { configuration.allowsPrivateWebhooks }

    var answersConsumptionRequests: Bool { configuration.appStore?.consumption != nil }

    var reconciliations: [any ConsoleReconciliation] { appStores.reconciliations }

    func export(_ user: User) async throws -> [UInt8]? {
        try await entitlements.export(of: user, at: clock.now(), namingKeys: true)
    }
}

/// The background parts that ask the App Store for missed purchases and answer its consumption requests.
struct AppStoreServices {
    /// The reconciliation of one app with one App Store.
    struct Reconciliation: ConsoleReconciliation {
        let settings: AppStoreSettings
        let reconciler: Reconciler
        let runs = ReconciliationRuns()

        var bundleIdentifier: String { reconciler.app.bundleIdentifier }
        var address: String { reconciler.client.url.absoluteString }
        var origins: Set<Origin> { reconciler.origins }

        func interval(of subject: ReconciliationRuns.Subject) -> Int64? {
            subject == .notifications ? settings.notificationSeconds : settings.historySeconds
        }

        func checkpoint(of subject: ReconciliationRuns.Subject) async throws -> ReconciliationCheckpoint? {
            try await reconciler.checkpoint(of: subject)
        }
    }

    /// The reconciliations of all apps with a key; none without App Store settings.
    private(set) var reconciliations: [Reconciliation] = []
    private(set) var backgroundServices: [any ServiceLifecycle.Service] = []
    /// The clients of the App Stores with orders. Apple's sandbox has no order numbers.
    var orderClients: [AppStoreServerClient] {
        reconciliations.map(\.reconciler.client).filter { $0.url != Origin.appleSandbox.appStoreServerURL }
    }

    /// The signers of promotional offers, by the bundle identifier of the app.
    var offerSigners: [ByteKey: DoorServices.OfferSigner] {
        var signers: [ByteKey: DoorServices.OfferSigner] = [:]
        for reconciliation in reconciliations {
            let key = reconciliation.reconciler.client.key
            signers[ByteKey(reconciliation.bundleIdentifier)] = { product, offer, username, moment in
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
                let reconciliation = Reconciliation(
                    settings: settings,
                    reconciler: service.reconciler(of: app, asking: key.client(at: url), about: origins))
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
