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

/// Signed purchases of Google Play, redeemed over HTTP beside those of the App Store.
@Suite struct GooglePlayRoutesTests {
    private static let appKey = Result { try PrivateKey.generateRSA() }

    let garden: TestGarden
    let service: EntitlementService
    let routes: ServiceRoutes
    let key: PrivateKey
    let apiKey: String

    init() async throws {
        garden = try TestGarden()
        key = try Self.appKey.get()
        let ledger = try Ledger(file: garden.folder.file("ledger.sqlite"))
        service = try Self.service(of: garden, over: ledger, rentingFilmFor: "P2D")
        let apiKeys = ledger.apiKeys(clock: garden.clock)
        apiKey = try await apiKeys.make(name: "tests", scopes: Set(APIKeyScope.allCases)).key
        routes = ServiceRoutes(Till(service, clock: garden.clock), RouteSettings(.apiKeys(apiKeys)))
    }

    /// The service whose catalog has a film, which Google Play only rents if a period is stated.
    private static func service(
        of garden: TestGarden, over ledger: Ledger, rentingFilmFor period: String?
    ) throws -> EntitlementService {
        let keys = [AppKey(packageName: TestGarden.bundleIdentifier, publicKey: try appKey.get().publicKey)]
        let anchors = try TrustAnchors(garden.store.rootCertificates.compactMap { try TrustAnchor($0) })
        var catalog = garden.catalog
        let rental = period.map { #","rentalPeriod":"\#($0)""# } ?? ""
        let film = #"{"type":"NonConsumable","displayPrice":"2","collection":"film","number":1\#(rental)}"#
        if case .object(let object) = try JSONParser.parse(Array(film.utf8)) {
            try catalog.define(ProductDefinition(object, of: "garden.film", currency: "USD"))
        }
        return EntitlementService(
            apps: Apps(App(catalog)),
            verifier: ProofVerifier(anchors: anchors, appKeys: keys, clock: garden.clock), ledger: ledger,
            clock: garden.clock, accepted: AcceptedOrigins([.googleProduction, .localSandbox]), keepsProofs: true)
    }

    private struct Answer: JSONReadable {
        let status: Int
        let jsonData: Data

        /// The code of a problem document; nil for another answer.
        var code: String? { try? decoded(ProblemResource.self).code }
    }

    private func send(_ method: HTTPRequest.Method, _ path: String, _ body: String? = nil) async throws -> Answer {
        let headers: HTTPFields = [.authorization: "Bearer \(apiKey)"]
        let answer = try await Application(router: routes.router()).test(.router) { client in
            try await client.executeRequest(
                uri: path, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) })
        }
        return Answer(status: answer.status.code, jsonData: Data(answer.body.readableBytesView))
    }

    private func redeem(_ purchase: TestPurchase, for user: String = "alice") async throws -> Answer {
        try await send(.post, "/v1/users/\(user)/transactions", purchase.text)
    }

    private func items(_ user: String = "alice") async throws -> [String] {
        try await send(.get, "/v1/users/\(user)/items").decoded(List<OwnedItemResource>.self).elements
            .map { "\($0.collection) \($0.number)" }
    }

    private func transactions(_ user: String = "alice") async throws -> [TransactionResource] {
        try await send(.get, "/v1/users/\(user)/transactions").decoded(List<TransactionResource>.self).elements
    }

    @Test func `a purchase is redeemed once, named by its token's digest, with its order as a fact`() async throws {
        let gate = try TestPurchase(of: "garden.gate", by: key)
        let first = try await redeem(gate).decoded(Redemption.self)
        #expect(first.outcome == .granted)
        let name = try await service.ledger.tokenNames.name(of: "aaaabbbbccccddddeeeeffff.AO-J1Oz_-")
        #expect(first.transactions.map(\.transactionId) == [name])
        #expect(first.items.contains(Item(collection: "gate", number: 1)))
        #expect(try await redeem(gate).decoded(Redemption.self).outcome == .unchanged)
        #expect(try await redeem(gate, for: "bob").code == "ownedByAnotherUser")
        let transaction = try #require(try await transactions().first)
        #expect(try await transactions().count == 1)
        #expect(transaction.origin == .googleProduction && transaction.bundleId == TestGarden.bundleIdentifier)
        #expect(transaction.originalTransactionId == transaction.transactionId)
        #expect(transaction.facts["orderId"] == .string("GPA.3345-1111-2222-33333"))
        #expect(transaction.purchaseDate == "2023-11-14T22:13:20Z")
    }

    @Test func `two statements about one purchase are one transaction`() async throws {
        for acknowledged in [false, true] {
            let gate = try TestPurchase(
                of: "garden.gate", by: key, changing: [("acknowledged", .bool(acknowledged)), ("orderId", nil)])
            #expect(try await redeem(gate).status == 200)
        }
        #expect(try await transactions().count == 1)
    }

    @Test(arguments: [(1, true), (3, false)] as [(Int64, Bool)])
    func `a rental ends by the catalog, which states the period that no signature does`(
        daysAgo: Int64, isOwned: Bool
    ) async throws {
        let start = garden.clock.now().adding(days: -daysAgo)
        let film = try TestPurchase(
            of: "garden.film", by: key, changing: [("purchaseTime", .integer(start.millisecondsSince1970))])
        #expect(try await redeem(film).status == 200)
        #expect(try await items().contains("film 1") == isOwned)
        let rented = try #require(try await transactions().first)
        #expect(rented.expiresDate == start.adding(days: 2).rfc3339 && rented.facts["isRental"] == .bool(true))
        // Presented again, it ends no later.
        #expect(try await redeem(film).status == 200)
        #expect(try await transactions().map(\.expiresDate) == [start.adding(days: 2).rfc3339])
    }

    @Test func `what was sold for good stays when the catalog rents it out later`() async throws {
        let start = garden.clock.now().adding(days: -30)
        let film = try TestPurchase(
            of: "garden.film", by: key, changing: [("purchaseTime", .integer(start.millisecondsSince1970))])
        let selling = try Self.service(of: garden, over: service.ledger, rentingFilmFor: nil)
        _ = try await selling.redeem(Array(film.text.utf8), for: try #require(User(name: "alice")))
        #expect(try await items().contains("film 1"))
        // Restored on another device, after the catalog has changed.
        #expect(try await redeem(film).status == 200)
        #expect(try await items().contains("film 1"))
        #expect(try await transactions().map(\.expiresDate) == [nil])
    }

    @Test func `the quantity counts`() async throws {
        let seeds = try TestPurchase(of: "garden.seeds", by: key, changing: [("quantity", .integer(3))])
        #expect(try await redeem(seeds).decoded(Redemption.self).outcome == .granted)
        let balances = try await send(.get, "/v1/users/alice/balances").decoded(List<Credit>.self).elements
        #expect(balances.first { $0.balance == "seeds" }?.amount == 30)
    }

    @Test func `an obfuscated account id names the user as an account token does`() async throws {
        let alice = try #require(User(name: "alice"))
        let token = try await service.appAccountToken(of: alice)
        let gate = try TestPurchase(
            of: "garden.gate", by: key, changing: [("obfuscatedAccountId", .string(token.uuidString.lowercased()))])
        #expect(try await redeem(gate, for: "bob").code == "appAccountTokenMismatch")
        #expect(try await redeem(gate).decoded(Redemption.self).outcome == .granted)
        // Apps write placeholders there, which name nobody.
        let seeds = try TestPurchase(
            of: "garden.seeds", by: key, token: "other", changing: [("obfuscatedAccountId", "unset")])
        #expect(try await redeem(seeds, for: "bob").decoded(Redemption.self).outcome == .granted)
        #expect(try await transactions("bob").first?.facts["obfuscatedAccountId"] == .string("unset"))
    }

    @Test func `a subscription is neither granted nor recorded, because its state is unknown`() async throws {
        let free = try await items()
        let monthly = try TestPurchase(
            of: "garden.basic.monthly", by: key, changing: [("autoRenewing", .bool(true))])
        let answer = try await redeem(monthly)
        #expect(answer.status == 409 && answer.code == "subscriptionStateUnknown")
        #expect(try await items() == free)
        #expect(try await transactions().isEmpty)
        let verified = try await send(
            .post, "/v1/proofs/verify", JSONValue.object(["proof": .string(monthly.text)]).compactText)
        #expect(try verified.decoded(ProofResource.self).kind == .signedPurchase)
    }

    @Test func `products of one signed purchase are purchases of their own`() async throws {
        let both = try TestPurchase(
            of: "garden.gate", by: key, changing: [("productIds", .array(["garden.gate", "garden.seeds"]))])
        let redeemed = try await redeem(both).decoded(Redemption.self)
        #expect(redeemed.transactions.map(\.result) == [.granted, .granted])
        let name = try await service.ledger.tokenNames.name(of: "aaaabbbbccccddddeeeeffff.AO-J1Oz_-")
        #expect(redeemed.transactions.map(\.transactionId) == ["\(name):garden.gate", "\(name):garden.seeds"])
        #expect(try await transactions().allSatisfy { $0.originalTransactionId == $0.transactionId })
        #expect(try await redeem(both, for: "bob").status == 409)
        // The token finds both, though nobody has asked Google Play about it.
        let purchases = GooglePurchaseService(
            entitlements: service, app: service.apps.first, packageName: "com.example.garden",
            origins: [.googleProduction])
        let known = try await purchases.redeemedPurchases(ofToken: "aaaabbbbccccddddeeeeffff.AO-J1Oz_-")
        #expect(known?.proven.map(\.productIdentifier) == ["garden.gate", "garden.seeds"])
        let found = try await service.purchases(ofTransaction: "aaaabbbbccccddddeeeeffff.AO-J1Oz_-")
        #expect(found.map(\.status.productIdentifier) == ["garden.gate", "garden.seeds"])
    }

    @Test func `a user of both stores owns the union`() async throws {
        _ = try await redeem(try TestPurchase(of: "garden.gate", by: key))
        let bought = try garden.buy("garden.gate")
        let signed = try garden.store.signedTransaction(bought.identifier)
        let apple = try await send(.post, "/v1/users/alice/transactions", "{\"signedTransaction\":\"\(signed)\"}")
        #expect(try apple.decoded(Redemption.self).outcome == .granted)
        #expect(Set(try await transactions().map(\.origin)) == [.googleProduction, .localSandbox])
        let alice = try #require(User(name: "alice"))
        try garden.store.refund(try #require(try garden.store.history(of: "alice").first).transactionIdentifier)
        let refunded = try garden.store.signedTransaction(bought.identifier)
        _ = try? await service.redeem(Array(refunded.utf8), for: alice)
        #expect(try await items().contains("gate 1"))
    }

    @Test func `a proof that fails a check is refused with its code`() async throws {
        let gate = try TestPurchase(of: "garden.gate", by: key)
        let forged = JSONValue.object([
            "purchase": .string(String(decoding: gate.signed.data, as: UTF8.self) + " "),
            "signature": .string(String(decoding: gate.signed.signature, as: UTF8.self)),
        ]).compactText
        #expect(try await send(.post, "/v1/users/alice/transactions", forged).code == "signatureInvalid")
        let pending = try TestPurchase(of: "garden.gate", by: key, changing: [("purchaseState", .integer(4))])
        #expect(try await redeem(pending).code == "purchasePending")
        let other = try TestPurchase(of: "garden.gate", by: key, app: "com.example.other")
        #expect(try await redeem(other).code == "bundleIdentifierMismatch")
        #expect(try await redeem(try TestPurchase(of: "unknown", by: key)).code == "productUnknown")
        #expect(try await transactions().isEmpty)
    }

    @Test(arguments: [
        #"{"purchase":"{}"}"#, #"{"signature":"AAAA"}"#, #"{"purchase":"{}","signature":1}"#, "{}",
        #"{"signedTransaction":"a.b.c","purchase":"{}","signature":"AAAA"}"#,
    ])
    func `a body with half a proof or two is refused`(body: String) async throws {
        let answer = try await send(.post, "/v1/users/alice/transactions", body)
        #expect(answer.status == 400 && answer.code == "bodyInvalid")
    }

    @Test func `the origin of a local Google Play is another one, and the catalog's name of the app counts`()
        async throws
    {
        let local = try PrivateKey.generateRSA()
        let keys = [
            AppKey(
                packageName: "com.example.garden.android", publicKey: local.publicKey,
                bundleIdentifier: TestGarden.bundleIdentifier, realm: .localPlay)
        ]
        let verifier = ProofVerifier(anchors: try TrustAnchors([]), appKeys: keys, clock: garden.clock)
        let purchase = try TestPurchase(of: "garden.gate", by: local, app: "com.example.garden.android")
        let bytes = Array(purchase.text.utf8)
        let verified = try verifier.verify(
            bytes,
            expecting: ProofExpectations(
                bundleIdentifier: TestGarden.bundleIdentifier, origins: [.localPlayProduction]))
        #expect(verified.origin == .localPlayProduction && verified.bundleIdentifier == TestGarden.bundleIdentifier)
        #expect(throws: ProofRefusal.self) {
            try verifier.verify(bytes, expecting: ProofExpectations(origins: [.googleProduction]))
        }
    }

    @Test func `a kept proof is verified again`() async throws {
        _ = try await redeem(try TestPurchase(of: "garden.gate", by: key))
        let verifier = ProofVerifier(
            anchors: try TrustAnchors([]),
            appKeys: [AppKey(packageName: TestGarden.bundleIdentifier, publicKey: key.publicKey)], clock: garden.clock)
        let report = try await service.ledger.read { try $0.checkProofs(by: verifier) }
        #expect(report.verified == 1 && report.problems.isEmpty)
    }
}
