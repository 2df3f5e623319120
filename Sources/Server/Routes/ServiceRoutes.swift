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
    private let limits: RateLimitMiddleware?
    private let metrics: ServiceMetrics
    private let notificationLimit: ConcurrencyLimit

    /// - Parameters:
    ///   - limits: How many requests each caller may send; nil for any number.
    ///   - metrics: What is counted there; `service` tells it of its steps.
    ///   - notificationsAtOnce: How many notifications are looked at together.
    public init(
        service: EntitlementService,
        authentication: Authentication,
        limits: RequestLimits? = nil,
        metrics: ServiceMetrics = ServiceMetrics(),
        notificationsAtOnce: Int = 8,
        clock: any WallClock = SystemClock()
    ) {
        self.limits = limits.map { RateLimitMiddleware(limits: $0, clock: clock) }
        self.metrics = metrics
        notificationLimit = ConcurrencyLimit(notificationsAtOnce)
        self.service = service
        self.authentication = authentication
        idempotentRequests = IdempotentRequests(service: service, work: work)
    }

    public func router() -> Router<ServiceContext> {
        let router = Router(context: ServiceContext.self)
        router.add(middleware: RequestMiddleware(metrics: metrics))
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
        NotificationRoutes(
            service: service, work: work, metrics: metrics, limit: notificationLimit
        ).add(to: router.group("v1"))
        let recognised = AuthenticationMiddleware(authentication: authentication, work: work)
        router.group("metrics").add(middleware: recognised).for(.backEnd(.metrics)).get { _, _ in
            Response(
                status: .ok, headers: [.contentType: PrometheusText.contentType],
                body: ResponseBody(
                    byteBuffer: ByteBuffer(string: metrics.text(queueDepth: work.queueDepth))))
        }
        let version = router.group("v1").add(middleware: recognised)
        if let limits { version.add(middleware: limits) }
        ProductRoutes(catalog: service.catalog).add(to: version.for(.backEndOrApp(.read)))
        ProofRoutes(service: service, work: work).add(to: version.for(.backEnd(.read)))
        let subjects = Subjects(issuer: authentication.issuer)
        let users = UserRoutes(
            service: service, work: work, idempotentRequests: idempotentRequests, subjects: subjects,
            metrics: metrics)
        let user = version.group("users/:user")
        users.addForBackEnds(to: user)
        GrantRoutes(
            service: service, work: work, idempotentRequests: idempotentRequests, subjects: subjects
        ).add(to: user)
        users.addForApps(to: version.group("me"))
        return router
    }
}
