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
    /// The groups of operations, with those that a setting turns on, in the order of a reader of the OpenAPI document.
    static let groups: [any OperationGroup.Type] = [
        UserRoutes.self, ProofRoutes.self, ProductRoutes.self, OfferingRoutes.self, PictureRoutes.self,
        BalanceRoutes.self, GrantRoutes.self, AttributeRoutes.self, ProfileRoutes.self, AccountRoutes.self,
        EventRoutes.self, UserDataRoutes.self, SupportRoutes.self, StoreActionRoutes.self, KeyRoutes.self,
        CatalogRoutes.self, ComparisonRoutes.self, FigureRoutes.self, ExportRoutes.self, WebhookRoutes.self,
        ExternalTransactionRoutes.self, ExternalPurchaseRoutes.self, AdvancedCommerceRoutes.self,
        NotificationRoutes.self, RetentionRoutes.self, GooglePlayNotificationRoutes.self, SeedAppRoutes.self,
    ]

    private let parts: ServiceParts
    private let others: [any RouteSource]
    private let sharedLimits: SharedLimits
    private let pages: CrossOriginMiddleware

    private var ledger: Ledger { parts.till.ledger }
    private var settings: RouteSettings { parts.settings }
    private var metrics: ServiceMetrics { settings.metrics }

    /// - Parameters:
    ///   - others: Additional routes beside the service's own, such as the console's and those of a local store.
    package init(
        _ till: Till, stores: StoreClients = StoreClients(), _ settings: RouteSettings, others: [any RouteSource] = []
    ) {
        self.others = others
        parts = ServiceParts(till, stores, settings)
        pages = CrossOriginMiddleware(
            settings.origins,
            routes: APIOperation.all.filter(\.isForApps).map { ($0.method, $0.path) } + others.flatMap(\.appRoutes))
        sharedLimits = SharedLimits(
            proxies: settings.proxies, bodies: settings.bodies, requests: settings.requests, reserve: settings.reserve,
            newcomers: settings.limits.map { NewcomerBudget($0, clock: till.clock) }, ledger: till.ledger)
        till.ledger.observeCommits(settings.metrics.recordCommit)
    }

    /// The page of errors: `Errors.md`, and the errors of groups whose sentences say all.
    package static let errorPage: [UInt8] = groups.flatMap { $0.errors }.reduce(PackageResources.Errors_md) {
        page, error in
        let (status, later) = (Problem(error.rule).status, error.rule.mayRetry ? "yes" : "no")
        return page
            + Array("\n### \(error.code)\nStatus \(status). May succeed later: \(later).\n\(error.message)\n".utf8)
    }

    private static let errors = CacheableAnswer(errorPage, type: "text/markdown; charset=utf-8")
    private static let description = CacheableAnswer.description(OpenAPIDocument.composed)
    private static let descriptionWithSeedApp = CacheableAnswer.description(OpenAPIDocument.composedWithSeedApp)

    package func router() -> Router<ServiceContext> {
        let router = Router(context: ServiceContext.self, options: .autoGenerateHeadEndpoints)
        router.addMiddleware(counting: metrics, sharedLimits, around: others, for: pages, routes: descriptions)
        addRoutes(to: router)
        return router
    }

    /// The tasks beside the routes: the end of live streams, and lines about what the log has suppressed.
    package func backgroundServices(logger: Logger) -> [any Service] {
        [sharedLimits.lines.summaries(in: logger)] + [parts.events].compactMap(\.self)
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
        let open = router.group()
        addDescriptions(to: open)
        // Metrics have no rate limit, and tell that the ledger is away.
        router.group().authenticated(by: settings.authentication, isForMetrics: true).on(.readMetrics) { _, _ in
            await metricsAnswer()
        }
        let version = router.group().authenticated(by: settings.authentication, within: parts.limits)
        if let replicas = ledger.replicas {
            version.add(middleware: PositionMiddleware(replicas: replicas, clock: parts.till.clock))
        }
        for group in Self.groups.compactMap({ $0.init(parts: parts) }) {
            group.addUnauthenticated(to: open)
            group.add(to: version)
        }
        OptionalOperations.addRefusals(besides: Set(router.routes.map(\.description))) { $0 ? version : open }
        for other in others { other.add(to: router) }
    }

    /// Adds the routes that describe the service.
    private func addDescriptions(to open: RouterGroup<ServiceContext>) {
        open.on(.isLive) { _, _ in HTTPResponse.Status.noContent }
        open.on(.isReady) { _, _ in
            try await ledger.ping()
            return HTTPResponse.Status.noContent
        }
        open.on(.readErrors) { request, _ in
            Self.errors.response(to: request)
        }
        open.on(.readDescription) { request, _ in
            try (parts.till.seedApp == nil ? Self.description : Self.descriptionWithSeedApp).get().response(to: request)
        }
    }

    /// The longest wait for the ledger in an answer with metrics. Prometheus waits ten seconds by default.
    private static let metricsPatience = Duration.seconds(1)

    /// True if the ledger answers. The alert about the metric says what to do otherwise.
    private func isLedgerUp() async -> Bool {
        do {
            return try await BlockingWork.run(waitingUpTo: Self.metricsPatience) { [ledger] in
                try await ledger.ping()
                return true
            } ?? false
        } catch { return false }
    }

    /// The duties to stores; nil if the ledger has not told them in time. A ledger that is slow about them is up.
    private func duties() async -> [ServiceMetrics.Duty]? {
        let duties = parts.stores.duties
        if duties.isEmpty { return [] }
        do {
            return try await BlockingWork.run(waitingUpTo: Self.metricsPatience) { [parts] in
                try await parts.till.entitlements.openDuties(duties).metrics(of: duties)
            }
        } catch {
            parts.stores.logger.error("duties to stores not read", metadata: ["error": "\(error)"])
            return nil
        }
    }

    private func metricsAnswer() async -> Response {
        let isUp = await isLedgerUp()
        let duties = isUp ? await duties() : nil
        let text = metrics.text(
            isLedgerUp: isUp, certificateEndsAt: settings.certificate?.endsAt,
            queueDepth: BlockingWork.waitingCount + ledger.waitingCount,
            listeners: parts.events?.streams.count,
            isStorageAlmostFull: sharedLimits.reserve?.isReached ?? false, duties: duties ?? [],
            replicas: ledger.replicas?.state)
        return Response(
            status: .ok, headers: [.contentType: PrometheusText.contentType],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}

extension OpenDuties {
    /// The numbers of each kind that the service has taken on, in the order of their names.
    fileprivate func metrics(of duties: StoreDuties) -> [ServiceMetrics.Duty] {
        duties.keys.sorted { $0.rawValue < $1.rawValue }.map { kind in
            let own = counts[kind] ?? Counts()
            return (
                kind.rawValue, own.due, own.newlyMissed,
                own.next.map { $0.secondsSince1970 - moment.secondsSince1970 }
            )
        }
    }
}

/// The route to which the App Store sends its notifications (App Store Server Notifications V2).
///
/// The App Store presents no key. The route trusts only the signature.
struct NotificationRoutes: OperationGroup {
    static let tag = OperationTag(
        "Notifications of the App Store", "The address to which the App Store sends notifications.",
        [.receiveNotification])
    let parts: ServiceParts

    /// The largest notification read, in bytes: Apple's have about 20 KB.
    private static let maximumSize = 128 * 1024

    func addUnauthenticated(to group: RouterGroup<ServiceContext>) {
        group.on(.receiveNotification) { request, context in
            try await NotificationReceipt.answer(context, counting: settings.metrics) {
                let body = try await RequestBytes.collect(request, context, upTo: Self.maximumSize)
                let notification = try await verified(body, from: context.clientNetwork(of: request)) { [service] in
                    try service.notification(in: $0)
                }
                return (try await service.receive(notification, sentAs: body), nil, nil)
            }
        }
    }
}

extension OperationGroup {
    /// Verifies the payload that the App Store has signed. One with a cached chain bypasses the limit.
    func verified<Value: Sendable>(
        _ bytes: [UInt8], from network: ClientNetwork, by verify: @escaping @Sendable ([UInt8]) throws -> Value
    ) async throws -> Value {
        // Parsing happens here, so that junk does not occupy a thread before a genuine payload.
        let payload = try JSONBody(bytes: bytes).proof("signedPayload")
        guard !service.hasCachedChain(payload) else {
            return try await BlockingWork.process(payload.count) { try verify(payload) }
        }
        return try await parts.uncachedChains.run(for: network) {
            try await BlockingWork.process(payload.count) { try verify(payload) }
        }
    }
}

struct NotificationReceipt: AnswerObject {
    /// A received notification: its outcome, its type, and the code of an error that no repetition changes; nil for what is not logged.
    typealias Received = (outcome: NotificationOutcome, type: String?, code: String?)

    static let answerFields = AnswerFields<Self>("The receipt of a notification.", named: "NotificationReceipt") {
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
    private static let tags = ServiceRoutes.groups.map { $0.tag } + [APIOperation.description]
    private static let tagsWithoutSeedApp = tags.filter { $0.name != SeedAppRoutes.tag.name }

    /// The description of a service, composed on first use.
    package static let composed = describing(tagsWithoutSeedApp)
    /// The description of a service with the routes of the seed's app.
    package static let composedWithSeedApp = describing(tags)

    /// The text of `Documentation/openapi.json`: the description of a service on this machine.
    package static var page: String {
        get throws { try describing(tagsWithoutSeedApp, at: "http://127.0.0.1:8080").get().json.prettyText }
    }

    private static func describing(
        _ tags: [OperationTag], at server: String = "/"
    ) -> Result<OpenAPIDocument, Defect> {
        Result { () throws(Defect) in
            try OpenAPIDocument(
                title: "Till", "Verifies proofs of in-app purchases and grants the items to users.", server: server,
                codes: SharedAnswer.codes(explainedIn: ServiceRoutes.errorPage), tags: tags,
                optional: Set(OptionalOperations.all.flatMap(\.operations).map(\.route)),
                pathParameters: [
                    "user": [
                        .path(
                            "user", "The user's name.", .text(length: 1...User.maximumCustomerLength), example: "alice"
                        )
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
                wording: [.notFound: "The resource does not exist, or the setting of the path is off (`featureOff`)."],
                words: words, webhooks: ["change": .change])
        }
    }

    /// The texts and numbers of examples, by the names of their fields.
    private static let words: [String: JSONValue] = [
        "FCMtoken": "bk3RNwTe3H0", "_id": "4c2f8c6e1f0f4b0a9a552f1b", "accessToken": "eyJhbGciOiJFUzI1NiJ9.e30.MEUCIQ",
        "actor": "App Store", "advancedCommerceData": "eyJzaWduYXR1cmVJbmZvIjp7fX0=", "addedBy": "key_2f1b7e3c",
        "app": "com.memolease.sesac1",
        "amount": .integer(10), "appAccountToken": "4c2f8c6e-1f0f-4b0a-9a55-2f1b7e3c9d10",
        "authorization": "Bearer 4c2f8c6e", "balance": "seeds", "billingPlanType": "MONTHLY", "birth": "1998-02-13",
        "bundleId": "com.memolease.sesac1", "changedBy": "key_2f1b7e3c", "charges": "2000000123456789",
        "collection": "sprout",
        "createdAt": "2027-01-31T12:00:00.000Z", "createdBy": "key_2f1b7e3c", "currency": "KRW",
        "definition": "The sum of all prices.",
        "description": "All that grows in spring.", "displayName": "Spring", "displayPrice": "4400",
        "email": "alice@example.com", "errorMessage": "The net amount value does not match the expected value.",
        "event": "granted", "externalPurchaseId": "SANDBOX_4c2f8c6e-1f0f-4b0a-9a55-2f1b7e3c9d10",
        "externalTransactionId": "sale-1", "lineItemId": "sale-1", "lineItemIds": "sale-1",
        "grantedBy": "key_2f1b7e3c", "id": "4c2f8c6e-1f0f-4b0a-9a55-2f1b7e3c9d10", "identifier": "standard",
        "issuer": "", "keyId": "key_2f1b7e3c", "kind": "granted", "messageId": "msg_4c2f8c6e",
        "messageIdentifier": "c2d9e0a6-1f57-4d3c-b7a4-8e6f5a3b9d02", "name": "level",
        "newPassword": "another correct horse", "nick": "Mint", "nickname": "Gardener",
        "notificationUUID": "4c2f8c6e-1f0f-4b0a-9a55-2f1b7e3c9d10", "number": .integer(1),
        "originalTransactionId": "2000000123456789", "packageName": "com.memolease.sesac1",
        "password": "correct horse battery", "phoneNumber": "+821012345678", "picture": "/v1/pictures/sprout/1",
        "price": .integer(4_400_000),
        "priceMicros": "4400000000", "productID": "com.memolease.sesac1.sprout1",
        "productId": "com.memolease.sesac1.sprout1", "promotionalOfferSignatureV2": "eyJhbGciOiJFUzI1NiJ9.e30.MEUCIQ",
        "proof": "MIIUAgYJKoZIhvcNAQcCoIIT", "reason": "Spring gift",
        "receipt": "MIIUAgYJKoZIhvcNAQcCoIIT", "reference": "2000000123456789", "refreshToken": "4c2f8c6e1f0f4b0a",
        "regionCode": "KR", "reportedBy": "key_2f1b7e3c",
        "requestReferenceId": "4c2f8c6e-1f0f-4b0a-9a55-2f1b7e3c9d10", "requestedBy": "key_2f1b7e3c",
        "secret": "whsec_TIL2JlbGw", "signedPayload": "eyJhbGciOiJFUzI1NiJ9.e30.MEUCIQ",
        "signedTransactionInfo": "eyJhbGciOiJFUzI1NiJ9.e30.MEUCIQ", "spendingId": "1", "spentBy": "key_2f1b7e3c",
        "store": "Google Play", "storefront": "KOR", "study": "", "subject": "com.memolease.sesac1.sprout1",
        "subscription": "projects/example/subscriptions/till", "text": "The App Store has stated the purchase.",
        "token": "4c2f8c6e1f0f4b0a", "transactionId": "2000000123456789", "type": "DID_RENEW",
        "uid": "alice", "url": "https://shop.example/hooks", "user": "alice", "value": "9", "webhookId": "4c2f8c6e",
    ]
}

extension CacheableAnswer {
    fileprivate static func description(
        _ document: Result<OpenAPIDocument, OpenAPIDocument.Defect>
    ) -> Result<CacheableAnswer, OpenAPIDocument.Defect> {
        document.map { CacheableAnswer($0.json.compactBytes, type: "application/json") }
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
    package static let all = description.operations + ServiceRoutes.groups.flatMap { $0.operations }

    fileprivate static let description = OperationTag(
        "Service", "The description, the health and the metrics of the service.",
        [readErrors, readDescription, isLive, isReady, readMetrics])

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

    package static let all = ServiceRoutes.groups.flatMap { $0.optional }

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
