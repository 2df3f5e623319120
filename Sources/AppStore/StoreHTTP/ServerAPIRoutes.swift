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
        addMessaging(to: group.group("v1/messaging"))
    }

    private func addTransactions(to group: RouterGroup<ServiceContext>) {
        on(.get, "v1/transactions/:id", group) { [api] in try api.transactionInfo($0.text("id")) }
        read("v1/transactions/appTransactions/:id", group) { call, books in
            let account = try books.apiAccount(ofAny: call.text("id"))
            return ["signedAppTransactionInfo": try books.issuer.signedAppTransaction(of: account, at: books.now)]
        }
        for (path, version) in [("v1/history/:id", AppStoreServerAPI.HistoryVersion.v1), ("v2/history/:id", .v2)] {
            on(.get, path, group) { [api] in
                try api.transactionHistory($0.text("id"), TransactionHistoryQuery($0.query), version: version)
            }
        }
        on(.get, "v2/refund/lookup/:id", group) { [api] in
            try api.refundHistory($0.text("id"), revision: $0.query("revision"))
        }
        read("v1/lookup/:id", group) { call, books in
            let sold = try books.transactions.transactions(order: call.text("id"))
            return OrderLookupResponse(
                status: sold.isEmpty ? 1 : 0, signedTransactions: sold.isEmpty ? nil : try sold.map(books.signed))
        }
        on(.put, "v1/transactions/:id/appAccountToken", group) { [api] in
            struct UpdateAppAccountTokenRequest: Decodable {
                let appAccountToken: String?
            }
            let body: UpdateAppAccountTokenRequest = try $0.body(orThrow: Self.malformed)
            try api.setAppAccountToken(body.appAccountToken, of: $0.text("id"))
        }
        write(.post, "v1/transactions/:id/finish", group, readsBody: false) { call, books in
            let transaction = try books.apiTransaction(call.text("id"))
            for queued in try books.payments.transactions(showing: transaction.transactionIdentifier)
            where queued.transaction.state.isAwaitingFinish {
                _ = try books.perform(.finish, on: queued)
            }
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
        read("v1/subscriptions/extend/mass/:product/:request", group) { [api] call, books in
            let product = try api.subscriptionProduct(call.text("product"))
            let identifier = try AppStoreServerAPI.uuid(call.text("request"), orThrow: .invalidRequestIdentifier)
            guard let status = try books.massExtension(identifier, of: product) else {
                throw ServerAPIError.statusRequestNotFound
            }
            return status
        }
        on(.post, "v1/notifications/test", group, readsBody: false) { [api] _ in try api.requestTestNotification() }
        on(.get, "v1/notifications/test/:token", group) { [api] in try api.testNotificationStatus($0.text("token")) }
        on(.post, "v1/notifications/history", group) { [api] in
            try api.notificationHistory($0.body(), paginationToken: $0.query("paginationToken"))
        }
    }

    /// Adds an endpoint that reads the books.
    func read(
        _ path: String,
        _ group: RouterGroup<ServiceContext>,
        _ handle: @Sendable @escaping (Call, Books) throws -> some Encodable & Sendable
    ) {
        on(.get, path, group) { [api] call in try api.read { try handle(call, $0) } }
    }

    /// Adds an endpoint that writes to the books, and answers with an empty success.
    func write(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ group: RouterGroup<ServiceContext>,
        status: HTTPResponse.Status = .ok,
        readsBody: Bool = true,
        _ handle: @Sendable @escaping (Call, Books) throws -> Void
    ) {
        on(method, path, group, status: status, readsBody: readsBody) { [api] call in
            try api.write { try handle(call, $0) }
        }
    }

    /// Adds an endpoint that answers with a value.
    func on(
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
    func on(
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
    struct Call: Sendable {
        private let parameters: [String: String]
        let query: [(name: String, value: String)]
        let bytes: [UInt8]

        init(_ request: Request, _ context: ServiceContext, readsBody: Bool) async throws {
            parameters = try context.parameters.reduce(into: [:]) { texts, parameter in
                texts[String(parameter.key)] = try context.parameters.text(String(parameter.key))
            }
            query = request.parameters
            bytes =
                readsBody && (request.method == .put || request.method == .post)
                ? try await RequestBytes.collect(request, context, upTo: maximumBodySize) : []
        }

        /// The text of a parameter of the path.
        func text(_ name: String) -> String { parameters[name] ?? "" }

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
    func handle(_ request: Request, context: ServiceContext, next: NextHandler) async throws -> Response {
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

    func handle(_ request: Request, context: ServiceContext, next: NextHandler) async throws -> Response {
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
