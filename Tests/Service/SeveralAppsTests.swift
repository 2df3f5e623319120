import AppStore
import Catalog
import Entitlements
import Foundation
import HTTPSupport
import Hummingbird
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// A service that sells the seed's app and the garden.
@Suite struct SeveralAppsTests {
    let fixture: ServiceFixture
    let garden: TestGarden
    let issuer: TestIssuer

    static let seed = "com.memolease.sesac1"
    static let apps = "\(seed), \(TestGarden.bundleIdentifier)"

    init() async throws {
        garden = try TestGarden(start: ManualClock().now().rfc3339)
        issuer = try TestIssuer()
        let folder = try TemporaryFolder()
        let keys = folder.file("keys.json")
        try Data(TestIssuer.keySet([issuer.publicKey]).utf8).write(to: keys)
        fixture = try await ServiceFixture(
            selling: [App(garden.catalog)],
            tokens: TokenSettings(
                issuer: TestIssuer.issuer,
                audiences: [(TestIssuer.audience, Self.seed), ("everywhere", nil)],
                keys: .file(keys)), keeping: folder)
    }

    private func redeem(
        _ transaction: PaymentTransaction,
        of store: Store,
        for path: String = "users/alice",
        key: String? = nil
    ) async throws -> ServiceFixture.Answer {
        let signed = try store.signedTransaction(transaction.identifier)
        return try await fixture.send(
            .post, "/v1/\(path)/transactions", body: "{\"signedTransaction\":\"\(signed)\"}", key: key)
    }

    private func items(_ user: String = "alice") async throws -> [String] {
        let list = try await fixture.send(.get, "/v1/users/\(user)/items").decoded(List<OwnedItemResource>.self)
        return list.elements.map { "\($0.collection) \($0.number)" }
    }

    private func limitedKey(to app: String, _ scopes: Set<APIKeyScope> = Set(APIKeyScope.allCases)) async throws
        -> String
    {
        try await fixture.keys.make(name: app, scopes: scopes, app: app).key
    }

    @Test func `a user owns the purchases of each app`() async throws {
        #expect(try await items() == ["background 0", "bed 0", "sprout 0"])
        let sprout = try await redeem(try fixture.buy("sprout1"), of: fixture.shop.store)
        #expect(try sprout.decoded(Redemption.self).outcome == .granted)
        let gate = try await redeem(try garden.buy("garden.gate"), of: garden.store)
        #expect(try gate.decoded(Redemption.self).outcome == .granted)
        #expect(try await items() == ["background 0", "bed 0", "gate 1", "sprout 0", "sprout 1"])
        let transactions = try await fixture.send(.get, "/v1/users/alice/transactions")
            .decoded(List<TransactionResource>.self).elements
        #expect(transactions.map(\.bundleId) == [TestGarden.bundleIdentifier, Self.seed])
        let ofGarden = try await fixture.send(
            .get, "/v1/users/alice/transactions?app=\(TestGarden.bundleIdentifier)"
        ).decoded(List<TransactionResource>.self).elements
        #expect(ofGarden.map(\.productId) == ["garden.gate"])
        #expect(
            try await fixture.send(.get, "/v1/users/alice/transactions?app=com.example.unknown")
                .decoded(List<TransactionResource>.self).elements.isEmpty)
    }

    @Test func `a notification belongs to the app that it names`() async throws {
        let gate = try garden.buy("garden.gate")
        _ = try await redeem(gate, of: garden.store)
        try garden.store.refund(try #require(try garden.store.history(of: "alice").first).transactionIdentifier)
        let refund = try #require(try garden.store.notifications().last)
        let answer = try await fixture.send(
            .post, "/v1/notifications/apple", body: "{\"signedPayload\":\"\(refund.signedPayload)\"}", key: "")
        #expect(answer.status == 200)
        #expect(try await items() == ["background 0", "bed 0", "sprout 0"])
    }

    @Test func `a proof of a third app is refused`() async throws {
        let other = try TestGarden(start: ManualClock().now().rfc3339)
        let alone = try await ServiceFixture()
        let bought = try other.buy("garden.gate")
        let signed = try other.store.signedTransaction(bought.identifier)
        let answer = try await alone.send(
            .post, "/v1/users/alice/transactions", body: "{\"signedTransaction\":\"\(signed)\"}")
        #expect(answer.code == "bundleIdentifierMismatch")
    }

    @Test func `products are those of the app that the request names`() async throws {
        let unnamed = try await fixture.send(.get, "/v1/products")
        #expect(unnamed.status == 400)
        #expect(unnamed.code == "appRequired")
        let problem = try unnamed.decoded(ProblemResource.self)
        #expect(
            problem.detail == "The service sells several apps. Name one of \(Self.apps) in the query parameter app.")
        let products = try await fixture.send(.get, "/v1/products?app=\(TestGarden.bundleIdentifier)&pageSize=100")
            .decoded(List<ProductResource>.self).elements
        #expect(Set(products.map(\.productId)) == Set(garden.catalog.products.map(\.productIdentifier)))
        #expect(try await fixture.send(.get, "/v1/products/garden.gate?app=\(Self.seed)").code == "productNotFound")
        #expect(try await fixture.send(.get, "/v1/products?app=com.example.unknown").code == "parameterInvalid")
    }

    @Test func `a token for one app is limited to it`() async throws {
        let now = fixture.shop.clock.now().secondsSince1970
        let token = try issuer.token(at: now)
        let products = try await fixture.send(.get, "/v1/products?pageSize=100", key: token).decoded(
            List<ProductResource>.self)
        #expect(products.elements.map(\.productId).contains("\(Self.seed).sprout1"))
        let forbidden = try await fixture.send(
            .get, "/v1/products?app=\(TestGarden.bundleIdentifier)", key: token)
        #expect(forbidden.status == 403)
        #expect(forbidden.code == "appForbidden")
        let refused = try await redeem(try garden.buy("garden.gate"), of: garden.store, for: "me", key: token)
        #expect(refused.code == "bundleIdentifierMismatch")
        let granted = try await redeem(try fixture.buy("sprout1"), of: fixture.shop.store, for: "me", key: token)
        #expect(try granted.decoded(Redemption.self).outcome == .granted)
    }

    @Test func `a token for all apps redeems in each, and names an app for products`() async throws {
        let now = fixture.shop.clock.now().secondsSince1970
        let token = try issuer.token(at: now, claims: ["aud": .string("everywhere")])
        #expect(try await fixture.send(.get, "/v1/products", key: token).code == "appRequired")
        for (transaction, store) in [
            (try garden.buy("garden.gate"), garden.store), (try fixture.buy("sprout1"), fixture.shop.store),
        ] {
            let answer = try await redeem(transaction, of: store, for: "me", key: token)
            #expect(try answer.decoded(Redemption.self).outcome == .granted)
        }
    }

    @Test func `a key for one app is limited to it on every route`() async throws {
        let key = try await limitedKey(to: Self.seed)
        let gate = try garden.buy("garden.gate")
        #expect(try await redeem(gate, of: garden.store, key: key).code == "bundleIdentifierMismatch")
        let sold = try #require(gate.purchase).transactionIdentifier
        let signed = try garden.store.signedTransaction(gate.identifier)
        let verified = try await fixture.send(
            .post, "/v1/proofs/verify", body: "{\"proof\":\"\(signed)\"}", key: key)
        #expect(verified.code == "bundleIdentifierMismatch")
        _ = try await redeem(gate, of: garden.store)
        _ = try await redeem(try fixture.buy("sprout1"), of: fixture.shop.store)

        let seen = try await fixture.send(.get, "/v1/users/alice/transactions", key: key)
            .decoded(List<TransactionResource>.self).elements
        #expect(seen.map(\.bundleId) == [Self.seed])
        #expect(try await fixture.send(.get, "/v1/transactions/\(sold)", key: key).code == "transactionUnknown")
        #expect(try await fixture.send(.get, "/v1/transactions/\(sold)").status == 200)
        let revoked = try await fixture.send(
            .put, "/v1/users/alice/transactions/\(sold)/revocation", body: #"{"reason":"test"}"#, key: key)
        #expect(revoked.code == "transactionNotFound")
        #expect(try await fixture.send(.get, "/v1/catalog/products/garden.gate", key: key).code == "productNotFound")
        for path in [
            "/v1/catalog/products?app=\(TestGarden.bundleIdentifier)", "/v1/exports/customers", "/v1/exports/events",
            "/v1/figures/units?app=\(TestGarden.bundleIdentifier)",
        ] {
            let answer = try await fixture.send(.get, path, key: key)
            #expect(answer.status == 403, "\(path)")
            #expect(answer.code == "appForbidden", "\(path)")
        }
        let rows = try await fixture.send(.get, "/v1/exports/transactions?format=jsonl", key: key).body
        #expect(rows.split(separator: UInt8(ascii: "\n")).count == 1)
        let all = try await fixture.send(.get, "/v1/exports/transactions?format=jsonl").body
        #expect(all.split(separator: UInt8(ascii: "\n")).count == 2)
    }

    @Test func `each app has its own changes to its catalog`() async throws {
        let moon = #"{"type":"NonConsumable","displayPrice":"2500","collection":"moon","number":9}"#
        for app in [Self.seed, TestGarden.bundleIdentifier] {
            let created = try await fixture.send(.put, "/v1/catalog/products/moon?app=\(app)", body: moon)
            #expect(created.status == 201, "\(app)")
        }
        let consumable = #"{"type":"Consumable","displayPrice":"1","balance":"coins","amount":1}"#
        let conflict = try await fixture.send(
            .put, "/v1/catalog/products/garden.gate?app=\(Self.seed)", body: consumable)
        #expect(conflict.code == "productInvalid")
        let removed = try await fixture.send(.delete, "/v1/catalog/products/moon?app=\(Self.seed)")
        #expect(removed.status == 204)
        #expect(try await fixture.send(.get, "/v1/products/moon?app=\(Self.seed)").code == "productNotFound")
        #expect(
            try await fixture.send(.get, "/v1/products/moon?app=\(TestGarden.bundleIdentifier)").status == 200)
        let changes = try await fixture.send(.get, "/v1/catalog/changes?app=\(TestGarden.bundleIdentifier)")
            .decoded(List<CatalogChangeResource>.self)
        #expect(changes.elements.map(\.kind) == ["defined"])
        #expect(try await fixture.send(.put, "/v1/catalog/products/moon", body: moon).code == "appRequired")
    }

    @Test func `products of two apps may grant one item, and the team may give items of both`() async throws {
        let gate = #"{"type":"NonConsumable","displayPrice":"2500","collection":"gate","number":1}"#
        #expect(
            try await fixture.send(.put, "/v1/catalog/products/seed.gate?app=\(Self.seed)", body: gate).status == 201)
        for collection in ["gate", "sprout"] {
            let given = try await fixture.send(
                .post, "/v1/users/bob/grants",
                body: "{\"item\":{\"collection\":\"\(collection)\",\"number\":1},\"reason\":\"present\"}")
            #expect(given.status == 201)
        }
        #expect(try await items("bob") == ["background 0", "bed 0", "gate 1", "sprout 0", "sprout 1"])
    }

    @Test func `apps that one service cannot sell are refused`() throws {
        let seed = App(fixture.shop.catalog)
        #expect(throws: AppsError.empty) { try Apps([]) }
        #expect(throws: AppsError.bundleIdentifierRepeated(Self.seed)) { try Apps([seed, seed]) }
    }
}
