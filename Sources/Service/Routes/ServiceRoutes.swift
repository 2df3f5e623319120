import Entitlements
import Features
import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger
import Logging
import Proofs
import ServiceLifecycle
import Vocabulary

/// The service's routes: they redeem the proofs of users and return their items.
package struct ServiceRoutes: Sendable {
    private let till: Till
    private let stores: StoreClients
    private let settings: RouteSettings
    private let others: [any RouteSource]
    private let idempotentRequests: IdempotentRequests
    private let limits: RateLimitMiddleware?
    private let uncachedChains: ConcurrencyLimit
    private let sharedLimits: SharedLimits
    private let pages: CrossOriginMiddleware
    private let accounts: AccountRoutes?
    private let door: RedemptionDoor
    private let events: EventHub?

    private var service: EntitlementService { till.entitlements }
    private var metrics: ServiceMetrics { settings.metrics }

    /// No chain is cached after a start. Until then a genuine notification waits behind junk for a few milliseconds.
    private static let waitingPerUncachedChain = 256

    /// - Parameters:
    ///   - others: Additional routes beside the service's own, such as the console's and those of a local store.
    package init(
        _ till: Till, stores: StoreClients = StoreClients(), _ settings: RouteSettings, others: [any RouteSource] = []
    ) {
        (self.till, self.stores, self.settings, self.others) = (till, stores, settings, others)
        door = stores.door(of: till.entitlements, counting: settings.metrics)
        let (ledger, clock) = (till.ledger, till.clock)
        pages = CrossOriginMiddleware(
            settings.origins,
            routes: APIOperation.all.filter(\.isForApps).map { ($0.method, $0.path) } + others.flatMap(\.appRoutes))
        limits = settings.limits.map { RateLimitMiddleware(limits: $0, clock: clock) }
        uncachedChains = ConcurrencyLimit(
            settings.maximumUncachedChains,
            maximumWaiting: settings.maximumUncachedChains * Self.waitingPerUncachedChain)
        sharedLimits = SharedLimits(
            proxies: settings.proxies, bodies: settings.bodies, requests: settings.requests, reserve: settings.reserve,
            newcomers: settings.limits.map { NewcomerBudget($0, clock: clock) }, ledger: ledger)
        ledger.observeCommits(settings.metrics.recordCommit)
        idempotentRequests = IdempotentRequests(ledger: ledger, clock: till.entitlements.clock)
        // What these count lasts beyond one router.
        events = settings.listeners.map { EventHub(ledger: ledger, $0) }
        accounts = till.accounts.map {
            AccountRoutes(accounts: $0, attempts: AccountAttempts(clock: clock), passwords: PasswordWork())
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

    /// The tasks beside the routes: the end of live streams, and lines about what the log has suppressed.
    package func backgroundServices(logger: Logger) -> [any Service] {
        [sharedLimits.lines.summaries(in: logger)] + [events].compactMap(\.self)
    }

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
        if let profiles = till.seedApp {
            let app = router.group().add(
                middleware: SeedAppMiddleware(authentication: settings.authentication))
            if let limits { app.add(middleware: limits) }
            SeedAppRoutes(door: door, profiles: profiles).add(to: app)
        }
        // Metrics have no rate limit, and tell that the ledger is away.
        router.group().authenticated(by: settings.authentication, isForMetrics: true).on(.readMetrics) { _, _ in
            await metricsAnswer()
        }
        let version = router.group().authenticated(by: settings.authentication, within: limits)
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
        if let notifications = stores.playNotifications {
            GooglePlayNotificationRoutes(notifications: notifications, metrics: metrics).add(to: open)
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
            isLedgerUp: await isLedgerUp(), certificateEndsAt: settings.certificate?.endsAt,
            queueDepth: BlockingWork.waitingCount + service.ledger.waitingCount,
            listeners: events?.streams.count,
            isStorageAlmostFull: sharedLimits.reserve?.isReached ?? false)
        return Response(
            status: .ok, headers: [.contentType: PrometheusText.contentType],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    /// - Parameter open: The group without authentication, for a check before there is a user.
    private func addAuthenticated(
        to version: RouterGroup<ServiceContext>, open: RouterGroup<ServiceContext>, _ catalogs: CatalogViews
    ) {
        let (profiles, googlePlay) = (till.profiles, stores.googlePlay)
        let subjects = Subjects(
            issuers: settings.authentication.acceptsAnyIssuer
                ? nil : settings.authentication.issuers + [User.customerIssuer],
            idempotentRequests: idempotentRequests)
        let products = ProductRoutes(catalogs: catalogs, profiles: profiles)
        products.add(to: version)
        OfferingRoutes(catalogs: catalogs).add(to: version)
        if let figures = till.figures { FigureRoutes(figures: figures).add(to: version) }
        ExportRoutes(service: service).add(to: version)
        if let administration = till.administration {
            CatalogRoutes(catalog: administration, catalogs: catalogs).add(to: version)
        }
        ComparisonRoutes(service: service).add(to: version)
        ProofRoutes(service: service, googlePlay: googlePlay).add(to: version)
        if let webhooks = till.webhooks { WebhookRoutes(webhooks: webhooks).add(to: version, naming: subjects) }
        UserRoutes(door: door, subjects: subjects).add(to: version)
        ExternalTransactionRoutes(service: service, googlePlay: googlePlay).add(to: version)
        SupportRoutes(
            door: door, subjects: subjects, orders: OrderLookup(service: service, clients: stores.orders)
        ).add(to: version)
        GrantRoutes(service: service, subjects: subjects).add(to: version)
        BalanceRoutes(service: service, subjects: subjects).add(to: version)
        AttributeRoutes(service: service, subjects: subjects, clock: till.clock).add(to: version)
        if let profiles {
            let shown = ProfileRoutes(profiles: profiles, products: products, subjects: subjects)
            shown.addUnauthenticated(to: open)
            shown.add(to: version)
        }
        UserDataRoutes(service: service, subjects: subjects, clock: till.clock, accounts: accounts).add(to: version)
        if let events { EventRoutes(authentication: settings.authentication, hub: events).add(to: version) }
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

extension OpenAPIDocument {
    /// The description of this service, composed on first use.
    package static let composed: Result<OpenAPIDocument, any Error> = Result {
        try OpenAPIDocument(
            title: "Till", "Verifies proofs of in-app purchases and grants the items to users.",
            codes: SharedAnswer.codes(explainedIn: PackageResources.Errors_md), operations: APIOperation.all,
            pathParameters: [
                "user": [
                    .path("user", "The user's name.", .text(length: 1...User.maximumCustomerLength), example: "alice")
                        .shared(as: "user")
                ],
                "product": [
                    .path("product", "The product's identifier.", example: "com.memolease.sesac1.sprout1")
                        .shared(as: "product")
                ],
                "balance": [.path("balance", "The balance's name.", example: "seeds").shared(as: "balance")],
                "grant": [
                    .path("grant", "The grant's identifier.", example: "4c2f8c6e-1f0f-4b0a-9a55-2f1b7e3c9d10")
                ],
                "webhook": [.path("webhook", "The webhook's identifier.").shared(as: "webhook")],
                "message": [.path("message", "The message's identifier (`messageId`).")],
            ],
            webhooks: ["change": .change])
    }
}

extension Parameter {
    static let app = query(
        "app", "The bundle identifier of an app, for a service that sells several.", .text(length: 1...155)
    ).shared(as: "app")
    static let environment = query(
        "environment", "The environment. The sandbox includes Xcode's purchases.",
        .one(of: FigureQuery.Environment.self, default: .production)
    ).shared(as: "environment")
    static let origin = query(
        "origin", "The origin of the transaction, if two origins use the same identifier.", .one(of: Origin.self)
    ).shared(as: "origin")
}

extension APIOperation {
    /// The operations of all routes, also of those that a service leaves out.
    package static let all = [
        service, accounts, attributes, balances, catalogAdministration, comparison, events, exports, figures, grants,
        externalTransactions, googlePlay, products, profiles, seedApp, support, userData, users, webhooks,
    ].flatMap(\.self)

    private static let service = [
        readErrors, readDescription, isLive, isReady, readMetrics, receiveNotification, verifyProof,
    ]

    static let readErrors = APIOperation(
        .get, "/errors", for: .anybody, usesReserve: true,
        "readErrors", "Lists every error code, with its cause and remedy",
        parameters: [.ifNoneMatch],
        answers: [.content("The page.", ["text/markdown": .text()])])

    static let readDescription = APIOperation(
        .get, "/openapi.json", for: .anybody, usesReserve: true,
        "readDescription", "Returns this document",
        parameters: [.ifNoneMatch],
        answers: [.json("OpenAPI 3.1.", .anyObject)])

    static let isLive = APIOperation(
        .get, "/health/live", for: .anybody, usesReserve: true, ignoresUnknownParameters: true,
        "isLive", "Checks that the process runs",
        answers: [.empty("It does.")])

    static let isReady = APIOperation(
        .get, "/health/ready", for: .anybody, usesReserve: true, ignoresUnknownParameters: true,
        "isReady", "Checks that the ledger can be read",
        answers: [.empty("It does.")],
        or: [.failed, .unavailable])

    static let readMetrics = APIOperation(
        .get, "/metrics", for: .backEnd(.metrics), ignoresUnknownParameters: true,
        "readMetrics", "Returns the metrics for Prometheus",
        answers: [.content("The metrics in Prometheus's text format.", ["text/plain": .text()])],
        never: [.notFound, .tooManyRequests])

    static let receiveNotification = APIOperation(
        .post, "/v1/notifications/apple", for: .anybody, usesReserve: true, ignoresUnknownParameters: true,
        "receiveNotification", "Receives App Store Server Notifications V2",
        body: .json(
            .object("A notification.").fields(["signedPayload": .text("The notification as Apple signs it (JWS).")])),
        answers: [.json("The notification is stored and applied.", NotificationReceipt.self)],
        or: [.refused])

    static let verifyProof = APIOperation(
        .post, "/v1/proofs/verify", for: .backEnd(.read), isPerApp: true,
        "verifyProof", "Verifies a proof without redeeming it",
        body: .json([
            "proof": .text(
                "An app receipt in base64, a JWS of Apple's, a receipt of Unity IAP with one of them, or the JSON text of a signed purchase or "
                    + "of a purchase token of Google Play, about which the service asks.")
        ]).described("A proof of purchase."),
        answers: [.json("The proof is valid.", ProofResource.self)],
        or: [.refused, .conflict, .badGateway],
        never: [.notFound])
}

/// The operations that a setting of `till serve` turns on. While it is off, they answer `featureOff`.
package struct OptionalOperations: Sendable {
    /// The option that turns them on, with an example of its value.
    package let option: String
    /// They are on together, so the first one tells it.
    package let operations: [APIOperation]

    private init(_ option: String, _ operations: [APIOperation]) {
        self.option = option
        self.operations = operations
    }

    /// The links of `accounts` need a mailer, too, so they follow.
    package static let all = [
        OptionalOperations("--accounts", APIOperation.accounts),
        OptionalOperations("--mail-server smtps://mail.example.com", APIOperation.mailedLinks),
        OptionalOperations("--catalog-administration", APIOperation.catalogAdministration),
        OptionalOperations("--figures", APIOperation.figures),
        OptionalOperations("--google-notifications-audience URL", APIOperation.googlePlay),
        OptionalOperations("--live-events", APIOperation.events),
        OptionalOperations("--profiles", APIOperation.profiles),
        OptionalOperations("--seed-app", APIOperation.seedApp),
        OptionalOperations("--webhooks", APIOperation.webhooks),
    ]

    /// Adds a refusal for each operation that has no route.
    ///
    /// - Parameters:
    ///   - routes: The method and path of each route.
    ///   - group: The group of an operation: with authentication, or without.
    static func addRefusals(
        besides routes: Set<String>, to group: (_ isAuthenticated: Bool) -> RouterGroup<ServiceContext>
    ) {
        var present = routes
        for feature in all {
            guard let first = feature.operations.first, !present.contains(first.route) else { continue }
            for operation in feature.operations where present.insert(operation.route).inserted {
                group(operation.needsCaller).on(operation) { _, _ -> Response in
                    throw Problem.featureOff(feature.option)
                }
            }
        }
    }
}
