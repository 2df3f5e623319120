import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs
import Synchronization

/// The routes of the App Store Server API (`/inApps`), with Apple's paths, errors and statuses.
struct ServerAPIRoutes: Sendable {
    /// The maximum size of a request, in bytes. Image uploads are the largest requests.
    private static let maximumBodySize = 2 * 1024 * 1024
    /// The answer of some endpoints to a body of another form: a status without an error code.
    private static let malformed = HTTPError(.badRequest)

    let api: AppStoreServerAPI

    func add(to group: RouterGroup<ServiceContext>) {
        addTransactions(to: group)
        addSubscriptions(to: group)
        addMessaging(to: group)
    }

    private func addTransactions(to group: RouterGroup<ServiceContext>) {
        on(.get, "v1/transactions/:id", group) { [api] in try api.transactionInfo($0.text("id")) }
        on(.get, "v1/transactions/appTransactions/:id", group) { [api] in try api.appTransactionInfo($0.text("id")) }
        for (path, version) in [("v1/history/:id", AppStoreServerAPI.HistoryVersion.v1), ("v2/history/:id", .v2)] {
            on(.get, path, group) { [api] in
                try api.transactionHistory($0.text("id"), TransactionHistoryQuery($0.query), version: version)
            }
        }
        on(.get, "v2/refund/lookup/:id", group) { [api] in
            try api.refundHistory($0.text("id"), revision: $0.query("revision"))
        }
        on(.get, "v1/lookup/:id", group) { [api] in try api.lookUpOrderId($0.text("id")) }
        on(.put, "v1/transactions/:id/appAccountToken", group) { [api] in
            struct UpdateAppAccountTokenRequest: Decodable {
                let appAccountToken: String?
            }
            let body: UpdateAppAccountTokenRequest = try $0.body(orThrow: Self.malformed)
            try api.setAppAccountToken(body.appAccountToken, of: $0.text("id"))
        }
        on(.post, "v1/transactions/:id/finish", group, readsBody: false) { [api] in
            try api.finishTransaction($0.text("id"))
        }
        on(.put, "v2/transactions/consumption/:id", group, status: .accepted) { [api] in
            try api.sendConsumption($0.text("id"), $0.body(orThrow: Self.malformed) as ConsumptionRequest)
        }
        on(.put, "v1/transactions/consumption/:id", group, status: .accepted) { [api] in
            try api.sendConsumption($0.text("id"), $0.body(orThrow: Self.malformed) as ConsumptionRequestV1)
        }
    }

    private func addSubscriptions(to group: RouterGroup<ServiceContext>) {
        on(.get, "v1/subscriptions/:id", group) { [api] in
            let statuses = $0.query.filter { $0.name == "status" }.map(\.value)
            return try api.allSubscriptionStatuses($0.text("id"), statuses: statuses)
        }
        on(.put, "v1/subscriptions/extend/:id", group) { [api] in
            try api.extendSubscriptionRenewalDate($0.text("id"), $0.body())
        }
        on(.post, "v1/subscriptions/extend/mass", group) { [api] in
            try api.extendRenewalDateForAllActiveSubscribers($0.body())
        }
        on(.get, "v1/subscriptions/extend/mass/:product/:request", group) { [api] in
            try api.statusOfSubscriptionRenewalDateExtensions($0.text("product"), $0.text("request"))
        }
        on(.post, "v1/notifications/test", group, readsBody: false) { [api] _ in try api.requestTestNotification() }
        on(.get, "v1/notifications/test/:token", group) { [api] in try api.testNotificationStatus($0.text("token")) }
        on(.post, "v1/notifications/history", group) { [api] in
            try api.notificationHistory($0.body(), paginationToken: $0.query("paginationToken"))
        }
    }

    private func addMessaging(to group: RouterGroup<ServiceContext>) {
        let group = group.group("v1/messaging")
        on(.get, "image/list", group) { [api] _ in try api.imageList() }
        on(.put, "image/:id", group) { [api] in
            try api.uploadImage($0.text("id"), $0.bytes, size: $0.query("imageSize"))
        }
        on(.delete, "image/:id", group) { [api] in try api.deleteImage($0.text("id")) }
        on(.get, "message/list", group) { [api] _ in try api.messageList() }
        on(.put, "message/:id", group) { [api] in try api.uploadMessage($0.text("id"), $0.body()) }
        on(.delete, "message/:id", group) { [api] in try api.deleteMessage($0.text("id")) }
        let defaultMessage = "default/:product/:locale"
        on(.put, defaultMessage, group) { [api] in
            try api.configureDefaultMessage($0.text("product"), $0.text("locale"), $0.body())
        }
        on(.get, defaultMessage, group) { [api] in try api.defaultMessage($0.text("product"), $0.text("locale")) }
        on(.delete, defaultMessage, group) { [api] in
            try api.deleteDefaultMessage($0.text("product"), $0.text("locale"))
        }
        on(.put, "realtime/url", group) { [api] in try api.configureRealtimeURL($0.body()) }
        on(.get, "realtime/url", group) { [api] _ in try api.realtimeURL() }
        on(.delete, "realtime/url", group) { [api] _ in try api.deleteRealtimeURL() }
        on(.post, "performanceTest", group) { [api] in try api.initiatePerformanceTest($0.body()) }
        on(.get, "performanceTest/result/:request", group) { [api] in try api.performanceTestResults($0.text("request"))
        }
    }

    /// Adds an endpoint that answers with a value.
    private func on(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ group: RouterGroup<ServiceContext>,
        readsBody: Bool = true,
        _ handle: @Sendable @escaping (Call) throws -> some Encodable & Sendable
    ) {
        group.on(RouterPath(path), method: method) { request, context in
            let call = try await Call(request, context, readsBody: readsBody)
            return try JSONAnswer.response(try await BlockingWork.run { try handle(call) })
        }
    }

    /// Adds an endpoint that answers with an empty success.
    private func on(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ group: RouterGroup<ServiceContext>,
        status: HTTPResponse.Status = .ok,
        readsBody: Bool = true,
        _ handle: @Sendable @escaping (Call) throws -> Void
    ) {
        group.on(RouterPath(path), method: method) { request, context in
            let call = try await Call(request, context, readsBody: readsBody)
            try await BlockingWork.run { try handle(call) }
            return Response(status: status)
        }
    }

    /// A request with its body.
    private struct Call: Sendable {
        private let parameters: Parameters
        let query: [(name: String, value: String)]
        let bytes: [UInt8]

        init(_ request: Request, _ context: ServiceContext, readsBody: Bool) async throws {
            parameters = context.parameters
            query = request.parameters
            bytes =
                readsBody && (request.method == .put || request.method == .post)
                ? try await RequestBytes.collect(request, context, upTo: maximumBodySize) : []
        }

        func text(_ name: String) throws -> String { try parameters.text(name) }

        func query(_ name: String) -> String? { query.first { $0.name == name }?.value }

        /// - Parameter error: The error for a body of another form.
        func body<Body: Decodable>(orThrow error: any Error = ServerAPIError.generalBadRequest) throws -> Body {
            guard let body = try? CheckedJSON.decode(Body.self, from: bytes) else { throw error }
            return body
        }
    }
}

extension Request {
    /// The names and values of the query. As at Apple, a plus sign is a space, as in forms.
    package var parameters: [(name: String, value: String)] {
        (uri.query ?? "").split(separator: "&").map { parameter in
            let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
                let text = String($0.replacing("+", with: " "))
                return text.removingPercentEncoding ?? text
            }
            return (parts.first ?? "", parts.count > 1 ? parts[1] : "")
        }
    }
}

/// Answers an error of the API as Apple does.
struct ServerAPIErrorMiddleware: RouterMiddleware {
    func handle(
        _ request: Request,
        context: ServiceContext,
        next: (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as ServerAPIError {
            context.notes.code = String(error.rawValue)
            return JSONAnswer.response(
                bytes: try JSONAnswer.encode(error), status: .init(code: error.httpStatus))
        } catch let error as StoreError {
            context.notes.code = error.code
            context.logger.log(
                level: context.sharedLimits?.lines.level(.error) ?? .error, "the store failed",
                metadata: ["code": "\(error.code)"])
            return JSONAnswer.response(
                bytes: try JSONAnswer.encode(ServerAPIError.generalInternalRetryable), status: .internalServerError)
        }
    }
}

/// The rate limit of the App Store Server API, from the store's settings: requests beyond it get 429. As in Apple's API,
/// `Retry-After` is a time in milliseconds since 1970.
struct ServerAPIRateLimit: RouterMiddleware {
    private static let retryAfter = HTTPField.Name.retryAfter

    private let store: Store
    private let clock: any WallClock
    private let counter = RequestCounter()

    init(store: Store, clock: any WallClock) {
        self.store = store
        self.clock = clock
    }

    func handle(
        _ request: Request,
        context: ServiceContext,
        next: (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        let limit = try await BlockingWork.run { [store] in try store.settings().serverAPIRequestsPerMinute }
        guard let limit, let end = counter.count(at: clock.now(), limit: limit) else {
            return try await next(request, context)
        }
        return JSONAnswer.response(
            bytes: try JSONAnswer.encode(ServerAPIError.rateLimitExceeded), status: .tooManyRequests,
            headers: [Self.retryAfter: String(end.millisecondsSince1970)])
    }
}

/// Counts requests in windows of a minute. A window begins with its first request.
final class RequestCounter: Sendable {
    /// The end of the present window, and the number of its requests.
    private let minute = Mutex<(end: Timestamp, count: Int64)>((Timestamp(millisecondsSince1970: 0), 0))

    /// - Returns: The end of the window for a request beyond the limit; else nil.
    func count(at now: Timestamp, limit: Int64) -> Timestamp? {
        minute.withLock { minute in
            if now >= minute.end { minute = (now.adding(seconds: 60), 0) }
            minute.count += 1
            return minute.count > limit ? minute.end : nil
        }
    }
}
