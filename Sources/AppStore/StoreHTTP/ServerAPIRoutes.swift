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
        addNotifications(to: group)
        addMessaging(to: group.group("v1/messaging"))
    }

    private func addTransactions(to group: RouterGroup<ServiceContext>) {
        group.get("v1/transactions/:id") { _, context in
            let id = try context.parameters.text("id")
            return try await answer { try api.transactionInfo(id) }
        }
        group.get("v1/transactions/appTransactions/:id") { _, context in
            let id = try context.parameters.text("id")
            return try await answer { try api.appTransactionInfo(id) }
        }
        for (path, version) in [("v1/history/:id", AppStoreServerAPI.HistoryVersion.v1), ("v2/history/:id", .v2)] {
            group.get(RouterPath(path)) { request, context in
                let id = try context.parameters.text("id")
                let query = try TransactionHistoryQuery(request.parameters)
                return try await answer { try api.transactionHistory(id, query, version: version) }
            }
        }
        group.get("v2/refund/lookup/:id") { request, context in
            let id = try context.parameters.text("id")
            let revision = request.parameter("revision")
            return try await answer { try api.refundHistory(id, revision: revision) }
        }
        group.get("v1/lookup/:id") { _, context in
            let id = try context.parameters.text("id")
            return try await answer { try api.lookUpOrderId(id) }
        }
        group.put("v1/transactions/:id/appAccountToken") { request, context in
            struct UpdateAppAccountTokenRequest: Decodable {
                let appAccountToken: String?
            }
            let id = try context.parameters.text("id")
            let body = try await Self.body(
                request, context, as: UpdateAppAccountTokenRequest.self, orThrow: Self.malformed)
            return try await done { try api.setAppAccountToken(body.appAccountToken, of: id) }
        }
        group.post("v1/transactions/:id/finish") { _, context in
            let id = try context.parameters.text("id")
            return try await done { try api.finishTransaction(id) }
        }
        group.put("v2/transactions/consumption/:id") { request, context in
            let id = try context.parameters.text("id")
            let body = try await Self.body(
                request, context, as: ConsumptionRequest.self, orThrow: Self.malformed)
            return try await done(.accepted) { try api.sendConsumptionInformation(id, body) }
        }
        group.put("v1/transactions/consumption/:id") { request, context in
            let id = try context.parameters.text("id")
            let body = try await Self.body(
                request, context, as: ConsumptionRequestV1.self, orThrow: Self.malformed)
            return try await done(.accepted) { try api.sendConsumptionData(id, body) }
        }
    }

    private func addSubscriptions(to group: RouterGroup<ServiceContext>) {
        group.get("v1/subscriptions/:id") { request, context in
            let id = try context.parameters.text("id")
            let statuses = request.parameters.filter { $0.name == "status" }.map(\.value)
            return try await answer { try api.allSubscriptionStatuses(id, statuses: statuses) }
        }
        group.put("v1/subscriptions/extend/:id") { request, context in
            let id = try context.parameters.text("id")
            let body = try await Self.body(request, context, as: ExtendRenewalDateRequest.self)
            return try await answer { try api.extendSubscriptionRenewalDate(id, body) }
        }
        group.post("v1/subscriptions/extend/mass") { request, context in
            let body = try await Self.body(request, context, as: MassExtendRenewalDateRequest.self)
            return try await answer { try api.extendRenewalDateForAllActiveSubscribers(body) }
        }
        group.get("v1/subscriptions/extend/mass/:product/:request") { _, context in
            let product = try context.parameters.text("product")
            let identifier = try context.parameters.text("request")
            return try await answer { try api.statusOfSubscriptionRenewalDateExtensions(product, identifier) }
        }
    }

    private func addNotifications(to group: RouterGroup<ServiceContext>) {
        group.post("v1/notifications/test") { _, _ in try await answer { try api.requestTestNotification() } }
        group.get("v1/notifications/test/:token") { _, context in
            let token = try context.parameters.text("token")
            return try await answer { try api.testNotificationStatus(token) }
        }
        group.post("v1/notifications/history") { request, context in
            let token = request.parameter("paginationToken")
            let body = try await Self.body(request, context, as: NotificationHistoryRequest.self)
            return try await answer { try api.notificationHistory(body, paginationToken: token) }
        }
    }

    func answer(_ body: @Sendable @escaping () throws -> some Encodable & Sendable) async throws -> Response {
        try JSONAnswer.response(try await BlockingWork.run(body))
    }

    /// Answers with an empty success.
    func done(
        _ status: HTTPResponse.Status = .ok,
        _ body: @Sendable @escaping () throws -> Void
    ) async throws -> Response {
        try await BlockingWork.run(body)
        return Response(status: status)
    }

    static func bytes(_ request: Request, _ context: ServiceContext) async throws -> [UInt8] {
        try await RequestBytes.collect(request, context, upTo: maximumBodySize)
    }

    /// - Parameter error: The error for a body of another form.
    static func body<Body: Decodable>(
        _ request: Request,
        _ context: ServiceContext,
        as type: Body.Type,
        orThrow error: any Error = ServerAPIError.generalBadRequest
    ) async throws -> Body {
        let bytes = try await bytes(request, context)
        guard let body = try? CheckedJSON.decode(type, from: bytes) else { throw error }
        return body
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

    func parameter(_ name: String) -> String? { parameters.first { $0.name == name }?.value }
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

extension ServerAPIRoutes {
    func addMessaging(to group: RouterGroup<ServiceContext>) {
        addImagesAndMessages(to: group)
        group.put("default/:product/:locale") { request, context in
            let (product, locale) = try Self.defaultMessage(context)
            let body = try await Self.body(request, context, as: DefaultConfigurationRequest.self)
            return try await done { try api.configureDefaultMessage(product, locale, body) }
        }
        group.get("default/:product/:locale") { _, context in
            let (product, locale) = try Self.defaultMessage(context)
            return try await answer { try api.defaultMessage(product, locale) }
        }
        group.delete("default/:product/:locale") { _, context in
            let (product, locale) = try Self.defaultMessage(context)
            return try await done { try api.deleteDefaultMessage(product, locale) }
        }
        group.put("realtime/url") { request, context in
            let body = try await Self.body(request, context, as: RealtimeUrlRequest.self)
            return try await done { try api.configureRealtimeURL(body) }
        }
        group.get("realtime/url") { _, _ in try await answer { try api.realtimeURL() } }
        group.delete("realtime/url") { _, _ in try await done { try api.deleteRealtimeURL() } }
        group.post("performanceTest") { request, context in
            let body = try await Self.body(request, context, as: PerformanceTestRequest.self)
            return try await answer { try api.initiatePerformanceTest(body) }
        }
        group.get("performanceTest/result/:request") { _, context in
            let identifier = try context.parameters.text("request")
            return try await answer { try api.performanceTestResults(identifier) }
        }
    }

    private func addImagesAndMessages(to group: RouterGroup<ServiceContext>) {
        group.get("image/list") { _, _ in try await answer { try api.imageList() } }
        group.put("image/:id") { request, context in
            let id = try context.parameters.text("id")
            let size = request.parameter("imageSize")
            let png = try await Self.bytes(request, context)
            return try await done { try api.uploadImage(id, png, size: size) }
        }
        group.delete("image/:id") { _, context in
            let id = try context.parameters.text("id")
            return try await done { try api.deleteImage(id) }
        }
        group.get("message/list") { _, _ in try await answer { try api.messageList() } }
        group.put("message/:id") { request, context in
            let id = try context.parameters.text("id")
            let body = try await Self.body(request, context, as: UploadMessageRequestBody.self)
            return try await done { try api.uploadMessage(id, body) }
        }
        group.delete("message/:id") { _, context in
            let id = try context.parameters.text("id")
            return try await done { try api.deleteMessage(id) }
        }
    }

    private static func defaultMessage(_ context: ServiceContext) throws -> (product: String, locale: String) {
        (try context.parameters.text("product"), try context.parameters.text("locale"))
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
    private let minute = Mutex<(end: Timestamp, count: Int)>((Timestamp(millisecondsSince1970: 0), 0))

    /// - Returns: The end of the window for a request beyond the limit; else nil.
    func count(at now: Timestamp, limit: Int) -> Timestamp? {
        minute.withLock { minute in
            if now >= minute.end { minute = (now.adding(seconds: 60), 0) }
            minute.count += 1
            return minute.count > limit ? minute.end : nil
        }
    }
}
