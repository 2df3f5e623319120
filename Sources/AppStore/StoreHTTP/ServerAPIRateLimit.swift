import HTTPSupport
import HTTPTypes
import Hummingbird
import Proofs

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
