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

    let store: Store

    func add(to group: RouterGroup<ServiceContext>) {
        addTransactions(to: group)
        addSubscriptions(to: group)
        addMessaging(to: group.group("v1/messaging"))
    }

    private func addTransactions(to group: RouterGroup<ServiceContext>) {
        read("v1/transactions/:id", group) { call, books in
            ["signedTransactionInfo": try books.signed(try books.apiTransaction(call.text("id")))]
        }
        read("v1/transactions/appTransactions/:id", group) { call, books in
            ["signedAppTransactionInfo": try books.appTransactionInfo(call.text("id"))]
        }
        for (path, version) in [("v1/history/:id", HistoryVersion.v1), ("v2/history/:id", .v2)] {
            read(path, group) { call, books in
                try books.transactionHistory(call.text("id"), TransactionHistoryQuery(call.query), version: version)
            }
        }
        read("v2/refund/lookup/:id", group) { call, books in
            try books.refundHistory(call.text("id"), revision: call.query("revision"))
        }
        read("v1/lookup/:id", group) { call, books in
            let sold = try books.transactions.transactions(order: call.text("id"))
            return OrderLookupResponse(
                status: sold.isEmpty ? 1 : 0, signedTransactions: sold.isEmpty ? nil : try sold.map(books.signed))
        }
        on(.put, "v1/transactions/:id/appAccountToken", group) { [store] call in
            struct UpdateAppAccountTokenRequest: Decodable {
                let appAccountToken: String?
            }
            let body: UpdateAppAccountTokenRequest = try call.body(orThrow: Self.malformed)
            try store.writeOrThrow { try $0.setAppAccountToken(body.appAccountToken, of: call.text("id")) }
            return Response(status: .ok)
        }
        write(.post, "v1/transactions/:id/finish", group, readsBody: false) { call, books in
            let transaction = try books.apiTransaction(call.text("id"))
            for queued in try books.payments.transactions(showing: transaction.transactionIdentifier)
            where queued.transaction.state.isAwaitingFinish {
                _ = try books.perform(.finish, on: queued)
            }
        }
        addConsumption("v2/transactions/consumption/:id", group, of: ConsumptionRequest.self)
        addConsumption("v1/transactions/consumption/:id", group, of: ConsumptionRequestV1.self)
    }

    private func addConsumption<Body: ConsumptionInformation>(
        _ path: String,
        _ group: RouterGroup<ServiceContext>,
        of type: Body.Type
    ) {
        on(.put, path, group) { [store] call in
            let body: Body = try call.body(orThrow: Self.malformed)
            try store.writeOrThrow { try $0.sendConsumption(call.text("id"), body) }
            return Response(status: .accepted)
        }
    }

    private func addSubscriptions(to group: RouterGroup<ServiceContext>) {
        read("v1/subscriptions/:id", group) { call, books in
            let statuses = call.query.filter { $0.name == "status" }.map(\.value)
            return try books.allSubscriptionStatuses(call.text("id"), statuses: statuses)
        }
        answer(.put, "v1/subscriptions/extend/:id", group) { call, books in
            try books.extendSubscriptionRenewalDate(call.text("id"), call.body())
        }
        answer(.post, "v1/subscriptions/extend/mass", group) { call, books in
            ["requestIdentifier": try books.extendRenewalDateForAllActiveSubscribers(call.body())]
        }
        read("v1/subscriptions/extend/mass/:product/:request", group) { call, books in
            let product = try books.subscriptionProduct(call.text("product"))
            let identifier = try call.text("request").uuid(orThrow: .invalidRequestIdentifier)
            guard let status = try books.massExtension(identifier, of: product) else {
                throw ServerAPIError.statusRequestNotFound
            }
            return status
        }
        answer(.post, "v1/notifications/test", group, readsBody: false) { _, books in
            ["testNotificationToken": try books.requestTestNotification()]
        }
        read("v1/notifications/test/:token", group) { try $1.testNotificationStatus($0.text("token")) }
        read("v1/notifications/history", by: .post, group) { call, books in
            try books.notificationHistory(call.body(), paginationToken: call.query("paginationToken"))
        }
    }

    /// Adds the External Purchase Server API. A report with mistakes is answered with all of them, and one that the store does not have
    /// with `NotFoundError` ("Send External Purchase Report", "Retrieve External Purchase Report").
    func addExternalPurchases(to group: RouterGroup<ServiceContext>) {
        on(.put, "v1/reports", group) { [store] call in
            let report: ExternalPurchaseReport = try call.body(orThrow: Self.malformed)
            let (identifier, mistakes) = try store.writeOrThrow { try $0.sendExternalPurchaseReport(report) }
            guard mistakes.isEmpty else {
                return JSONAnswer.response(bytes: try JSONAnswer.encode(["errors": mistakes]), status: .badRequest)
            }
            return try JSONAnswer.response(["requestIdentifier": identifier])
        }
        on(.get, "v1/reports/:id", group) { [store] call in
            let identifier = call.text("id").lowercased()
            guard let report = try store.readOrThrow({ try $0.externalPurchases.report(identifier) }) else {
                let mistake = ExternalPurchaseMistake(.notFound, "requestIdentifier")
                return JSONAnswer.response(bytes: try JSONAnswer.encode(mistake), status: .badRequest)
            }
            return JSONAnswer.response(bytes: Array(report.utf8))
        }
    }

    /// Adds an endpoint that reads the books.
    func read(
        _ path: String,
        by method: HTTPRequest.Method = .get,
        _ group: RouterGroup<ServiceContext>,
        _ handle: @Sendable @escaping (Call, Books) throws -> some Encodable & Sendable
    ) {
        on(method, path, group) { [store] call in
            try JSONAnswer.response(try store.readOrThrow { try handle(call, $0) })
        }
    }

    /// Adds an endpoint that writes to the books, and answers with a value.
    func answer(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ group: RouterGroup<ServiceContext>,
        readsBody: Bool = true,
        _ handle: @Sendable @escaping (Call, Books) throws -> some Encodable & Sendable
    ) {
        on(method, path, group, readsBody: readsBody) { [store] call in
            try JSONAnswer.response(try store.writeOrThrow { try handle(call, $0) })
        }
    }

    /// Adds an endpoint that writes to the books, and answers with an empty success.
    func write(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ group: RouterGroup<ServiceContext>,
        readsBody: Bool = true,
        _ handle: @Sendable @escaping (Call, Books) throws -> Void
    ) {
        on(method, path, group, readsBody: readsBody) { [store] call in
            try store.writeOrThrow { try handle(call, $0) }
            return Response(status: .ok)
        }
    }

    private func on(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ group: RouterGroup<ServiceContext>,
        readsBody: Bool = true,
        _ answer: @Sendable @escaping (Call) throws -> Response
    ) {
        group.on(RouterPath(path), method: method) { request, context in
            let call = try await Call(request, context, readsBody: readsBody)
            return try await BlockingWork.run { try answer(call) }
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

/// The endpoints of groups and seats (App Store Server API, `/groups`). As at Apple, only the sandbox has them.
extension ServerAPIRoutes {
    func addGroups(to group: RouterGroup<ServiceContext>) {
        read("v1/currentGroups/:id", group) { call, books in try books.customerGroups(call.text("id")) }
        read("v1/group/:id", group) { call, books in
            try books.groupMembers(
                call.text("id"), limit: call.query("limit"), paginationToken: call.query("paginationToken"))
        }
        read("v1/transactions/:id/seats", group) { call, books in try books.seatInfo(call.text("id")) }
        answer(.post, "v1/transactions/:id/seats", group) { call, books in
            ["seatClaimId": try books.claimSeat(call.text("id"), call.body())]
        }
        write(.delete, "v1/transactions/:id/seats/:claim", group) { call, books in
            try books.unclaimSeat(call.text("claim"), of: call.text("id"))
        }
        write(.post, "v1/transactions/:id/seats/:claim/associate", group) { call, books in
            try books.associateSeat(call.text("claim"), of: call.text("id"), call.body())
        }
    }
}

/// The endpoints of the Advanced Commerce API (`/advancedCommerce`).
extension ServerAPIRoutes {
    func addAdvancedCommerce(to group: RouterGroup<ServiceContext>) {
        change("v1/subscription/cancel/:id", group) { try $0.cancelSubscription($1, $2) }
        change("v1/subscription/changeMetadata/:id", group) { try $0.changeSubscriptionMetadata($1, $2) }
        change("v1/subscription/changePrice/:id", group) { try $0.changeSubscriptionPrice($1, $2) }
        change("v1/subscription/migrate/:id", group) { try $0.migrateSubscription($1, $2) }
        change("v1/subscription/revoke/:id", group) { try $0.revokeSubscription($1, $2) }
        change("v1/transaction/requestRefund/:id", group) { try $0.requestTransactionRefund($1, $2) }
    }

    private func change<Body: AdvancedCommerceRequest>(
        _ path: String,
        _ group: RouterGroup<ServiceContext>,
        _ change: @Sendable @escaping (Books, String, Body) throws -> AdvancedCommerceResponse
    ) {
        answer(.post, path, group) { call, books in
            try change(books, call.text("id"), call.body(orThrow: AdvancedCommerceError.malformedPayload))
        }
    }
}

/// Answers an error of the API as Apple does.
struct ServerAPIErrorMiddleware: RouterMiddleware {
    func handle(_ request: Request, context: ServiceContext, next: NextHandler) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as any ServerAPIRefusal {
            context.notes.code = String(error.number)
            return JSONAnswer.response(
                bytes: try JSONAnswer.encode(error.body), status: .init(code: error.httpStatus))
        } catch let error as StoreError {
            context.notes.code = error.code
            context.logger.log(
                level: context.sharedLimits?.lines.level(.error, of: error.code, in: context.logger) ?? .error,
                "the store failed", metadata: ["code": "\(error.code)"])
            return JSONAnswer.response(
                bytes: try JSONAnswer.encode(ServerAPIError.generalInternalRetryable.body), status: .internalServerError
            )
        }
    }
}

/// The limits of the App Store Server API in the store's settings: requests beyond the rate limit get 429, and all requests the
/// simulated error. As in Apple's API, `Retry-After` is a time in milliseconds since 1970.
struct ServerAPILimits: RouterMiddleware {
    private static let retryAfter = HTTPField.Name.retryAfter

    let store: Store
    let clock: any WallClock
    private let counter = RequestCounter()

    func handle(_ request: Request, context: ServiceContext, next: NextHandler) async throws -> Response {
        let (limit, error) = try await BlockingWork.run { [store] in
            let settings = try store.settings()
            return (settings.serverAPIRequestsPerMinute, settings.serverAPIError)
        }
        guard let limit, let end = counter.count(at: clock.now(), limit: limit) else {
            if let error = error.flatMap(ServerAPIError.init(rawValue:)) { throw error }
            return try await next(request, context)
        }
        return JSONAnswer.response(
            bytes: try JSONAnswer.encode(ServerAPIError.rateLimitExceeded.body), status: .tooManyRequests,
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
