import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Logging
import Proofs

/// The store's routes: the App Store's (`/inApps`, `/externalPurchase`, `/groups`, `/advancedCommerce`, `/verifyReceipt`), the OCSP responder of
/// its certificates (`/ocsp`), and the
/// sandbox's, which control the customer and Apple (`/sandbox/v1`).
package struct StoreRoutes: LocalStoreRouteSource {
    let store: Store
    package let sandboxKey: APIKey
    package let clock: any WallClock
    /// Deletes the named store; nil if the store has no name.
    var delete: (@Sendable () -> Void)?

    package static let command = "till store"

    package static var description: LocalStoreDescription { get throws { try LocalStoreDescription.appStore.get() } }

    package func accepts(_ token: String) async throws -> Bool {
        try await TeamTokens(store: store, clock: clock).accepts(token)
    }

    package func named(
        at path: String, delete: @escaping @Sendable () -> Void, logger: Logger
    ) throws -> (routes: StoreRoutes, sending: Companion) {
        let named = try Store(besides: store, at: path)
        return (
            StoreRoutes(store: named, sandboxKey: sandboxKey, clock: clock, delete: delete),
            named.notificationSending(logger: logger)
        )
    }

    package func checkReadiness() throws { _ = try store.settings() }

    package func add(to router: Router<ServiceContext>) {
        let all = addDescription(to: router)
        let limits = ServerAPILimits(store: store, clock: clock)
        func server(_ path: RouterPath) -> RouterGroup<ServiceContext> {
            all.group(path).add(middleware: ServerAPIErrorMiddleware())
                .add(middleware: TeamTokens(store: store, clock: clock)).add(middleware: limits)
        }
        ServerAPIRoutes(store: store).add(to: server("inApps"))
        ServerAPIRoutes(store: store).addExternalPurchases(to: server("externalPurchase"))
        ServerAPIRoutes(store: store).addAdvancedCommerce(to: server("advancedCommerce"))
        if store.environment != .production { ServerAPIRoutes(store: store).addGroups(to: server("groups")) }
        VerifyReceiptRoutes(store: store).add(to: all)
        OCSPRoutes(store: store).add(to: all)
        let sandbox = all.sandbox(of: "The store", key: sandboxKey)
        SandboxRoutes(store: store, delete: delete).add(to: sandbox)
    }
}

extension Store {
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
