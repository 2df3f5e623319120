import AppStore
import Catalog
import Entitlements
import Features
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// Balances of consumables, over HTTP.
@Suite struct BalanceRoutesTests {
    let garden: TestGarden
    let service: EntitlementService
    let routes: ServiceRoutes
    let keys: APIKeys

    init() throws {
        garden = try TestGarden()
        let ledger = try Ledger(file: garden.folder.file("ledger.sqlite"))
        service = EntitlementService(
            apps: Apps(App(garden.catalog)), verifier: try garden.verifier(), ledger: ledger,
            clock: garden.clock)
        keys = ledger.apiKeys(clock: garden.clock)
        routes = ServiceRoutes(Till(service, clock: garden.clock), RouteSettings(.apiKeys(keys)))
    }

    private struct Answer: JSONReadable {
        let status: Int
        let jsonData: Data
        let isReplayed: Bool

        /// The code of a problem document; nil for another answer.
        var code: String? { try? decoded(ProblemResource.self).code }
    }

    private func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: String? = nil,
        scopes: Set<APIKeyScope> = [.read, .spend],
        key: String? = nil,
        idempotencyKey: String? = nil
    ) async throws -> Answer {
        let made = try await keys.make(name: "tests", scopes: scopes).key
        let key = key ?? made
        var headers: HTTPFields = [.authorization: "Bearer \(key)"]
        if let idempotencyKey, let name = HTTPField.Name("Idempotency-Key") { headers[name] = idempotencyKey }
        let answer = try await Application(router: routes.router()).test(.router) { [headers] client in
            try await client.executeRequest(
                uri: "/v1/users/alice/balances" + path, method: method, headers: headers,
                body: body.map { ByteBuffer(string: $0) })
        }
        let isReplayed = HTTPField.Name("Idempotent-Replayed").flatMap { answer.headers[$0] } == "true"
        return Answer(
            status: answer.status.code, jsonData: Data(answer.body.readableBytesView), isReplayed: isReplayed)
    }

    private func buySeeds(_ quantity: Int) async throws {
        let alice = try #require(User(name: "alice"))
        let bought = try garden.buy("garden.seeds", quantity: quantity)
        let proof = Array(try garden.store.signedTransaction(bought.identifier).utf8)
        #expect(try await service.redeem(proof, for: alice).outcome == .granted)
    }

    private func amount() async throws -> Int? {
        let list = try await send(.get, "").decoded(List<Credit>.self)
        return list.elements.first { $0.balance == "seeds" }?.amount
    }

    @Test func `a balance is spent once for each idempotency key`() async throws {
        #expect(try await amount() == 0)
        try await buySeeds(2)
        #expect(try await amount() == 20)
        let key = try await keys.make(name: "shop", scopes: [.spend]).key
        let body = #"{"amount":15,"reason":"a bed of roses"}"#
        let first = try await send(.post, "/seeds/spendings", body, key: key, idempotencyKey: "one")
        #expect(first.status == 201)
        let spending = try first.decoded(SpendingResource.self)
        #expect(spending.left == 5)
        let again = try await send(.post, "/seeds/spendings", body, key: key, idempotencyKey: "one")
        #expect(again.status == 201)
        #expect(again.isReplayed)
        #expect(try again.decoded(SpendingResource.self).spendingId == spending.spendingId)
        #expect(try await amount() == 5)
        // A spending above the balance is refused, but not permanently. The same request succeeds once the balance suffices.
        let more = try await send(.post, "/seeds/spendings", body, key: key, idempotencyKey: "two")
        #expect(more.status == 409)
        #expect(more.code == "balanceTooLow")
        try await buySeeds(1)
        #expect(try await send(.post, "/seeds/spendings", body, key: key, idempotencyKey: "two").status == 201)
        #expect(try await amount() == 0)
    }

    @Test func `a spending is made once, also under another API key; another body is a conflict`() async throws {
        try await buySeeds(2)
        let body = #"{"amount":15,"reason":"a bed of roses"}"#
        let first = try await send(.post, "/seeds/spendings", body, idempotencyKey: "one")
        #expect(first.status == 201)
        garden.clock.advance(milliseconds: 3 * 86_400_000)
        let again = try await send(.post, "/seeds/spendings", body, idempotencyKey: "one")
        #expect(again.status == 201)
        #expect(again.isReplayed)
        #expect(try again.decoded(JSONContent.self) == first.decoded(JSONContent.self))
        let other = try await send(
            .post, "/seeds/spendings", #"{"amount":1,"reason":"a rose"}"#, idempotencyKey: "one")
        #expect(other.status == 422)
        #expect(other.code == "idempotencyKeyReused")
        #expect(try await amount() == 5)
    }

    @Test func `spendings and additions name the API key that made them, also after the key was revoked`() async throws
    {
        let (desk, shop) = (
            try await keys.make(name: "support desk", scopes: [.grant]),
            try await keys.make(name: "shop", scopes: [.spend])
        )
        let added = try await send(.post, "/seeds/additions", #"{"amount":5,"reason":"Sorry"}"#, key: desk.key)
            .decoded(BalanceAdditionResource.self)
        #expect((added.addedBy, added.addedByName) == (desk.record.identifier, "support desk"))
        let body = #"{"amount":5,"reason":"a rose"}"#
        let spent = try await send(.post, "/seeds/spendings", body, key: shop.key, idempotencyKey: "one")
            .decoded(SpendingResource.self)
        #expect((spent.spentBy, spent.spentByName) == (shop.record.identifier, "shop"))
        #expect(try await keys.revoke(shop.record.identifier))
        // Another key repeats the request. The answer names the key of the first one.
        let again = try await send(.post, "/seeds/spendings", body, idempotencyKey: "one")
        #expect(again.isReplayed)
        let repeated = try again.decoded(SpendingResource.self)
        #expect((repeated.spentBy, repeated.spentByName) == (shop.record.identifier, "shop"))
    }

    @Test func `concurrent spendings never exceed the balance`() async throws {
        try await buySeeds(5)
        let key = try await keys.make(name: "shop", scopes: [.spend]).key
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    try await send(.post, "/seeds/spendings", #"{"amount":7,"reason":"sown"}"#, key: key).status
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.count { $0 == 201 } == 7)
        #expect(statuses.count { $0 == 409 } == 13)
        #expect(try await amount() == 1)
    }

    @Test(
        arguments: [
            ("/gold/spendings", #"{"amount":1,"reason":"r"}"#, [APIKeyScope.spend], 404, "balanceUnknown"),
            ("/seeds/spendings", #"{"amount":1,"reason":"r"}"#, [.spend], 409, "balanceTooLow"),
            ("/seeds/spendings", #"{"amount":0,"reason":"r"}"#, [.spend], 400, "bodyInvalid"),
            ("/seeds/spendings", #"{"amount":-1,"reason":"r"}"#, [.spend], 400, "bodyInvalid"),
            ("/seeds/spendings", #"{"amount":1000000001,"reason":"r"}"#, [.spend], 400, "bodyInvalid"),
            ("/seeds/spendings", #"{"amount":1.5,"reason":"r"}"#, [.spend], 400, "bodyInvalid"),
            ("/seeds/spendings", #"{"amount":1,"reason":""}"#, [.spend], 400, "bodyInvalid"),
            ("/seeds/spendings", #"{"amount":1}"#, [.spend], 400, "bodyInvalid"),
            ("/seeds/spendings", #"{"amount":1,"reason":"r"}"#, [.read, .redeem, .grant], 403, "scopeMissing"),
        ] as [(String, String, Set<APIKeyScope>, Int, String)])
    func `an invalid spending is refused`(
        path: String,
        body: String,
        scopes: Set<APIKeyScope>,
        status: Int,
        code: String
    ) async throws {
        let answer = try await send(.post, path, body, scopes: scopes)
        #expect(answer.status == status)
        #expect(answer.code == code)
    }

    @Test func `the team adds to a balance with a reason, once for each key`() async throws {
        func add(_ body: String, to balance: String = "seeds", key: String? = nil) async throws -> Answer {
            try await send(.post, "/\(balance)/additions", body, scopes: [.grant], key: key, idempotencyKey: "a-1")
        }
        let key = try await keys.make(name: "desk", scopes: [.grant]).key
        let body = #"{"amount":5,"reason":"Sorry"}"#
        let first = try await add(body, key: key)
        #expect(first.status == 201)
        #expect(try first.decoded(BalanceAdditionResource.self).amount == 5)
        let second = try await add(body, key: key)
        #expect(second.isReplayed)
        #expect(second.jsonData == first.jsonData)
        let balances = try await send(.get, "").decoded(List<Credit>.self).elements
        #expect(balances.first { $0.balance == "seeds" }?.amount == 5)
        #expect(try await send(.post, "/seeds/spendings", #"{"amount":5,"reason":"Tree"}"#).status == 201)
        #expect(try await add(body, to: "pebbles").code == "balanceUnknown")
        #expect(try await send(.post, "/seeds/additions", body).code == "scopeMissing")
        #expect(try await add(#"{"amount":0,"reason":"x"}"#).code == "bodyInvalid")
    }
}
