import Console
import Entitlements
import Foundation
import HTTPSupport
import Proofs
import Service
import ServiceLifecycle

/// The settings by which `till serve` asks the App Store for missed purchases and answers its questions.
struct AppStoreSettings {
    /// The key of all apps without their own; nil if each app has its own.
    let key: AppStoreKeySettings?
    /// The address of the App Store Server API; nil for Apple's own.
    let url: URL?
    /// The interval between requests for missed notifications; nil for never.
    let notificationSeconds: Int64?
    /// The interval between requests for histories; nil for never.
    let historySeconds: Int64?
    /// The answer to consumption requests; nil if the service does not answer them.
    let consumption: ConsumptionAnswer?
    /// The effect of a parent's withdrawal of consent.
    let consent: ConsentPolicy

    /// - Returns: Nil if no key is set.
    /// - Throws: `ConfigurationError`.
    init?(_ settings: ServeSettings, origins: Set<Origin>) throws {
        let apps = settings.apps
        let names = ["app-store-key", "app-store-key-id", "app-store-issuer-id"]
        let values = names.compactMap(settings.text)
        if values.isEmpty, apps.allSatisfy({ $0.appStoreKey == nil }) {
            try settings.refuse(SettingGroup.appStore.settings.map(\.name), without: "app-store-key")
            return nil
        }
        guard values.isEmpty || values.count == names.count else {
            let missing = names.first { settings.text($0) == nil } ?? names[0]
            throw settings.failure(
                missing, "set, because app-store-key, app-store-key-id and app-store-issuer-id belong together")
        }
        key = AppStoreKeySettings(values)
        url = try settings.address("app-store-url")
        try settings.require(
            url != nil || origins.contains { $0.appStoreServerURL != nil }
                || !apps.isEmpty && apps.allSatisfy { $0.appStoreURL != nil },
            "app-store-url", "set: Apple answers for apple/Production and apple/Sandbox alone")
        func interval(_ name: String) -> Int64? {
            let seconds = settings.number(name)
            return seconds == 0 ? nil : Int64(seconds)
        }
        notificationSeconds = interval("reconcile-seconds")
        historySeconds = interval("reconcile-customers-seconds")
        consumption = try Self.consumption(settings)
        consent = settings.text("rescinded-consent").flatMap(ConsentPolicy.init(rawValue:)) ?? .keep
        try settings.requireFile("app-store-key")
    }

    private static func consumption(_ settings: ServeSettings) throws(ConfigurationError) -> ConsumptionAnswer? {
        guard let text = settings.text("refund-preference") else {
            try settings.refuse(["sample-content-provided"], without: "refund-preference")
            return nil
        }
        return (RefundPreference(rawValue: text), settings.flag("sample-content-provided"))
    }

    /// The addresses of the App Store Server API for an app, each with the origins of its purchases.
    ///
    /// - Parameter own: The address for the app alone; nil for that of the service.
    func sources(_ own: URL?, _ origins: Set<Origin>) -> [(url: URL, origins: Set<Origin>)] {
        if let url = own ?? url { return [(url, origins.filter { $0.store == .appStore })] }
        return origins.sorted { $0.rawValue < $1.rawValue }.compactMap { origin in
            origin.appStoreServerURL.map { ($0, [origin]) }
        }
    }
}

/// The background parts that ask the App Store for missed purchases, answer its consumption requests, and report external purchases.
struct AppStoreServices {
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
    /// The origins whose questions about refunds the service answers.
    var answeredOrigins: Set<Origin> {
        Set(reconciliations.filter { $0.settings.consumption != nil }.flatMap(\.origins))
    }
    /// The clients of the App Stores with orders. Apple's sandbox has no order numbers.
    var orderClients: [AppStoreServerClient] {
        reconciliations.map(\.reconciler.client).filter { $0.url != Origin.appleSandbox.appStoreServerURL }
    }

    /// The App Stores that the team can ask for actions.
    var actions: [any StoreActionPerformer] { reconciliations.map { AppStoreActions(by: $0.reconciler) } }

    /// The signers of promotional offers, by the bundle identifier of the app.
    var offerSigners: [ByteKey: StoreClients.OfferSigner] {
        var signers: [ByteKey: StoreClients.OfferSigner] = [:]
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
                backgroundServices.append(
                    reconciliation.reconciler.externalPurchaseReporter(metrics: metrics, logger: configuration.logger))
                backgroundServices.append(
                    reconciliation.reconciler.consentResponder(by: settings.consent, logger: configuration.logger))
                guard let answer = settings.consumption else { continue }
                backgroundServices.append(
                    reconciliation.reconciler.consumptionResponder(
                        answering: answer, metrics: metrics, logger: configuration.logger))
            }
        }
    }
}

extension AppStoreServerKey {
    init(_ settings: AppStoreKeySettings, bundleIdentifier: String) throws(ReconciliationError) {
        let bytes = NamedFile.bytes(of: URL(filePath: settings.file))
        guard let privateKey = bytes.flatMap({ String(validating: $0, as: UTF8.self) }) else {
            throw .keyInvalid
        }
        try self.init(
            privateKey: privateKey, keyIdentifier: settings.keyIdentifier,
            issuerIdentifier: settings.issuerIdentifier, bundleIdentifier: bundleIdentifier)
    }
}
