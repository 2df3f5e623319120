import Foundation
import HTTPSupport
import HTTPTypes
import Ledger
import Proofs
import Service
import TestSupport
import Testing

/// Requests that only read, and the ledger before and after them.
@Suite struct ReadingRoutesTests {
    private let fixture: ServiceFixture
    private let issuer: TestIssuer

    init() async throws {
        issuer = try TestIssuer()
        let folder = try TemporaryFolder()
        fixture = try await ServiceFixture(tokens: issuer.settings(keptIn: folder), keeping: folder)
    }

    private func token(of user: String) throws -> String {
        try issuer.token(for: user, at: fixture.shop.clock.now().millisecondsSince1970 / 1000)
    }

    /// All rows of the ledger.
    private func content() throws -> Data {
        var lines = Data()
        _ = try fixture.ledger.export { lines.append($0) }
        return lines
    }

    private func send(
        _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil, key: String? = nil
    ) async throws {
        let answer = try await fixture.send(method, path, body: body, key: key)
        try #require(answer.status < 300, "\(method) \(path): \(String(decoding: answer.body, as: UTF8.self))")
    }

    /// A user of the back end, and one with a token, each with a purchase.
    private func populate() async throws {
        for (account, path, key) in [
            ("a", "/v1/users/alice/transactions", nil), ("b", "/v1/me/transactions", try token(of: "alice")),
        ] {
            let bought = try fixture.buy("sprout1", account: account)
            let proof = try fixture.shop.store.signedTransaction(bought.identifier)
            try await send(.post, path, "{\"signedTransaction\":\"\(proof)\"}", key: key)
        }
        try await send(.post, "/v1/webhooks", #"{"url":"https://a.example/hooks"}"#)
        try await fixture.figures.rollUp()
    }

    private static func paths(_ template: String, of user: String) -> String {
        let values = [
            "user": user, "product": "com.memolease.sesac1.sprout1", "collection": "sprout", "number": "1",
            "figure": "units", "export": "transactions",
        ]
        return template.replacing(/\{([a-z]+)\}/) { values[String($0.1)] ?? "x" }
    }

    @Test func `no question writes, about whomever and from whomever it is`() async throws {
        try await populate()
        let before = try content()
        #expect(before.count > 1000)
        let (known, unknown) = (try token(of: "alice"), try token(of: "nobody"))
        let idToken = try #require(HTTPField.Name("idtoken"))
        var count = 0
        for operation in fixture.routes.operations where operation.hasPrefix("GET ") {
            for user in ["alice", "nobody"] {
                for key in [fixture.key, known, unknown, ""] {
                    // A stream of events does not end.
                    let method: HTTPRequest.Method = operation == "GET /v1/me/events" ? .head : .get
                    let path = Self.paths(String(operation.dropFirst(4)), of: user)
                    for query in ["", "?issuer=customer", "?search=ali"] {
                        let answer = try await fixture.send(
                            method, path + query, key: key, headers: key.isEmpty ? [:] : [idToken: key])
                        // The ledger refuses a write, which is a failure of the service.
                        #expect(answer.code != "internalError", "\(operation) \(user)")
                        count += answer.status < 300 ? 1 : 0
                    }
                }
            }
            #expect(try content() == before, "\(operation)")
        }
        #expect(count > 100)
    }

    @Test func `the account token of a user is made by a request of its own`() async throws {
        let token = try token(of: "carol")
        let before = try content()
        #expect(try await fixture.send(.get, "/v1/me", key: token).code == "userNotFound")
        #expect(try await fixture.send(.get, "/v1/users/carol").code == "userNotFound")
        #expect(try content() == before)
        let grant = #"{"item":{"collection":"sprout","number":2},"reason":"a prize"}"#
        try await send(.post, "/v1/users/carol/grants", grant)
        // A known user whose token nobody has asked for.
        let known = try await fixture.send(.get, "/v1/users/carol")
        #expect(known.status == 200 && known.body == Data("{}".utf8))
        try await send(.put, "/v1/users/carol/account-token")
        let made = try content()
        try await send(.put, "/v1/users/carol/account-token")
        #expect(try content() == made)
        let read = try await fixture.send(.get, "/v1/users/carol").decoded(AppAccountTokenResource.self)
        #expect(UUID(uuidString: read.appAccountToken) != nil)
    }
}
