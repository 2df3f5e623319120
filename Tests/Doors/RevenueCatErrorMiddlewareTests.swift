import HTTPSupport
import HTTPTypes
import Hummingbird
import Service
import TestSupport
import Testing

/// The conversion of errors around the endpoints, and around the whole router.
@Suite struct RevenueCatErrorMiddlewareTests {
    private struct Refusing: RouterMiddleware {
        func handle(_ request: Request, context: ServiceContext, next: NextHandler) async throws -> Response {
            guard request.headers[.userAgent] != "refused" else {
                return try Problem(
                    status: .tooManyRequests, code: "tooManyRequests", detail: "Wait.", retryAfter: 3
                ).response()
            }
            return try await next(request, context)
        }
    }

    private static func router() -> Router<ServiceContext> {
        let router = Router(context: ServiceContext.self)
        router.add(middleware: RevenueCatErrorMiddleware())
        router.add(middleware: Refusing())
        router.add(middleware: ProblemMiddleware())
        let door = router.group().add(middleware: RevenueCatErrorMiddleware())
        let problem = Problem(status: .unauthorized, code: "keyInvalid", detail: "The key is invalid.")
        door.post("/v1/receipts") { _, _ -> Response in throw problem }
        door.get("/v1/subscribers/alice/offerings") { _, _ -> Response in throw problem }
        router.get("/v1/users") { _, _ -> Response in throw problem }
        return router
    }

    private func answer(
        _ method: HTTPRequest.Method,
        _ path: String,
        agent: String = "app"
    ) async throws -> TestResponse {
        try await Application(router: Self.router()).test(.router) { client in
            try await client.execute(uri: path, method: method, headers: [.userAgent: agent]) { $0 }
        }
    }

    @Test func `an error of an endpoint is converted with its own code`() async throws {
        let receipts = try await answer(.post, "/v1/receipts")
        #expect(receipts.status == .serviceUnavailable)
        #expect(String(buffer: receipts.body) == #"{"code":7225,"message":"The key is invalid."}"#)
        let offerings = try await answer(.get, "/v1/subscribers/alice/offerings")
        #expect(offerings.status == .unauthorized)
        #expect(offerings.headers[.contentType] == "application/json")
    }

    @Test func `a refusal before the endpoint is converted too`() async throws {
        let receipts = try await answer(.post, "/v1/receipts", agent: "refused")
        #expect(receipts.status == .serviceUnavailable)
        #expect(receipts.headers[.contentType] == "application/json")
        #expect(receipts.headers[.retryAfter] == "3")
        let missing = try await answer(.post, "/v1/subscribers/user/attributes")
        #expect(missing.status == .serviceUnavailable)
    }

    @Test func `the service's own routes keep their problem documents`() async throws {
        let users = try await answer(.get, "/v1/users")
        #expect(users.status == .unauthorized)
        #expect(users.headers[.contentType] == Problem.contentType)
    }
}
