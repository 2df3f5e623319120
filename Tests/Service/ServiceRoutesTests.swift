import AppStore
import Foundation
import HTTPSupport
import Hummingbird
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

@Suite struct ServiceRoutesTests {
    let fixture: ServiceFixture

    init() async throws {
        fixture = try await ServiceFixture()
    }

    private func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        body: String? = nil,
        over framework: TestingSetup = .router
    ) async throws -> ServiceFixture.Answer {
        try await fixture.send(method, path, body: body, over: framework)
    }

    @Test(arguments: [TestingSetup.router, .live])
    func `a receipt is redeemed, and the items are returned`(framework: TestingSetup) async throws {
        _ = try fixture.buy("sprout1")
        let body = "{\"receipt\":\"\(try fixture.shop.store.receipt(account: "alice"))\"}"
        let first = try await send(.post, "/v1/users/alice/receipts", body: body, over: framework)
        #expect(first.status == 200)
        #expect(try first.decoded(Redemption.self).outcome == .granted)
        let second = try await send(.post, "/v1/users/alice/receipts", body: body, over: framework)
        #expect(try second.decoded(Redemption.self).outcome == .unchanged)
        let items = try await send(.get, "/v1/users/alice/items", over: framework)
        #expect(
            try items.decoded(List<OwnedItemResource>.self).elements.map(\.item).contains(
                Item(collection: "sprout", number: 1)))
        let other = try await send(.post, "/v1/users/bob/receipts", body: body, over: framework)
        #expect(other.status == 409)
        #expect(other.contentType == "application/problem+json")
        #expect(other.code == "ownedByAnotherUser")
    }

    @Test func `a signed transaction is redeemed`() async throws {
        let bought = try fixture.buy("sprout1")
        let body =
            "{\"signedTransaction\":\"\(try fixture.shop.store.signedTransaction(bought.identifier))\"}"
        let answer = try await send(.post, "/v1/users/alice/transactions", body: body)
        #expect(try answer.decoded(Redemption.self).outcome == .granted)
    }

    @Test(arguments: [
        ("", 400, "bodyInvalid"), ("[]", 400, "bodyInvalid"), ("{}", 400, "bodyInvalid"),
        ("{\"receipt\":1}", 400, "bodyInvalid"),
        ("{\"receipt\":\"a\",\"receipt\":\"b\"}", 400, "bodyInvalid"),
        ("{\"receipt\":\"hello\"}", 422, "encodingInvalid"),
        ("{\"receipt\":\"MAA=\"}", 422, "containerInvalid"),
    ])
    func `an invalid request gets a problem document`(body: String, status: Int, code: String) async throws {
        let answer = try await send(.post, "/v1/users/alice/receipts", body: body)
        #expect(answer.status == status)
        #expect(answer.code == code)
        #expect(answer.contentType == "application/problem+json")
    }

    @Test func `unknown paths, methods and users get a problem document`() async throws {
        #expect(try await send(.get, "/v1/users/a%20b/items").code == "userInvalid")
        #expect(try await send(.get, "/v1/users/%FF/items").code == "userInvalid")
        let missing = try await send(.get, "/nothing")
        #expect(missing.status == 404)
        #expect(missing.code == "notFound")
        let large = "{\"receipt\":\"\(String(repeating: "A", count: 12_000_000))\"}"
        let tooLarge = try await send(.post, "/v1/users/alice/receipts", body: large)
        #expect(tooLarge.status == 413)
        #expect(tooLarge.code == "bodyTooLarge")
    }

    @Test(arguments: ["alice", "김새싹", "a/b", "50%", "a?b#c"])
    func `the device reaches the service over a socket`(name: String) async throws {
        let user = try #require(User(name: name))
        let fixture = fixture
        _ = try fixture.buy("sprout1")
        let receipt = try fixture.shop.store.receipt(account: "alice")
        let redemption = try await LoopbackServer.run(fixture.routes.router) { url in
            let service = HTTPServiceConnection(client: ServiceClient(url: url, credential: fixture.key), user: user)
            _ = try await service.redeem(.receipt(receipt))
            #expect(try await service.possessions().items.count == 3)
            return try await service.redeem(.receipt(receipt))
        }
        #expect(redemption.outcome == .unchanged)
    }

    @Test func `the device distinguishes a refusal from no answer`() async throws {
        let user = try #require(User(name: "alice"))
        try await LoopbackServer.run(fixture.routes.router) { url in
            await #expect {
                try await HTTPServiceConnection(client: ServiceClient(url: url, credential: fixture.key), user: user)
                    .redeem(.receipt("hello"))
            } throws: { error in
                (error as? ServiceRefusal)?.code == "encodingInvalid"
            }
            let silent = try #require(URL(string: "http://127.0.0.1:1"))
            await #expect(throws: ServiceUnreachable.self) {
                try await HTTPServiceConnection(client: ServiceClient(url: silent, credential: fixture.key), user: user)
                    .possessions()
            }
        }
    }
}
