import Commerce
import Device
import Entitlements
import Foundation
import Hummingbird
import HummingbirdTesting
import Ledger
import Server
import TestSupport
import Testing

@Suite struct ServiceRoutesTests {
    let shop: TestShop
    let routes: ServiceRoutes
    static let key = "a key for tests"

    init() throws {
        shop = try TestShop()
        routes = ServiceRoutes(
            service: EntitlementService(
                catalog: shop.catalog, verifier: try shop.verifier(),
                ledger: try SQLiteLedger(file: shop.folder.file("ledger.sqlite")), clock: shop.clock),
            key: APIKey(Self.key))
    }

    private func buy(_ product: String) throws -> PaymentTransaction {
        _ = try shop.store.add(Payment(productIdentifier: "com.memolease.sesac1.\(product)"), account: "alice")
        return try #require(try shop.store.process(account: "alice").first)
    }

    struct Answer: Sendable {
        let status: Int
        let contentType: String?
        let body: Data

        func decoded<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
            try JSONDecoder().decode(type, from: body)
        }

        var code: String? {
            (try? decoded([String: JSON].self))?["code"].flatMap { if case .text(let text) = $0 { text } else { nil } }
        }
    }

    enum JSON: Decodable {
        case text(String)
        case other

        init(from decoder: any Decoder) throws {
            self = (try? decoder.singleValueContainer().decode(String.self)).map { .text($0) } ?? .other
        }
    }

    private func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        body: String? = nil,
        key: String? = key,
        over framework: TestingSetup = .router
    ) async throws -> Answer {
        try await Application(router: routes.router()).test(framework) { client in
            var headers = HTTPFields()
            if let key { headers[.authorization] = "Bearer \(key)" }
            return try await client.execute(
                uri: path, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) }
            ) { response in
                Answer(
                    status: response.status.code, contentType: response.headers[.contentType],
                    body: Data(response.body.readableBytesView))
            }
        }
    }

    @Test(arguments: [TestingSetup.router, .live])
    func aReceiptGoesInAndItemsComeOut(framework: TestingSetup) async throws {
        _ = try buy("sprout1")
        let body = "{\"receipt\":\"\(try shop.store.receipt(account: "alice"))\"}"
        let first = try await send(.post, "/v1/users/alice/receipts", body: body, over: framework)
        #expect(first.status == 200)
        #expect(try first.decoded(Redemption.self).outcome == .granted)
        let second = try await send(.post, "/v1/users/alice/receipts", body: body, over: framework)
        #expect(try second.decoded(Redemption.self).outcome == .unchanged)
        let items = try await send(.get, "/v1/users/alice/items", over: framework)
        #expect(
            try items.decoded([String: [Item]].self)["items"]?.contains(Item(collection: "sprout", number: 1)) == true)
        let other = try await send(.post, "/v1/users/bob/receipts", body: body, over: framework)
        #expect(other.status == 409)
        #expect(other.contentType == "application/problem+json")
        #expect(other.code == "ownedByAnotherUser")
    }

    @Test func aSignedTransactionGoesIn() async throws {
        let bought = try buy("sprout1")
        let body = "{\"signedTransaction\":\"\(try shop.store.signedTransaction(bought.identifier))\",\"more\":1}"
        let answer = try await send(.post, "/v1/users/alice/transactions", body: body)
        #expect(try answer.decoded(Redemption.self).outcome == .granted)
    }

    @Test(arguments: [String?.none, "", "another key", "a key for test", "a key for testsx"])
    func withoutTheKeyNobodyIsAnswered(key: String?) async throws {
        for (method, path) in [(HTTPRequest.Method.get, "items"), (.post, "receipts"), (.post, "transactions")] {
            let answer = try await send(method, "/v1/users/alice/\(path)", body: "{}", key: key)
            #expect(answer.status == 401)
            #expect(answer.code == "unauthenticated")
        }
    }

    @Test(arguments: [
        ("", 400, "bodyInvalid"), ("[]", 400, "bodyInvalid"), ("{}", 400, "bodyInvalid"),
        ("{\"receipt\":1}", 400, "bodyInvalid"),
        ("{\"receipt\":\"a\",\"receipt\":\"b\"}", 400, "bodyInvalid"),
        ("{\"receipt\":\"hello\"}", 422, "encodingInvalid"),
        ("{\"receipt\":\"MAA=\"}", 422, "containerInvalid"),
    ])
    func whatIsWrongIsToldInAProblemDocument(body: String, status: Int, code: String) async throws {
        let answer = try await send(.post, "/v1/users/alice/receipts", body: body)
        #expect(answer.status == status)
        #expect(answer.code == code)
        #expect(answer.contentType == "application/problem+json")
    }

    @Test func anythingElseIsAProblemDocumentToo() async throws {
        #expect(try await send(.get, "/v1/users/a%20b/items").code == "userInvalid")
        #expect(try await send(.get, "/v1/users/%FF/items").code == "userInvalid")
        let missing = try await send(.get, "/nothing")
        #expect(missing.status == 404)
        #expect(missing.code == "httpError")
        let large = "{\"receipt\":\"\(String(repeating: "A", count: 2_000_000))\"}"
        #expect(try await send(.post, "/v1/users/alice/receipts", body: large).status == 413)
        #expect(try await send(.get, "/health/live", key: nil).status == 204)
    }

    @Test(arguments: ["alice", "김새싹", "a/b", "50%", "a?b#c"])
    func theDeviceReachesTheServiceOverTheSocket(name: String) async throws {
        let user = try #require(User(name: name))
        _ = try buy("sprout1")
        let receipt = try shop.store.receipt(account: "alice")
        let redemption = try await LoopbackServer.run(routes) { url in
            let service = HTTPServiceConnection(url: url, user: user, key: Self.key)
            _ = try await service.redeem(.receipt(receipt))
            #expect(try await service.items().count == 3)
            return try await service.redeem(.receipt(receipt))
        }
        #expect(redemption.outcome == .unchanged)
    }

    @Test func theDeviceTellsARefusalFromSilence() async throws {
        let user = try #require(User(name: "alice"))
        try await LoopbackServer.run(routes) { url in
            await #expect {
                try await HTTPServiceConnection(url: url, user: user, key: Self.key).redeem(.receipt("hello"))
            } throws: { error in
                (error as? ServiceRefusal)?.code == "encodingInvalid"
            }
            let silent = try #require(URL(string: "http://127.0.0.1:1"))
            await #expect(throws: ServiceUnreachable.self) {
                try await HTTPServiceConnection(url: silent, user: user, key: Self.key).items()
            }
        }
    }
}
