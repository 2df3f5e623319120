import Foundation
import HTTPSupport
import HTTPTypes
import Service
import TestSupport
import Testing

/// The pages in browsers that may call the service.
@Suite struct CrossOriginTests {
    private static let own = "https://shop.example.com"
    private static let local = "http://localhost:3000"

    private func fixture(
        limits: RequestLimits? = nil, tokens: TokenSettings? = nil, origins: [String] = [own, local],
        keeping folder: TemporaryFolder? = nil
    ) async throws -> ServiceFixture {
        try await ServiceFixture(
            limits: limits, tokens: tokens, origins: try origins.map { try #require(WebOrigin($0)) }, keeping: folder)
    }

    /// Asks as a browser does before a request that a page could not send by itself.
    private func preflight(
        _ service: ServiceFixture, _ method: String, _ path: String, from origin: String = own,
        fields: String? = "authorization,content-type"
    ) async throws -> ServiceFixture.Answer {
        var headers: HTTPFields = [.origin: origin, .accessControlRequestMethod: method]
        headers[.accessControlRequestHeaders] = fields
        return try await service.send(.options, path, key: "", headers: headers)
    }

    @Test func `a page of an allowed origin may ask without a credential, and read the answer`() async throws {
        let service = try await fixture()
        for origin in [Self.own, Self.local] {
            let asked = try await preflight(service, "GET", "/v1/products", from: origin)
            #expect(asked.status == 204 && asked.body.isEmpty)
            #expect(asked.headers[.accessControlAllowOrigin] == origin)
            #expect(asked.headers[.accessControlAllowMethods] == "GET")
            #expect(asked.headers[.accessControlAllowHeaders] == "authorization,content-type")
            #expect(asked.headers[.accessControlMaxAge] == "7200")
            #expect(asked.headers[.accessControlAllowCredentials] == nil)
            #expect(asked.headers[.vary]?.contains("Origin") == true)
            let answer = try await service.send(.get, "/v1/products", headers: [.origin: origin])
            #expect(answer.status == 200 && answer.headers[.accessControlAllowOrigin] == origin)
            #expect(answer.headers[values: .vary].contains("Origin"))
            #expect(answer.headers[.accessControlExposeHeaders]?.contains("Retry-After") == true)
            #expect(answer.headers[.accessControlAllowCredentials] == nil)
        }
    }

    @Test(arguments: [
        "null", "*", "https://shop.example.com.evil.example", "https://shop.example.com:8443",
        "http://shop.example.com",
        "https://SHOP.example.com", "https://shop.example.com, https://evil.example", "https://evil.example", "",
    ])
    func `another origin gets no permission, and its answers differ for caches`(_ origin: String) async throws {
        let service = try await fixture()
        let asked = try await preflight(service, "GET", "/v1/products", from: origin)
        #expect(asked.headers[.accessControlAllowOrigin] == nil && asked.headers[.accessControlAllowMethods] == nil)
        let answer = try await service.send(.get, "/v1/products", headers: [.origin: origin])
        #expect(answer.status == 200 && answer.headers[.accessControlAllowOrigin] == nil)
        #expect(answer.headers[values: .vary].contains("Origin"))
        // The same without an origin, as of a back end.
        #expect(try await service.send(.get, "/v1/products").headers[values: .vary].contains("Origin"))
    }

    @Test func `a page may read refusals: without a credential, beyond the rate limit, of a wrong body`() async throws {
        let folder = try TemporaryFolder()
        let issuer = try TestIssuer()
        var limits = RequestLimits()
        limits.perUser = 2
        let service = try await fixture(
            limits: limits, tokens: try issuer.settings(keptIn: folder), keeping: folder)
        let token = try issuer.token(at: service.shop.clock.now().secondsSince1970)
        let headers: HTTPFields = [.origin: Self.own]
        let unknown = try await service.send(.get, "/v1/me/items", key: "", headers: headers)
        #expect(unknown.status == 401)
        let wrong = try await service.send(.post, "/v1/me/transactions", body: "{", key: token, headers: headers)
        #expect(wrong.status == 400)
        _ = try await service.send(.get, "/v1/me/items", key: token, headers: headers)
        let limited = try await service.send(.get, "/v1/me/items", key: token, headers: headers)
        #expect(limited.status == 429 && limited.headers[.retryAfter] != nil)
        for answer in [unknown, wrong, limited] {
            #expect(answer.headers[.accessControlAllowOrigin] == Self.own)
            #expect(answer.headers[.accessControlExposeHeaders] != nil)
        }
    }

    @Test func `only the routes for apps are for pages`() async throws {
        let service = try await fixture()
        var counts = (open: 0, closed: 0)
        for operation in APIOperation.all {
            let path = operation.path.replacing(/\{[a-z]+\}/, with: "x")
            let asked = try await preflight(service, operation.method.rawValue, path)
            let isAllowed = asked.headers[.accessControlAllowOrigin] == Self.own
            #expect(isAllowed == operation.isForApps, "\(operation.method) \(operation.path)")
            if isAllowed { counts.open += 1 } else { counts.closed += 1 }
        }
        #expect(counts.open > 20 && counts.closed > 40)
        for (method, path) in [
            ("GET", "/v1/users/x/items"), ("POST", "/v1/users/x/grants"), ("GET", "/console"),
            ("POST", "/console/login"),
            ("GET", "/metrics"), ("POST", "/v1/notifications/apple"), ("POST", "/v1/notifications/google"),
            ("GET", "/v1/unknown"), ("PATCH", "/v1/products"), ("x y", "/v1/products"),
        ] {
            let asked = try await preflight(service, method, path)
            #expect(asked.headers[.accessControlAllowOrigin] == nil, "\(method) \(path)")
            #expect(asked.status >= 400)
        }
        // The answers of such a route have no permission either.
        let answer = try await service.send(.get, "/v1/users/x/items", headers: [.origin: Self.own])
        #expect(answer.headers[.accessControlAllowOrigin] == nil)
    }

    @Test func `a browser may add fields that no route reads, and no other text`() async throws {
        let service = try await fixture()
        let asked = try await preflight(
            service, "POST", "/v1/me/transactions", fields: "x-sdk-version, idempotency-key")
        #expect(asked.headers[.accessControlAllowHeaders] == "x-sdk-version, idempotency-key")
        for fields in ["a b", String(repeating: "a", count: 1025), ""] + [nil] as [String?] {
            let asked = try await preflight(service, "POST", "/v1/me/transactions", fields: fields)
            #expect(asked.headers[.accessControlAllowHeaders]?.hasPrefix("Authorization, ") == true)
        }
        // A request without the method that follows is no preflight.
        let other = try await service.send(.options, "/v1/products", key: "", headers: [.origin: Self.own])
        #expect(other.status == 405)
    }

    @Test func `without the setting, no answer has a permission`() async throws {
        let service = try await fixture(origins: [])
        let asked = try await preflight(service, "GET", "/v1/products")
        #expect(asked.status == 405 && asked.headers[.accessControlAllowOrigin] == nil)
        let answer = try await service.send(.get, "/v1/products", headers: [.origin: Self.own])
        #expect(answer.status == 200 && answer.headers[.accessControlAllowOrigin] == nil)
        #expect(!answer.headers[values: .vary].contains("Origin"))
    }

    @Test(arguments: [
        ("https://shop.example.com", true), ("http://localhost:3000", true), ("http://127.0.0.1:8080", true),
        ("http://[::1]:8080", true), ("https://shop.example.com:8443", true), ("capacitor://localhost", true),
        ("https://xn--bcher-kva.example", true), ("*", false), ("null", false), ("", false),
        ("shop.example.com", false),
        ("https://", false), ("https://shop.example.com/", false), ("https://shop.example.com/path", false),
        ("https://shop.example.com:443", false), ("http://localhost:80", false), ("https://Shop.example.com", false),
        ("HTTPS://shop.example.com", false), ("https://a@shop.example.com", false), ("https://*.example.com", false),
        ("https://shop.example.com:", false), ("https://shop.example.com:080", false), ("https://[::1", false),
        ("https://shop.example.com:123456", false), ("https://büch.example", false), ("file://", false),
        ("https://shop.example.com https://b.example", false),
    ])
    func `an origin has the form in which browsers send it`(_ text: String, _ isOrigin: Bool) {
        #expect((WebOrigin(text) != nil) == isOrigin)
    }
}
