import AppStore
import HTTPSupport
import Proofs
import Service
import TestSupport
import Testing

/// The limits of texts and bodies, and the names of fields.
@Suite struct BodyFieldTests {
    private static let marks = String(repeating: "\u{301}", count: 150)

    struct Case: Sendable, CustomTestStringConvertible {
        let method: String
        let path: String
        let body: String
        var isUser = false
        let says: String

        var testDescription: String { "\(method) \(path) \(body.prefix(60))" }
    }

    @Test(arguments: [
        Case(
            method: "POST", path: "/v1/users/alice/grants",
            body: #"{"item":{"collection":"sprout","number":1},"reason":"x","endAt":"2027-01-31T00:00:00Z"}"#,
            says: #"The field /endAt is unknown. Did you mean "endsAt"?"#),
        Case(
            method: "POST", path: "/v1/users/alice/grants",
            body: #"{"item":{"colection":"sprout","number":1},"reason":"x"}"#,
            says: #"The field /item/colection is unknown. Did you mean "collection"?"#),
        Case(
            method: "POST", path: "/v1/users/alice/receipts", body: #"{"reciept":"x"}"#,
            says: #"Did you mean "receipt"?"#),
        Case(
            method: "PUT", path: "/v1/users/alice", body: #"{"appaccounttoken":"x"}"#,
            says: #"Did you mean "appAccountToken"?"#),
        Case(
            method: "PUT", path: "/v1/users/alice/grants/1/revocation", body: #"{"reason":"x","why":"y"}"#,
            says: "The field /why is unknown. The fields are reason."),
        Case(
            method: "POST", path: "/v1/webhooks", body: #"{"uri":"https://shop.example"}"#,
            says: #"Did you mean "url"?"#),
        Case(
            method: "POST", path: "/v1/accounts", body: #"{"email":"a@b.example","pasword":"x"}"#,
            says: #"Did you mean "password"?"#),
        Case(
            method: "POST", path: "/v1/users/alice/balances/seeds/spendings", body: #"{"ammount":1,"reason":"x"}"#,
            says: #"Did you mean "amount"?"#),
        Case(
            method: "POST", path: "/v1/users/alice/grants",
            body: "{\"item\":{\"collection\":\"a\(marks)\",\"number\":1},\"reason\":\"x\"}",
            says: "The field /item/collection must be a string of at most 256 bytes, without NUL."),
        Case(
            method: "POST", path: "/v1/users/alice/grants",
            body: #"{"item":{"collection":"a\u0000","number":1},"reason":"x"}"#, says: "without NUL"),
        Case(
            method: "POST", path: "/v1/users/alice/grants",
            body: "{\"item\":{\"collection\":\"sprout\",\"number\":1},\"reason\":\"x\",\"endsAt\":\"\(marks)\"}",
            says: "The field /endsAt must be an RFC 3339 date"),
    ])
    func `a field that is unknown or too long is refused by its name`(_ test: Case) async throws {
        let fixture = try await ServiceFixture()
        let answer = try await fixture.send(
            .init(test.method) ?? .get, test.path, body: test.body, key: test.path == "/v1/accounts" ? "" : nil)
        #expect(answer.status == 400)
        #expect(answer.code == "bodyInvalid")
        let detail = try answer.decoded(ProblemResource.self).detail
        #expect(detail.contains(test.says))
        #expect(detail.utf8.count < 400)
    }

    @Test func `a body of another route than a proof's has at most 16 KB`() async throws {
        let fixture = try await ServiceFixture()
        let reason = String(repeating: "x", count: 17_000)
        let item = #""item":{"collection":"sprout","number":1}"#
        let answer = try await fixture.send(
            .post, "/v1/users/alice/grants", body: "{\(item),\"reason\":\"\(reason)\"}")
        #expect(answer.status == 413)
        #expect(answer.code == "bodyTooLarge")
        let proof = try await fixture.send(.post, "/v1/users/alice/receipts", body: "{\"receipt\":\"\(reason)\"}")
        #expect(proof.code == "encodingInvalid")
    }

    @Test(arguments: [
        "/v1/users/alice/items?issuer=%00", "/v1/users/alice/export?issuer=%00", "/v1/users/alice/export?issuer=a%00",
        "/v1/products?collection=%00", "/v1/products?search=\(String(repeating: "%CC%81", count: 300))",
        "/v1/products?sort=\(String(repeating: "%CC%81", count: 300))",
        "/v1/products?cursor=\(String(repeating: "x", count: 2000))",
        "/v1/users/alice/export?issuer=\(String(repeating: "x", count: 300))",
    ])
    func `a query parameter that is too long or has a NUL is refused`(path: String) async throws {
        let answer = try await ServiceFixture().send(.get, path)
        #expect(answer.status == 400)
        #expect(answer.code == "parameterInvalid")
    }

    @Test(arguments: [
        ("GET /v1/products?limit=3", #"The query parameter limit is unknown. Did you mean "pageSize"? The parameters"#),
        ("GET /v1/products?page_size=3", #"Did you mean "pageSize"?"#),
        ("GET /v1/products?colection=sprout", #"Did you mean "collection"?"#),
        (
            "GET /v1/users/alice/transactions?isuer=till",
            #"Did you mean "issuer"? The parameters are issuer, app, store, pageSize, cursor."#
        ),
        ("POST /v1/users/alice/grants?Issuer=till", #"Did you mean "issuer"? The parameters are issuer."#),
        ("GET /v1/unclaimed?app=com.memolease.sesac1&serach=1", #"Did you mean "search"?"#),
        ("GET /v1/catalog/changes?producct=x", #"Did you mean "product"?"#),
        ("GET /v1/figures?by=day", "The query parameter by is unknown. The path has no parameters."),
        ("GET /v1/exports/events?since=2027-01-01", "The parameters are format, pageSize, cursor, app."),
        ("GET /openapi.json?\(String(repeating: "x", count: 4000))", "The query parameter xxx"),
    ])
    func `a query parameter that the route does not have is refused with the nearest name`(
        _ request: String, says: String
    ) async throws {
        let parts = request.split(separator: " ")
        let answer = try await ServiceFixture().send(.init(String(parts[0])) ?? .get, String(parts[1]), body: nil)
        #expect(answer.status == 400)
        #expect(answer.code == "parameterInvalid")
        let detail = try answer.decoded(ProblemResource.self).detail
        #expect(detail.contains(says))
        #expect(detail.utf8.count < 400)
    }

    @Test func `probes, and the routes that other services name, ignore query parameters that they do not have`()
        async throws
    {
        let fixture = try await ServiceFixture()
        let paths = [
            "/health/live?x=1", "/health/ready?x=1", "/metrics?module=till", "/v1/products?", "/v1/products?&",
        ]
        for path in paths {
            #expect(try await fixture.send(.get, path).status < 300, "\(path)")
        }
        let notification = try await fixture.send(.post, "/v1/notifications/apple?token=x", body: "{}", key: "")
        #expect(notification.code == "bodyInvalid")
    }

    @Test func `a caller without a key learns nothing of a route's parameters`() async throws {
        let answer = try await ServiceFixture().send(.get, "/v1/products?limit=3", key: "")
        #expect(answer.status == 401)
    }

    @Test func `a path segment that is too long is not found`() async throws {
        let long = String(repeating: "%CC%81", count: 200)
        for path in ["/v1/products/\(long)", "/v1/pictures/\(long)/1"] {
            #expect(try await ServiceFixture().send(.get, path).status == 404)
        }
    }
}
