import AppStore
import Catalog
import Entitlements
import Features
import Foundation
import HTTPSupport
import Hummingbird
import Ledger
import Proofs
import Service
import Synchronization
import TestSupport
import Testing
import Vocabulary

/// The search for a purchase by the order number on a customer's receipt, over HTTP on both sides.
@Suite struct OrderLookupTests {
    let garden: TestGarden
    let service: EntitlementService
    let keys: APIKeys
    let key: String

    init() async throws {
        garden = try TestGarden()
        let ledger = try Ledger(file: garden.folder.file("ledger.sqlite"))
        service = EntitlementService(
            apps: Apps(App(garden.catalog)), verifier: try garden.verifier(), ledger: ledger,
            clock: garden.store.clock)
        keys = ledger.apiKeys(clock: garden.store.clock)
        key = try await keys.make(name: "tests", scopes: [.support]).key
    }

    private struct Answer: JSONReadable {
        let status: Int
        let jsonData: Data

        /// The code of a problem document; nil for another answer.
        var code: String? { try? decoded(ProblemResource.self).code }
    }

    private func find(_ identifier: String, _ clients: [AppStoreServerClient]) async throws -> Answer {
        var stores = StoreClients()
        stores.orders = clients
        let routes = ServiceRoutes(Till(service), stores: stores, RouteSettings(.apiKeys(keys)))
        return try await Application(router: routes.router()).test(.router) { [key] client in
            try await client.execute(
                uri: "/v1/transactions/\(identifier)", method: .get, headers: [.authorization: "Bearer \(key)"]
            ) { Answer(status: $0.status.code, jsonData: Data($0.body.readableBytesView)) }
        }
    }

    private struct Sale {
        let order: String
        let transaction: String
        let proof: [UInt8]
    }

    private func buy(_ product: String) throws -> Sale {
        let bought = try garden.buy(product)
        let transaction = try #require(bought.purchase?.transactionIdentifier)
        let sold = try #require(
            try garden.store.history(of: "alice").first { $0.transactionIdentifier == transaction })
        return Sale(
            order: sold.orderIdentifier, transaction: transaction,
            proof: Array(try garden.store.signedTransaction(bought.identifier).utf8))
    }

    private func redeem(_ sale: Sale) async throws {
        _ = try await service.redeem(sale.proof, for: try #require(User(name: "alice")))
    }

    @Test func `the order number on a receipt leads to the purchase and its owner`() async throws {
        let (gate, season) = (try buy("garden.gate"), try buy("garden.season"))
        try await redeem(gate)
        try await redeem(season)
        try await garden.withStore { client in
            let found = try await find(gate.order, [client]).decoded(PurchaseLookup.self)
            #expect(found.orderId == gate.order)
            #expect(found.purchases.map(\.owner?.name) == ["alice"])
            #expect(found.purchases.flatMap(\.transactions).map(\.transactionId) == [gate.transaction])
            #expect(found.unrecorded?.isEmpty == true && found.charges == [gate.transaction])
            let plain = try await find(gate.transaction, [client]).decoded(PurchaseLookup.self)
            #expect(plain.purchases.count == 1 && plain.orderId == nil && plain.unrecorded == nil)
            let asked = try await find("MNOSUCHORD", [client]).decoded(ProblemResource.self)
            #expect(asked.code == "transactionUnknown" && !asked.detail.contains("app-store-key"))
            // Without a key of the App Store, the service cannot know the order.
            let unasked = try await find(gate.order, []).decoded(ProblemResource.self)
            #expect(unasked.code == "transactionUnknown" && unasked.detail.contains("app-store-key"))
        }
    }

    @Test func `the App Store is asked about an order in the form of a receipt`() async throws {
        let gate = try buy("garden.gate")
        try await redeem(gate)
        try await garden.withStore { client in
            for text in ["%23\(gate.order)", gate.order.lowercased(), "%20\(gate.order)%20"] {
                let found = try await find(text, [client]).decoded(PurchaseLookup.self)
                #expect(found.orderId == gate.order && found.purchases.map(\.owner?.name) == ["alice"], "\(text)")
            }
        }
    }

    @Test func `an order that was not redeemed is reported with its transactions`() async throws {
        let gate = try buy("garden.gate")
        try await garden.withStore { client in
            let found = try await find(gate.order, [client]).decoded(PurchaseLookup.self)
            #expect(found.purchases.isEmpty && found.unclaimed.isEmpty)
            #expect(found.unrecorded?.map(\.transactionId) == [gate.transaction])
            #expect(found.unrecorded?.first?.origin == .localSandbox)
            // A purchase that the App Store has notified waits for its user.
            let notification = try #require(try garden.store.notifications().last)
            _ = try await service.receive(notification: Array(notification.signedPayload.utf8))
            let parked = try await find(gate.order, [client]).decoded(PurchaseLookup.self)
            #expect(parked.unclaimed.map(\.transactionId) == [gate.transaction])
            #expect(parked.charges == [gate.transaction])
            #expect(parked.unrecorded?.isEmpty == true)
        }
    }

    @Test func `a renewal that is missing is reported beside the subscription`() async throws {
        let monthly = try buy("garden.basic.monthly")
        try await redeem(monthly)
        _ = try garden.store.advance(seconds: 32 * 86_400)
        let renewal = try #require(try garden.store.history(of: "alice").last)
        #expect(renewal.orderIdentifier != monthly.order)
        try await garden.withStore { client in
            let found = try await find(renewal.orderIdentifier, [client]).decoded(PurchaseLookup.self)
            #expect(found.purchases.map(\.originalTransactionId) == [monthly.transaction])
            #expect(found.unrecorded?.map(\.transactionId) == [renewal.transactionIdentifier])
            // The ledger has another charge of the subscription, and not that of the order.
            #expect(found.charges.isEmpty)
            let proof = try garden.store.signedTransaction(of: renewal.transactionIdentifier)
            _ = try await service.redeem(Array(proof.utf8), for: try #require(User(name: "alice")))
            let both = try await find(renewal.orderIdentifier, [client]).decoded(PurchaseLookup.self)
            #expect(both.purchases.count == 1 && both.charges == [renewal.transactionIdentifier])
        }
    }

    @Test func `a transaction that is not signed by the store is not believed`() async throws {
        let gate = try buy("garden.gate")
        let forged = String(decoding: gate.proof.dropLast(4), as: UTF8.self) + "AAAA"
        let router = Router()
        router.get("/inApps/v1/lookup/:id") { _, _ in #"{"status":0,"signedTransactions":["\#(forged)"]}"# }
        try await garden.withServer(router) { client in
            let answer = try await find(gate.order, [client])
            #expect(answer.status == 502)
            #expect(answer.code == "signatureInvalid")
        }
    }

    @Test(arguments: [
        (HTTPResponse.Status.internalServerError, "", 503, "appStoreRefused"),
        (.tooManyRequests, #"{"errorCode":4290000}"#, 503, "appStoreRefused"),
        (.unauthorized, "", 502, "appStoreRefused"), (.ok, "[]", 502, "appStoreAnswerInvalid"),
    ])
    func `a store that fails is a problem, and another store may know the order`(
        status: HTTPResponse.Status,
        body: String,
        expected: Int,
        code: String
    ) async throws {
        let gate = try buy("garden.gate")
        let asked = Atomic(0)
        let router = Router()
        router.get("/inApps/v1/lookup/:id") { _, _ in
            asked.add(1, ordering: .relaxed)
            return Response(status: status, body: .init(byteBuffer: ByteBuffer(string: body)))
        }
        try await garden.withServer(router) { failing in
            let answer = try await find(gate.order, [failing])
            #expect(answer.status == expected)
            #expect(answer.code == code)
            #expect(asked.load(ordering: .relaxed) == 1)
            try await garden.withStore { client in
                let found = try await find(gate.order, [failing, client])
                #expect(found.status == 200)
                let unknown = try await find("MNOSUCHORD", [failing, client])
                #expect(unknown.code == code)
            }
        }
    }

    @Test func `a store that does not answer is unreachable`() async throws {
        let closed = Mutex<AppStoreServerClient?>(nil)
        try await garden.withServer(Router()) { client in closed.withLock { $0 = client } }
        let answer = try await find("MK5TTTVWJH", [try #require(closed.withLock(\.self))])
        #expect(answer.status == 503)
        #expect(answer.code == "appStoreUnreachable")
    }

    @Test(arguments: [
        "2000000000000001", "MKT-TVWJH", "33451234567890123", "%2E%2E", "MK5%2F..", "MK\u{30C}",
        String(repeating: "M", count: 65),
    ])
    func `a text that is no order number is not sent to a store`(identifier: String) async throws {
        let asked = Atomic(0)
        let router = Router()
        router.get("/inApps/v1/lookup/**") { _, _ in
            asked.add(1, ordering: .relaxed)
            return #"{"status":1}"#
        }
        try await garden.withServer(router) { client in
            let path = try #require(identifier.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed))
            #expect(try await find(path.replacing("%25", with: "%"), [client]).code == "transactionUnknown")
            #expect(try await find("MK5TTTVWJH", [client]).code == "transactionUnknown")
        }
        #expect(asked.load(ordering: .relaxed) == 1)
    }
}
