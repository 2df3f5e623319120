import AppStore
import Features
import HTTPSupport
import Proofs

/// The use cases behind the console's pages. A page whose feature is off is not shown.
package struct ConsoleServices: Sendable {
    let team: TeamService
    let entitlements: EntitlementService
    let keys: APIKeys
    let figures: FigureService?
    let webhooks: WebhookService?
    /// The administered catalog. Nil if only its files define it; products are then shown and not changed.
    let administration: CatalogService?
    let profiles: ProfileService?
    /// The local App Store in this process. Nil for none, as in production.
    let store: Store?
    /// The system of the service: settings, checks, reconciliation.
    let system: any ConsoleSystem
    /// The counters of the service's work since its start.
    let metrics: ServiceMetrics
    let clock: any WallClock
    let randomness: Randomness
    /// Returns all data of a user as JSON, or nil for an unknown user.
    package var export: @Sendable (User) async throws -> [UInt8]? = { _ in nil }
    /// Returns the original transactions of an order. Nil without a client of an App Store that knows orders.
    package var orders: (@Sendable (String) async throws -> [String])?

    package init(
        team: TeamService,
        entitlements: EntitlementService,
        keys: APIKeys,
        figures: FigureService?,
        webhooks: WebhookService?,
        administration: CatalogService?,
        profiles: ProfileService?,
        store: Store?,
        system: any ConsoleSystem,
        metrics: ServiceMetrics = ServiceMetrics(),
        clock: any WallClock,
        randomness: Randomness
    ) {
        self.team = team
        self.entitlements = entitlements
        self.keys = keys
        self.figures = figures
        self.webhooks = webhooks
        self.administration = administration
        self.profiles = profiles
        self.store = store
        self.system = system
        self.metrics = metrics
        self.clock = clock
        self.randomness = randomness
    }

    /// The entries of the navigation that this service has.
    var sections: [ConsoleSection] {
        ConsoleSection.allCases.filter { section in
            switch section {
            case .webhooks: webhooks != nil
            case .localStore: store != nil
            default: true
            }
        }
    }
}
