import Catalog
import Commerce
import Entitlements
import Hummingbird

/// The service's routes: a user's proofs go in, the user's items come out.
public struct ServiceRoutes: Sendable {
    private let service: EntitlementService
    private let authentication: Authentication
    private let work = BlockingWork()
    private let idempotentRequests: IdempotentRequests
    private let limiter: RateLimiter?

    /// - Parameter requestsPerMinute: How many each caller may send; nil for any number.
    public init(
        service: EntitlementService,
        authentication: Authentication,
        requestsPerMinute: Int? = nil,
        clock: any WallClock = SystemClock()
    ) {
        limiter = requestsPerMinute.map { RateLimiter(requestsPerMinute: $0, clock: clock) }
        self.service = service
        self.authentication = authentication
        idempotentRequests = IdempotentRequests(service: service, work: work)
    }

    public func router() -> Router<ServiceContext> {
        let router = Router(context: ServiceContext.self)
        router.add(middleware: ProblemMiddleware())
        router.get("health/live") { _, _ in HTTPResponse.Status.noContent }
        router.get("health/ready") { _, _ in
            try await work.run { try service.checkLedger() }
            return HTTPResponse.Status.noContent
        }
        router.get("errors") { _, _ in
            Response(
                status: .ok, headers: [.contentType: "text/markdown; charset=utf-8"],
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: PackageResources.Errors_md)))
        }
        NotificationRoutes(service: service, work: work).add(to: router.group("v1"))
        let version = router.group("v1").add(
            middleware: AuthenticationMiddleware(authentication: authentication, work: work))
        if let limiter { version.add(middleware: RateLimitMiddleware(limiter: limiter)) }
        ProductRoutes(catalog: service.catalog).add(
            to: version.group().add(middleware: ScopeMiddleware(scope: .read)))
        ProofRoutes(service: service, work: work).add(
            to: version.group().add(middleware: ScopeMiddleware(scope: .read)))
        UserRoutes(
            service: service, work: work, idempotentRequests: idempotentRequests
        ).add(to: version.group("users/:user"))
        return router
    }
}
