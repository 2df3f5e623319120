import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Logging
import Proofs

/// The store's routes: the App Store's (`/inApps`, `/groups`, `/verifyReceipt`), the OCSP responder of its certificates (`/ocsp`), and the
/// sandbox's, which control the customer and Apple (`/sandbox/v1`).
package struct StoreRoutes: RouteSource {
    let store: Store
    /// The API key of the sandbox's routes.
    let sandboxKey: APIKey
    /// The machine's clock, for the dates of developers' tokens.
    let clock: any WallClock
    /// Deletes the named store; nil if the store has no name.
    var delete: (@Sendable () -> Void)?

    /// The routes of a stand-alone store, with its own description, error codes and readiness, and of the named stores in its process.
    ///
    /// - Parameter logger: The logger of the notifications that named stores send.
    package func router(logger: Logger = Logger(label: "till.store")) -> Router<ServiceContext> {
        let (metrics, limits) = (ServiceMetrics(), SharedLimits())
        let router = Router(context: ServiceContext.self)
        let tokens = TeamTokens(store: store, clock: clock)
        // Around all other middleware, because a named store has its own.
        router.add(
            middleware: NamedStores(clock: clock) { request in
                guard let credential = AuthenticationMiddleware.credential(of: request) else { return false }
                if sandboxKey.matches(credential) { return true }
                return try await tokens.accepts(credential)
            } _: { path, delete in
                let named = try Store(besides: store, at: path)
                let router = Router(context: ServiceContext.self)
                StoreRoutes(store: named, sandboxKey: sandboxKey, clock: clock, delete: delete)
                    .addAlone(to: router, metrics, limits)
                return (router.buildResponder(), named.notificationSending(logger: logger))
            })
        addAlone(to: router, metrics, limits)
        return router
    }

    private func addAlone(to router: Router<ServiceContext>, _ metrics: ServiceMetrics, _ limits: SharedLimits) {
        router.addMiddleware(counting: metrics, limits, routes: descriptions)
        addAlone(to: router)
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
    package static var openAPI: [UInt8] { get throws { try OpenAPIDocument.sandbox.get().bytes } }

    /// Adds all routes of a stand-alone store. In a service, the service has its own routes at the other paths.
    private func addAlone(to router: Router<ServiceContext>) {
        add(to: router)
        let open = router.group()
        open.on(.readDescription) { request, _ in try Self.description(for: request) }
        open.on(.readErrors) { request, _ in
            CacheableAnswer(PackageResources.Errors_md, type: "text/markdown; charset=utf-8").response(to: request)
        }
        open.on(.isLive) { _, _ in HTTPResponse.Status.noContent }
        open.on(.isReady) { [store] _, _ in
            _ = try await BlockingWork.run { try store.settings() }
            return HTTPResponse.Status.noContent
        }
    }

    private static func description(for request: Request) throws -> Response {
        CacheableAnswer(try openAPI, type: "application/json").response(to: request)
    }

    package func add(to router: Router<ServiceContext>) {
        let all = router.group().add(middleware: NamedStoreRefusal())
        let limits = ServerAPILimits(store: store, clock: clock)
        func server(_ path: RouterPath) -> RouterGroup<ServiceContext> {
            all.group(path).add(middleware: ServerAPIErrorMiddleware())
                .add(middleware: TeamTokens(store: store, clock: clock)).add(middleware: limits)
        }
        ServerAPIRoutes(store: store).add(to: server("inApps"))
        if store.environment != .production { ServerAPIRoutes(store: store).addGroups(to: server("groups")) }
        VerifyReceiptRoutes(store: store).add(to: all)
        OCSPRoutes(store: store).add(to: all)
        // Without the key, and at a path that the service does not use.
        router.group().on(.readSandboxDescription) { request, _ in try Self.description(for: request) }
        let sandbox = all.sandbox(of: "The store", key: sandboxKey)
        SandboxRoutes(store: store, delete: delete).add(to: sandbox)
    }
}

extension Store {
    /// The routes of the store.
    package func routes(sandboxKey: APIKey, clock: any WallClock = SystemClock()) -> StoreRoutes {
        StoreRoutes(store: self, sandboxKey: sandboxKey, clock: clock)
    }
}

/// The bearer tokens of developers' servers, verified as by Apple (App Store Server API, "Generating JSON Web Tokens for API
/// requests"). A token has a team key's signature, names this app and lasts an hour at most.
///
/// `iat` is optional, because two of Apple's own libraries omit it. As at Apple, it may not be a second in the future.
struct TeamTokens: RouterMiddleware {
    private static let audience = "appstoreconnect-v1"
    /// The maximum lifetime of a token, in seconds.
    private static let maximumLifetime = 3600.0

    let store: Store
    /// The machine's clock. Callers date their tokens by it, even if the store's clock is ahead.
    let clock: any WallClock

    func handle(_ request: Request, context: ServiceContext, next: NextHandler) async throws -> Response {
        guard let token = AuthenticationMiddleware.credential(of: request), try await accepts(token) else {
            // As in Apple's API, the body is not JSON.
            return Response(
                status: .unauthorized, headers: [.contentType: "text/plain"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: "Unauthenticated\n\n")))
        }
        return try await next(request, context)
    }

    fileprivate func accepts(_ token: String) async throws -> Bool {
        guard let token = try? SignedToken(compact: Array(token.utf8)),
            let key = try await BlockingWork.run({ [store] in try store.read { try $0.teamKeys() } }).first(where: {
                $0.isNamed(by: token)
            }), key.hasSigned(token), let issuer = token.claims.text("iss"), let app = token.claims.text("bid"),
            let audiences = token.claims.audiences, let end = token.claims.date("exp")
        else { return false }
        let now = Double(clock.now().millisecondsSince1970) / 1000
        guard let start = token.claims.date("iat", else: now) else { return false }
        return issuer.hasSameBytes(as: key.issuerIdentifier) && app.hasSameBytes(as: store.bundleIdentifier)
            && audiences.count == 1 && audiences.allSatisfy { $0.hasSameBytes(as: Self.audience) } && end > now
            && start <= now && end <= start + Self.maximumLifetime
    }
}

/// Apple's verifyReceipt, which always answers 200. The environment is that of Apple's host name in the request, else of the
/// path (`/production/verifyReceipt`, `/sandbox/verifyReceipt`), else of the store, whose receipts are of one of the two.
struct VerifyReceiptRoutes: Sendable {
    /// The maximum size of a request: a receipt in base64, with its JSON.
    private static let maximumBodySize = JSONBody.sizeWithProof
    private static let environmentsByHost: [String: AppStoreEnvironment] = [
        "buy.itunes.apple.com": .production, "sandbox.itunes.apple.com": .sandbox,
    ]

    let store: Store

    func add(to group: RouterGroup<ServiceContext>) {
        for (path, environment) in [
            ("verifyReceipt", nil), ("production/verifyReceipt", AppStoreEnvironment.production),
            ("sandbox/verifyReceipt", .sandbox),
        ] {
            for method in [HTTPRequest.Method.post, .get, .put, .delete] {
                group.on(RouterPath(path), method: method) { request, context in
                    try await answer(request, context, in: environment ?? self.environment(ofHost: request))
                }
            }
        }
    }

    private func environment(ofHost request: Request) -> AppStoreEnvironment {
        let host = request.head.authority?.split(separator: ":").first.map(String.init) ?? ""
        return Self.environmentsByHost[host] ?? (store.environment == .production ? .production : .sandbox)
    }

    private func answer(
        _ request: Request,
        _ context: ServiceContext,
        in environment: AppStoreEnvironment
    ) async throws -> Response {
        var body: VerifyReceiptRequest?
        if request.method == .post {
            let bytes = try await RequestBytes.collect(request, context, upTo: Self.maximumBodySize)
            body = try? await BlockingWork.process(bytes.count) {
                try CheckedJSON.decode(VerifyReceiptRequest.self, from: bytes)
            }
        }
        let answer = try await BlockingWork.run { [body] in try store.verifyReceipt(body, environment: environment) }
        return JSONAnswer.response(bytes: Array(answer.json.compactText.utf8))
    }
}

/// The responder of the store's certificates over HTTP (RFC 6960 appendix A). Requests come from anybody, and prove nothing.
struct OCSPRoutes: Sendable {
    let store: Store

    func add(to group: RouterGroup<ServiceContext>) {
        let path = StoreKeys.responderPath
        group.on(RouterPath(path), method: .post) { request, context in
            try await answer(RequestBytes.collect(request, context, upTo: OCSPResponder.maximumRequestSize))
        }
        // The path goes on with the base64 of the request, escaped or not.
        group.on(RouterPath("\(path)/**"), method: .get) { request, _ in
            let text = request.uri.path.dropFirst("/\(path)/".count)
            return try await answer(text.removingPercentEncoding.flatMap { Base64.decode($0.utf8) } ?? [])
        }
    }

    private func answer(_ request: [UInt8]) async throws -> Response {
        guard let answer = try await BlockingWork.run({ try store.ocspAnswer(to: request) }) else {
            return Response(status: .serviceUnavailable)
        }
        return Response(
            status: .ok, headers: [.contentType: "application/ocsp-response", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer)))
    }
}
