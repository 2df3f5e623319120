import Hummingbird
import HTTPTypes
import Logging
import Proofs

/// The routes of a local store, which runs by itself or beside a service.
///
/// By itself it also has its description (`/openapi.json`), its error codes (`/errors`), its health, and the named stores of its process.
package protocol LocalStoreRouteSource: RouteSource {
    /// The command that runs the store by itself, such as `till store`.
    static var command: String { get }
    static var description: LocalStoreDescription { get throws }

    var sandboxKey: APIKey { get }
    /// The machine's clock.
    var clock: any WallClock { get }

    /// True for the token of a developer, who may make a named store.
    func accepts(_ token: String) async throws -> Bool

    /// A fresh store in memory that sells the same and signs with the same keys, with the delivery of its notifications.
    ///
    /// - Parameter path: The path below which it is reached, such as `stores/suite-7`.
    func named(
        at path: String, delete: @escaping @Sendable () -> Void, logger: Logger
    ) throws -> (routes: Self, sending: Companion)

    /// - Throws: The fault of a store that cannot be read.
    func checkReadiness() throws
}

extension LocalStoreRouteSource {
    /// The routes of a store with a port of its own.
    ///
    /// - Parameters:
    ///   - hasNamedStores: False beside a service, which follows one store.
    ///   - logger: The logger of the notifications that named stores send.
    package func router(
        hasNamedStores: Bool = true, logger: Logger = Logger(label: "till.store")
    ) -> Router<ServiceContext> {
        let (metrics, limits) = (ServiceMetrics(), SharedLimits())
        let router = Router(context: ServiceContext.self)
        if hasNamedStores {
            // Around all other middleware, because a named store has its own.
            router.add(
                middleware: NamedStores(of: Self.command, clock: clock) { request in
                    guard let credential = AuthenticationMiddleware.credential(of: request) else { return false }
                    if sandboxKey.matches(credential) { return true }
                    return try await accepts(credential)
                } _: { path, delete in
                    let (routes, sending) = try named(at: path, delete: delete, logger: logger)
                    let router = Router(context: ServiceContext.self)
                    routes.addAlone(to: router, metrics, limits)
                    return (router.buildResponder(), sending)
                })
        }
        addAlone(to: router, metrics, limits)
        return router
    }

    /// The methods and paths of a stand-alone store, such as `GET /sandbox/v1/time`.
    package var operations: [String] {
        routeDescriptions.map { "\($0.method.rawValue) \($0.path)" }
    }

    private var routeDescriptions: [Router<ServiceContext>.RouteDescription] {
        let router = Router(context: ServiceContext.self)
        addAlone(to: router)
        return router.routes
    }

    private func addAlone(to router: Router<ServiceContext>, _ metrics: ServiceMetrics, _ limits: SharedLimits) {
        router.addMiddleware(counting: metrics, limits, routes: routeDescriptions)
        addAlone(to: router)
    }

    /// Adds all routes of a stand-alone store. In a service, the service has its own routes at the other paths.
    private func addAlone(to router: Router<ServiceContext>) {
        add(to: router)
        let open = router.group()
        open.on(.readDescription) { request, _ in try Self.description.openAPIAnswer(to: request) }
        open.on(.readErrors) { request, _ in
            CacheableAnswer(try Self.description.errors, type: "text/markdown; charset=utf-8").response(to: request)
        }
        open.on(.isLive) { _, _ in HTTPResponse.Status.noContent }
        open.on(.isReady) { _, _ in
            try await BlockingWork.run { try checkReadiness() }
            return HTTPResponse.Status.noContent
        }
    }

    /// Adds the description of the sandbox, at a path that a service does not use, and returns the group of the store's routes.
    package func addDescription(to router: Router<ServiceContext>) -> RouterGroup<ServiceContext> {
        router.group().on(.readSandboxDescription) { request, _ in try Self.description.openAPIAnswer(to: request) }
        return router.group().add(middleware: NamedStoreRefusal(of: Self.command))
    }
}

/// The description of a local store for programs and for people.
package struct LocalStoreDescription: Sendable {
    /// The description of the sandbox API (OpenAPI 3.1).
    package let openAPI: [UInt8]
    /// The page of the error codes, in Markdown.
    package let errors: [UInt8]

    /// - Parameters:
    ///   - errors: The page of the codes that only this store has. The codes of all local stores follow.
    ///   - operations: The operations of the sandbox that only this store has.
    /// - Throws: `OpenAPIDocument.Defect`.
    package init(
        title: String, _ description: String, errors: [UInt8], operations: [APIOperation],
        pathParameters: [String: [Parameter]]
    ) throws {
        self.errors = errors + PackageResources.Errors_md
        openAPI =
            try OpenAPIDocument(
                title: title,
                description
                    + " The header `X-Till-Store: NAME`, or `/stores/NAME` before the path of any request, names a store of its own in the process.",
                codes: SharedAnswer.codes(explainedIn: self.errors),
                tags: [
                    OperationTag(
                        "Store", "The store itself: its description, health and clock.", APIOperation.ofEveryLocalStore),
                    OperationTag("Sandbox", "The actions of customers and of the store, for tests.", operations),
                ],
                security: .init("sandboxKey", "The sandbox key."), pathParameters: pathParameters,
                wording: [
                    .unauthorized: "The sandbox key is missing or wrong.",
                    .conflict: "The state, or a simulated error, does not allow this.",
                    .failed: "The store failed.", .unavailable: "The store cannot answer now.",
                ]
            ).json.compactBytes
    }

    fileprivate func openAPIAnswer(to request: Request) -> Response {
        CacheableAnswer(openAPI, type: "application/json").response(to: request)
    }
}

/// The operations that every local store has.
extension APIOperation {
    fileprivate static let ofEveryLocalStore = [
        readErrors, readDescription, readSandboxDescription, isLive, isReady, readTime, advanceTime, deleteStore,
    ]

    fileprivate static let readErrors = APIOperation(
        .get, "/errors", for: .anybody, usesReserve: true, "readErrors",
        "Lists every error code, with cause and remedy",
        parameters: [.ifNoneMatch], answers: [.content("The page.", ["text/markdown": .text()])])
    fileprivate static let readDescription = description("/openapi.json", "readDescription", "This document")
    fileprivate static let readSandboxDescription = description(
        "/sandbox/v1/openapi.json", "readSandboxDescription", "This document, also beside a service")
    fileprivate static let isLive = APIOperation(
        .get, "/health/live", for: .anybody, usesReserve: true, ignoresUnknownParameters: true,
        "isLive", "Answers if the process runs",
        answers: [.empty("It does.")])
    fileprivate static let isReady = APIOperation(
        .get, "/health/ready", for: .anybody, usesReserve: true, ignoresUnknownParameters: true,
        "isReady", "Answers if the store can be read",
        answers: [.empty("It can.")], or: [.failed, .unavailable])
    package static let deleteStore = sandbox(
        .delete, "store", "deleteStore", "Deletes a named store", answers: [.empty("It is deleted.")], or: [.conflict])

    private static func description(_ path: String, _ name: String, _ summary: String) -> APIOperation {
        APIOperation(
            .get, path, for: .anybody, usesReserve: true, name, summary, parameters: [.ifNoneMatch],
            answers: [.json("OpenAPI 3.1.", Schema.anyObject)])
    }

    package static func sandbox(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ name: String,
        _ summary: String,
        parameters: [Parameter] = [],
        body: RequestBody? = nil,
        answers: [Answer],
        or others: Set<SharedAnswer> = []
    ) -> APIOperation {
        APIOperation(
            method, "/sandbox/v1/\(path)", for: nil, name, summary, parameters: parameters, body: body,
            answers: answers, or: others, never: path.contains("{account}") ? [.notFound] : [])
    }
}

extension RouterGroup where Context == ServiceContext {
    /// Adds the deletion of a named store.
    ///
    /// - Parameter delete: Deletes it; nil for the store without a name, which stays.
    package func addDeletion(_ delete: (@Sendable () -> Void)?) {
        on(.deleteStore) { _, _ in
            guard let delete else {
                throw Problem(
                    status: .conflict, code: "invalidAction",
                    detail: "Only a named store can be deleted. Clear this one with POST /sandbox/v1/reset.")
            }
            delete()
            return HTTPResponse.Status.noContent
        }
    }
}
