import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

/// The store's routes: the App Store's (`/inApps`, `/verifyReceipt`), and the sandbox's, which control the customer and Apple
/// (`/sandbox/v1`).
package struct StoreRoutes: RouteSource {
    private let store: Store
    private let sandboxKey: APIKey
    private let clock: any WallClock

    /// - Parameters:
    /// - sandboxKey: The API key of the sandbox's routes.
    /// - clock: The machine's clock, for the dates of developers' tokens.
    package init(store: Store, sandboxKey: APIKey, clock: any WallClock = SystemClock()) {
        self.store = store
        self.sandboxKey = sandboxKey
        self.clock = clock
    }

    /// The routes of a stand-alone store, with its own description, error codes and readiness.
    package func router() -> Router<ServiceContext> {
        let router = Router(context: ServiceContext.self)
        let limits = SharedLimits(addresses: ClientAddresses(proxies: 0), bodies: BodyBudget())
        router.add(middleware: RequestMiddleware(metrics: ServiceMetrics()))
        router.add(middleware: AdmissionMiddleware(sharedLimits: limits))
        router.add(middleware: ProblemMiddleware())
        router.add(middleware: MethodMiddleware(descriptions))
        addAlone(to: router)
        return router
    }

    /// The methods and paths of a stand-alone store, such as `GET /sandbox/v1/time`.
    package var operations: [String] {
        descriptions.map { "\($0.method.rawValue) \($0.path)" }
    }

    private var descriptions: [Router<ServiceContext>.RouteDescription] {
        let router = Router(context: ServiceContext.self)
        addAlone(to: router)
        return router.routes
    }

    /// The description of the sandbox API (OpenAPI 3.1).
    package static var openAPI: [UInt8] { PackageResources.OpenAPI_json }

    /// Adds all routes of a stand-alone store. In a service, the service has its own routes at the other paths.
    private func addAlone(to router: Router<ServiceContext>) {
        add(to: router)
        router.get("openapi.json") { request, _ in Self.description(for: request) }
        router.get("errors") { request, _ in
            CacheableAnswer.response(
                PackageResources.Errors_md, type: "text/markdown; charset=utf-8", for: request)
        }
        router.get("health/live") { _, _ in HTTPResponse.Status.noContent }
        router.get("health/ready") { [store] _, _ in
            _ = try await BlockingWork.run { try store.settings() }
            return HTTPResponse.Status.noContent
        }
    }

    private static func description(for request: Request) -> Response {
        CacheableAnswer.response(openAPI, type: "application/json", for: request)
    }

    package func add(to router: Router<ServiceContext>) {
        let server = router.group("inApps")
            .add(middleware: ServerAPIErrorMiddleware())
            .add(middleware: TeamTokens(store: store, clock: clock))
            .add(middleware: ServerAPIRateLimit(store: store, clock: clock))
        ServerAPIRoutes(api: AppStoreServerAPI(store: store)).add(to: server)
        VerifyReceiptRoutes(store: store).add(to: router)
        // Without the key, and at a path that the service does not use.
        router.get("sandbox/v1/openapi.json") { request, _ in Self.description(for: request) }
        let sandbox = router.group("sandbox/v1").add(middleware: SandboxKeyMiddleware(key: sandboxKey))
        SandboxRoutes(store: store).add(to: sandbox)
    }
}

/// Authenticates requests with the sandbox's API key.
private struct SandboxKeyMiddleware: RouterMiddleware {
    let key: APIKey

    func handle(
        _ request: Request,
        context: ServiceContext,
        next: (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        guard let credential = AuthenticationMiddleware.credential(of: request), key.matches(credential) else {
            throw Problem(
                status: .unauthorized, code: "unauthenticated",
                detail: "Send the sandbox key as Authorization: Bearer KEY. The store prints it at its start.")
        }
        return try await next(request, context)
    }
}
