import Catalog
import Entitlements
import Features
import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger
import Logging
import Proofs

/// The service's routes: they redeem the proofs of users and return their items.
package struct ServiceRoutes: Sendable {
    private let service: EntitlementService
    private let authentication: Authentication
    private let idempotentRequests: IdempotentRequests
    private let limits: RateLimitMiddleware?
    private let metrics: ServiceMetrics
    private let uncachedChains: ConcurrencyLimit
    private let sharedLimits: SharedLimits
    private let others: [any RouteSource]
    private let pages: CrossOriginMiddleware
    private let accounts: AccountRoutes?
    private let profiles: ProfileService?
    private let seedApp: SeedAppRoutes?
    private let events: EventRoutes?
    private let webhooks: WebhookRoutes?
    private let figures: FigureRoutes?
    private let orders: OrderLookup
    private let door: RedemptionDoor
    private let googlePlay: GooglePlayApps
    private let administration: CatalogService?
    private let playNotifications: GooglePlayNotifications?
    private let clock: any WallClock
    private let certificate: ServerCertificate?

    /// No chain is cached after a start. Until then a genuine notification waits behind junk for a few milliseconds.
    private static let waitingPerUncachedChain = 256

    /// - Parameters:
    ///   - door: The door to the purchases of `service`; by default one that asks Google Play.
    ///   - limits: The rate limits of callers, and the budget of users without a purchase, also at the doors; nil for none.
    ///   - metrics: The metrics that the routes update. `service` reports its steps to the same object.
    ///   - maximumUncachedChains: The limit on notifications with an uncached chain that are verified at once.
    ///   - bodies: The limit on the bytes of request bodies in memory.
    ///   - accounts: The service's own accounts; nil if the team has its own.
    ///   - mailLanguages: The languages of mails about accounts; nil if no mail is sent.
    ///   - profiles: The profiles of users; nil if the team has its own.
    ///   - seedApp: The profiles behind the routes of the seed's own app; nil to leave these routes out.
    ///   - events: The live event streams; nil to leave them out.
    ///   - administration: The administered catalog of `service`; nil if only its files define it.
    ///   - webhooks: The webhook service; nil if webhooks are off.
    ///   - figures: The sales figures; nil if the ledger keeps no sums.
    ///   - orderClients: The clients of the App Stores that know the order numbers on receipts.
    ///   - googlePlay: The apps on Google Play about whose purchases the service asks.
    ///   - playNotifications: The notifications of Google Play; nil to receive none.
    ///   - allowsPrivateAddresses: True if webhooks may have addresses in private networks.
    ///   - proxies: The number of trusted proxies before the service.
    ///   - requests: The limits on concurrent requests of one client network; nil for none.
    ///   - reserve: The reserve of free space on the ledger's disk; nil for none.
    ///   - certificate: The TLS certificate, whose end the metrics have; nil without TLS.
    ///   - origins: The origins of pages that may call the routes for apps.
    ///   - others: Additional routes beside the service's own, such as the console's and those of a local store.
    package init(
        service: EntitlementService,
        door: RedemptionDoor? = nil,
        authentication: Authentication,
        limits: RequestLimits? = nil,
        metrics: ServiceMetrics = ServiceMetrics(),
        maximumUncachedChains: Int = 2,
        bodies: BodyBudget = BodyBudget(),
        accounts: AccountService? = nil,
        mailLanguages: [String]? = nil,
        profiles: ProfileService? = nil,
        seedApp: ProfileService? = nil,
        events: EventHub? = nil,
        administration: CatalogService? = nil,
        webhooks: WebhookService? = nil,
        figures: FigureService? = nil,
        orderClients: [AppStoreServerClient] = [],
        googlePlay: GooglePlayApps = [],
        playNotifications: GooglePlayNotifications? = nil,
        allowsPrivateAddresses: Bool = false,
        proxies: Int = 0,
        requests: NetworkCounts? = nil,
        reserve: StorageReserve? = nil,
        certificate: ServerCertificate? = nil,
        origins: [WebOrigin] = [],
        others: [any RouteSource] = [],
        clock: any WallClock = SystemClock()
    ) {
        self.others = others
        pages = CrossOriginMiddleware(
            origins,
            routes: APIOperation.all.filter(\.isForApps).map { ($0.method, $0.path) } + others.flatMap(\.appRoutes))
        self.limits = limits.map { RateLimitMiddleware(limits: $0, clock: clock) }
        self.metrics = metrics
        uncachedChains = ConcurrencyLimit(
            maximumUncachedChains, maximumWaiting: maximumUncachedChains * Self.waitingPerUncachedChain)
        sharedLimits = SharedLimits(
            proxies: proxies, bodies: bodies, requests: requests, reserve: reserve,
            newcomers: limits.map { NewcomerBudget($0, clock: clock) }, ledger: service.ledger)
        self.service = service
        self.authentication = authentication
        service.ledger.observeCommits(metrics.recordCommit)
        idempotentRequests = IdempotentRequests(ledger: service.ledger, clock: service.clock)
        self.administration = administration
        self.playNotifications = playNotifications
        (self.clock, self.certificate) = (clock, certificate)
        self.profiles = profiles
        self.events = events.map { EventRoutes(authentication: authentication, hub: $0) }
        self.webhooks = webhooks.map {
            WebhookRoutes(webhooks: $0, allowsPrivateAddresses: allowsPrivateAddresses)
        }
        self.figures = figures.map { FigureRoutes(figures: $0) }
        orders = OrderLookup(service: service, clients: orderClients)
        self.googlePlay = googlePlay
        let door = door ?? RedemptionDoor(service, asking: googlePlay, counting: metrics)
        self.door = door
        self.seedApp = seedApp.map { SeedAppRoutes(door: door, profiles: $0) }
        self.accounts = accounts.map {
            AccountRoutes(
                accounts: $0, attempts: AccountAttempts(clock: clock), passwords: PasswordWork(),
                mailLanguages: mailLanguages)
        }
    }

    private static let errors = CacheableAnswer(PackageResources.Errors_md, type: "text/markdown; charset=utf-8")
    private static let description = OpenAPIDocument.composed.map {
        CacheableAnswer($0.bytes, type: "application/json")
    }

    package func router() -> Router<ServiceContext> {
        let router = Router(context: ServiceContext.self, options: .autoGenerateHeadEndpoints)
        router.addMiddleware(counting: metrics, sharedLimits, around: others, for: pages, routes: descriptions)
        addRoutes(to: router)
        return router
    }

    /// The task that says which lines of strangers the log has suppressed.
    package func logSummaries(in logger: Logger) -> Companion { sharedLimits.lines.summaries(in: logger) }

    /// The method and path of each route, such as `GET /v1/products/{product}`.
    package var operations: [String] {
        descriptions.map(\.description)
    }

    private var descriptions: [Router<ServiceContext>.RouteDescription] {
        let router = Router(context: ServiceContext.self)
        addRoutes(to: router)
        return router.routes
    }

    private func addRoutes(to router: Router<ServiceContext>) {
        let (open, catalogs) = (router.group(), CatalogViews(service.apps))
        addOpenRoutes(to: open)
        PictureRoutes(catalogs: catalogs).add(to: open)
        accounts?.addUnauthenticated(to: open)
        if let seedApp {
            let app = router.group().add(
                middleware: SeedAppMiddleware(authentication: authentication))
            if let limits { app.add(middleware: limits) }
            seedApp.add(to: app)
        }
        // Metrics have no rate limit, and tell that the ledger is away.
        router.group().authenticated(by: authentication, isForMetrics: true).on(.readMetrics) { _, _ in
            await metricsAnswer()
        }
        let version = router.group().authenticated(by: authentication, within: limits)
        addAuthenticated(to: version, open: open, catalogs)
        OptionalOperations.addRefusals(besides: Set(router.routes.map(\.description))) { $0 ? version : open }
        for other in others { other.add(to: router) }
    }

    /// Adds the routes that describe the service, and those to which stores send notifications.
    private func addOpenRoutes(to open: RouterGroup<ServiceContext>) {
        open.on(.isLive) { _, _ in HTTPResponse.Status.noContent }
        open.on(.isReady) { _, _ in
            try await service.ledger.ping()
            return HTTPResponse.Status.noContent
        }
        open.on(.readErrors) { request, _ in
            Self.errors.response(to: request)
        }
        open.on(.readDescription) { request, _ in
            try Self.description.get().response(to: request)
        }
        NotificationRoutes(
            service: service, metrics: metrics, uncachedChains: uncachedChains
        ).add(to: open)
        if let playNotifications {
            GooglePlayNotificationRoutes(notifications: playNotifications, metrics: metrics).add(to: open)
        }
    }

    /// The longest wait for the ledger in an answer with metrics. Prometheus waits ten seconds by default.
    private static let metricsPatience = Duration.seconds(1)

    private func isLedgerUp() async -> Bool {
        do {
            return try await BlockingWork.run(waitingUpTo: Self.metricsPatience) { [ledger = service.ledger] in
                try await ledger.ping()
            } != nil
        } catch {
            // The alert about the metric says what to do.
            return false
        }
    }

    private func metricsAnswer() async -> Response {
        let text = metrics.text(
            isLedgerUp: await isLedgerUp(), certificateEndsAt: certificate?.endsAt,
            queueDepth: BlockingWork.waitingCount + service.ledger.waitingCount,
            listeners: events?.hub.streams.count,
            isStorageAlmostFull: sharedLimits.reserve?.isReached ?? false)
        return Response(
            status: .ok, headers: [.contentType: PrometheusText.contentType],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    /// - Parameter open: The group without authentication, for a check before there is a user.
    private func addAuthenticated(
        to version: RouterGroup<ServiceContext>, open: RouterGroup<ServiceContext>, _ catalogs: CatalogViews
    ) {
        let products = ProductRoutes(catalogs: catalogs, profiles: profiles)
        products.add(to: version)
        OfferingRoutes(catalogs: catalogs).add(to: version)
        figures?.add(to: version)
        ExportRoutes(service: service).add(to: version)
        if let administration {
            CatalogRoutes(catalog: administration, catalogs: catalogs).add(to: version)
        }
        ComparisonRoutes(service: service).add(to: version)
        ProofRoutes(service: service, googlePlay: googlePlay).add(to: version)
        let subjects = Subjects(
            issuers: authentication.acceptsAnyIssuer ? nil : authentication.issuers + [User.customerIssuer])
        webhooks?.add(to: version, naming: subjects)
        UserRoutes(door: door, idempotentRequests: idempotentRequests, subjects: subjects).add(to: version)
        ExternalTransactionRoutes(service: service, googlePlay: googlePlay).add(to: version)
        SupportRoutes(door: door, subjects: subjects, orders: orders).add(to: version)
        GrantRoutes(service: service, idempotentRequests: idempotentRequests, subjects: subjects).add(to: version)
        BalanceRoutes(service: service, idempotentRequests: idempotentRequests, subjects: subjects).add(to: version)
        AttributeRoutes(service: service, subjects: subjects, clock: clock).add(to: version)
        if let profiles {
            let shown = ProfileRoutes(profiles: profiles, products: products, subjects: subjects)
            shown.addUnauthenticated(to: open)
            shown.add(to: version)
        }
        UserDataRoutes(service: service, subjects: subjects, clock: clock, accounts: accounts).add(to: version)
        events?.add(to: version)
        accounts?.addForApps(to: version)
    }
}

/// The route to which the App Store sends its notifications (App Store Server Notifications V2).
///
/// The App Store presents no key. The route trusts only the signature.
struct NotificationRoutes: Sendable {
    let service: EntitlementService
    let metrics: ServiceMetrics
    /// The concurrency limit for proofs with an uncached chain. Verifying a chain is expensive, and anyone may send one.
    let uncachedChains: ConcurrencyLimit

    /// The largest notification read, in bytes: Apple's have about 20 KB.
    private static let maximumSize = 128 * 1024

    func add(to group: RouterGroup<ServiceContext>) {
        group.on(.receiveNotification) { request, context in
            try await NotificationReceipt.answer(context, counting: metrics) {
                let body = try await RequestBytes.collect(request, context, upTo: Self.maximumSize)
                let notification = try await verified(body, from: context.clientNetwork(of: request))
                return (try await service.receive(notification, sentAs: body), nil, nil)
            }
        }
    }

    /// Verifies a notification. One with a cached chain bypasses the limit.
    private func verified(
        _ bytes: [UInt8], from network: ClientNetwork
    ) async throws -> EntitlementService.VerifiedNotification {
        // Parsing happens here, so that junk does not occupy a thread before a genuine notification.
        let payload = try JSONBody(bytes: bytes).proof("signedPayload")
        let verify: @Sendable () throws -> EntitlementService.VerifiedNotification = { [service] in
            try service.notification(in: payload)
        }
        guard !service.hasCachedChain(payload) else { return try await BlockingWork.process(payload.count, verify) }
        return try await uncachedChains.run(for: network) { try await BlockingWork.process(payload.count, verify) }
    }
}

/// The service's answer to a notification of a store.
struct NotificationReceipt: AnswerObject {
    /// A received notification: its outcome, its type, and the code of an error that no repetition changes; nil for what is not logged.
    typealias Received = (outcome: NotificationOutcome, type: String?, code: String?)

    static let answerFields = AnswerFields<Self>("The receipt of a notification.") {
        $0.field("outcome", "The outcome.", \.outcome)
    }

    let outcome: NotificationOutcome

    /// Receives a notification, counts and logs its outcome, and answers with it.
    static func answer(
        _ context: ServiceContext, counting metrics: ServiceMetrics, _ receive: () async throws -> Received
    ) async throws -> Response {
        do {
            let (outcome, type, code) = try await receive()
            metrics.count(.notifications, outcome.rawValue, code: code ?? "")
            var metadata: Logger.Metadata = ["outcome": "\(outcome.rawValue)"]
            if let type { metadata["type"] = "\(type)" }
            // Anyone can send a known notification again.
            context.logger.log(level: outcome == .duplicate ? .debug : .info, "notification", metadata: metadata)
            return try NotificationReceipt(outcome: outcome).answer()
        } catch {
            metrics.count(.notifications, "refused", code: Problem.code(of: error))
            throw error
        }
    }
}

extension NotificationOutcome: AnswerValue {}
