import AppStoreClient
import Catalog
import Commerce
import Entitlements
import HTTPSupport
import Service
import ServiceLifecycle

/// The parts beside the service that ask the App Store what was missed, and answer its questions.
struct AppStoreCompanions {
    let service: EntitlementService
    let configuration: ServeConfiguration
    let clock: any WallClock
    let metrics: ServiceMetrics

    /// The parts of all apps with a key; none without App Store settings.
    ///
    /// - Throws: `ReconciliationError` for a key that cannot be read.
    func all() throws -> [any ServiceLifecycle.Service] {
        guard let settings = configuration.appStore else { return [] }
        var companions: [any ServiceLifecycle.Service] = []
        for app in service.apps.all {
            let own = configuration.appSettings.first { $0.bundleIdentifier == app.bundleIdentifier }
            guard let keySettings = own?.appStoreKey ?? settings.key else { continue }
            let key = try AppStoreServerKey(keySettings, bundleIdentifier: app.bundleIdentifier)
            for (url, origins) in settings.sources(own?.appStoreURL, configuration.origins) {
                // Tokens are judged by the machine's clock, however far a store's own was moved.
                let client = AppStoreServerClient(url: url, key: key)
                companions += self.companions(of: app, client, origins, settings)
            }
        }
        return companions
    }

    private func companions(
        of app: App,
        _ client: AppStoreServerClient,
        _ origins: Set<Origin>,
        _ settings: AppStoreSettings
    ) -> [any ServiceLifecycle.Service] {
        let schedule = ReconciliationSchedule(
            reconciler: Reconciler(service: service, app: app, client: client, origins: origins, clock: clock),
            notificationSeconds: settings.notificationSeconds, historySeconds: settings.historySeconds,
            clock: clock, metrics: metrics, logger: configuration.logger)
        guard let answer = settings.consumption else { return [schedule] }
        return [
            schedule,
            ConsumptionResponder(
                service: service, app: app, client: client, origins: origins, answer: answer, metrics: metrics,
                logger: configuration.logger),
        ]
    }
}
