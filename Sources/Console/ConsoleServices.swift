import AppStore
import Features
import HTTPSupport
import Hummingbird
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

/// The parts of the running service that the console shows and that no feature owns. The command line supplies them.
package protocol ConsoleSystem: Sendable {
    /// The state of the installation and of the running service.
    var health: any HealthSource { get }

    /// True if webhooks may be in networks that are not public.
    var allowsPrivateWebhooks: Bool { get }

    /// True if the service answers consumption requests.
    var answersConsumptionRequests: Bool { get }

    /// The reconciliations with the App Store: one for each app and address; none without a key.
    func reconciliations() async throws -> [ConsoleReconciliation]

    /// Requests a run of a reconciliation now.
    ///
    /// - Parameter identifier: The identifier of the reconciliation.
    /// - Returns: False if a run is under way or already requested; nil for an unknown identifier.
    func requestReconciliation(_ identifier: String, _ subject: ReconciliationRuns.Subject) -> Bool?
}

/// The answer to a request: a page, the page to show next, or a response such as a picture.
protocol ConsoleAnswer: SendableMetatype {
    func answer(_ context: ConsoleContext) -> Response
}

extension Page: ConsoleAnswer {
    func answer(_ context: ConsoleContext) -> Response { response(context) }
}

extension ConsolePath: ConsoleAnswer {
    func answer(_ context: ConsoleContext) -> Response { .seeOther(self) }
}

extension Response: ConsoleAnswer {
    func answer(_ context: ConsoleContext) -> Response { self }
}

/// A group of pages, with the permission that each one needs.
struct ConsolePages {
    let group: RouterGroup<ConsoleContext>

    /// Adds a page, a picture or a file.
    func get<Answer: ConsoleAnswer>(
        _ path: RouterPath, _ permission: TeamPermission = .view,
        _ answer: @Sendable @escaping (Request, ConsoleContext) async throws -> Answer
    ) {
        permitted(permission).get(path) { request, context in try await answer(request, context).answer(context) }
    }

    /// Adds the receiver of a form.
    func post<Answer: ConsoleAnswer>(
        _ path: RouterPath, _ permission: TeamPermission,
        _ answer: @Sendable @escaping (Request, ConsoleContext) async throws -> Answer
    ) {
        permitted(permission).post(path) { request, context in try await answer(request, context).answer(context) }
    }

    private func permitted(_ permission: TeamPermission) -> RouterGroup<ConsoleContext> {
        group.group().add(middleware: PermissionMiddleware(permission: permission))
    }
}
