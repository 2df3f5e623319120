import AppStore
import Catalog
import Foundation
import HTTPSupport
import HTTPTypes
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// Keys for one app, in a service that sells the seed's app and the garden, against every route.
@Suite struct AppKeyTests {
    private static let seed = "com.memolease.sesac1"
    private static let garden = TestGarden.bundleIdentifier

    let fixture: ServiceFixture
    let garden: TestGarden
    /// The keys with every scope for each app.
    let seedKey: String
    let gardenKey: String
    private let operations: [AppOperation]
    private let closed: Set<String>

    init() async throws {
        garden = try TestGarden(start: ManualClock().now().rfc3339)
        fixture = try await ServiceFixture(selling: [App(garden.catalog)], account: ServiceFixture.playAccount())
        seedKey = try await fixture.keys.make(name: "seed", scopes: Set(APIKeyScope.allCases), app: Self.seed).key
        gardenKey = try await fixture.keys.make(
            name: "flowerbed", scopes: Set(APIKeyScope.allCases), app: Self.garden
        ).key
        operations = try AppOperation.all()
        closed = try OperationPermission.closedToAppKeys()
    }

    /// What belongs to an app, by the names of the parameters and fields that name it.
    private struct Things {
        var values: [String: String] = [:]
        /// A proof of a purchase in the app that nobody has redeemed.
        var proof = ""
        /// The texts that only answers about the app contain.
        var marks: [String] = []
    }

    @discardableResult
    private func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: String? = nil,
        key: String? = nil,
        expecting statuses: Set<Int> = [200, 201, 204]
    ) async throws -> ServiceFixture.Answer {
        let answer = try await fixture.send(method, path, body: body, key: key)
        try #require(
            statuses.contains(answer.status), "\(method) \(path): \(String(decoding: answer.body, as: UTF8.self))")
        return answer
    }

    private func redeem(_ payment: PaymentTransaction, of store: Store, key: String) async throws -> String {
        let signed = try store.signedTransaction(payment.identifier)
        try await send(.post, "/v1/users/alice/transactions", #"{"signedTransaction":"\#(signed)"}"#, key: key)
        return try #require(payment.purchase?.transactionIdentifier)
    }

    private func grant(_ item: String, key: String) async throws -> String {
        try await send(.post, "/v1/users/alice/grants", #"{"item":\#(item),"reason":"a prize"}"#, key: key)
            .decoded(GrantResource.self).grantId
    }

    private func webhook(key: String, _ url: String) async throws -> String {
        try await send(.post, "/v1/webhooks", #"{"url":"\#(url)"}"#, key: key).decoded(WebhookResource.self).webhookId
    }

    private func message(of webhook: String) async throws -> String {
        let list = try await send(.get, "/v1/webhooks/\(webhook)/deliveries").decoded(
            List<WebhookDeliveryResource>.self)
        return try #require(list.elements.first).messageId
    }

    /// The change by which the app's first product was added.
    private func firstChange(_ key: String) async throws -> String {
        let list = try await send(.get, "/v1/catalog/changes", key: key).decoded(List<CatalogChangeResource>.self)
        return String(try #require(list.elements.last).number)
    }

    /// Sells, gives, parks and refuses something of each app, each with the key of the app.
    private func populate() async throws -> (seed: Things, garden: Things) {
        var (seed, flowers) = (Things(), Things())
        let coins = #"{"type":"Consumable","displayPrice":"100","balance":"coins","amount":10}"#
        try await send(.put, "/v1/catalog/products/\(Self.seed).coins", coins, key: seedKey)
        let moon = #"{"type":"NonConsumable","displayPrice":"7654.32","collection":"moon","number":9}"#
        try await send(.put, "/v1/catalog/products/garden.moon", moon, key: gardenKey)
        for (key, product) in [(seedKey, "\(Self.seed).sprout1"), (gardenKey, "garden.gate")] {
            try await send(.put, "/v1/catalog/rights/member", #"{"products":["\#(product)"]}"#, key: key)
            let offering = #"{"description":"All","packages":[{"identifier":"one","productID":"\#(product)"}]}"#
            try await send(.put, "/v1/catalog/offerings/member", offering, key: key)
            try await send(.put, "/v1/catalog/current-offering", #"{"identifier":"member"}"#, key: key)
        }
        let seedHook = try await webhook(key: seedKey, "https://sprout.example/hooks")
        let gardenHook = try await webhook(key: gardenKey, "https://flowerbed.example/hooks")

        let sprout = try await redeem(try fixture.buy("sprout1"), of: fixture.shop.store, key: seedKey)
        var sold: [String] = []
        for product in ["garden.gate", "garden.seeds", "garden.premium.monthly"] {
            sold.append(try await redeem(try garden.buy(product), of: garden.store, key: gardenKey))
        }
        let parked = try garden.buy("garden.basic.monthly", account: "carol")
        let parkedSprout = try fixture.buy("sprout4", account: "carol")
        // Another user's refund, which gives the figures of refunds something to tell.
        let seeds = try garden.buy("garden.seeds", account: "erin")
        try await send(
            .post, "/v1/users/erin/transactions",
            #"{"signedTransaction":"\#(try garden.store.signedTransaction(seeds.identifier))"}"#, key: gardenKey)
        _ = try garden.store.advance(seconds: 1)
        try garden.store.refund(try #require(seeds.purchase).transactionIdentifier)
        for notification in try garden.store.notifications() + fixture.shop.store.notifications() {
            try await send(.post, "/v1/notifications/apple", #"{"signedPayload":"\#(notification.signedPayload)"}"#)
        }
        // A refusal, and the team's gifts.
        let again = try garden.store.signedTransaction(of: sold[0])
        try await send(
            .post, "/v1/users/bob/transactions", #"{"signedTransaction":"\#(again)"}"#, key: gardenKey,
            expecting: [409])
        let seedGrant = try await grant(#"{"collection":"sprout","number":3}"#, key: fixture.key)
        let gardenGrant = try await grant(#"{"collection":"gate","number":1}"#, key: fixture.key)
        let action = UUID().uuidString.lowercased()
        try await send(
            .put, "/v1/store-actions/\(action)",
            #"{"kind":"extend","transaction":"\#(sold[2])","days":3,"reason":"an outage"}"#, key: gardenKey)
        try await send(.put, "/v1/users/alice/account-token", key: seedKey)
        try await send(.put, "/v1/users/mallory/account-token", key: seedKey)
        let sale = #"""
            {"externalTransactionId":"sale-1","transactionTime":"\#(fixture.shop.clock.now().rfc3339)",
            "originalPreTaxAmount":{"currency":"USD","priceMicros":"1"},
            "originalTaxAmount":{"currency":"USD","priceMicros":"0"},"userTaxAddress":{"regionCode":"US"},
            "oneTimeTransaction":{"externalTransactionToken":"AUJTfg"}}
            """#
        try await send(.post, "/v1/google/external-transactions", sale, key: gardenKey)
        try await send(
            .post, "/v1/users/alice/balances/coins/additions", #"{"amount":50,"reason":"a prize"}"#, key: seedKey)

        seed.values = [
            "user": "alice", "product": "\(Self.seed).sprout1", "transaction": sprout, "collection": "sprout",
            "number": "1", "balance": "coins", "grant": seedGrant, "webhook": seedHook, "name": "member",
            "message": try await message(of: seedHook), "export": "transactions", "figure": "units",
            "package": Self.seed, "unclaimed": try #require(parkedSprout.purchase).transactionIdentifier,
            "external-transactions": "sale-1", "change": try await firstChange(seedKey), "operation": "cancel",
            "action": UUID().uuidString,
        ]
        let presented = try fixture.buy("sprout2", account: "dora")
        seed.proof = try fixture.shop.store.signedTransaction(presented.identifier)
        flowers.values = [
            "user": "alice", "product": "garden.gate", "transaction": sold[0], "collection": "gate", "number": "1",
            "balance": "seeds", "grant": gardenGrant, "webhook": gardenHook, "name": "member",
            "message": try await message(of: gardenHook), "app": Self.garden, "export": "transactions",
            "figure": "units", "package": Self.garden,
            "unclaimed": try #require(parked.purchase).transactionIdentifier, "external-transactions": "sale-1",
            "change": try await firstChange(gardenKey), "operation": "cancel", "action": action,
        ]
        flowers.proof = try garden.store.signedTransaction(
            try garden.buy("garden.season", account: "dora").identifier)
        flowers.marks =
            sold + [
                try #require(parked.purchase?.transactionIdentifier), gardenGrant, gardenHook,
                flowers.values["message"] ?? "", Self.garden, "garden.", "\"gate\"", "\"plus\"", "\"moon\"",
                // A number alone would also be in some random identifier.
                "\"seeds\"", ":7654320", "\"USD\"", "flowerbed",
            ]
        return (seed, flowers)
    }

    /// The closed routes whose answers another app's purchases and the requests themselves change.
    private static let unstable: Set = ["GET /v1/users/{user}/export", "GET /metrics"]
    /// The lists that are empty: nobody states attributes, or buys outside the App Store. Any other has something to see or to change.
    private static let empty: Set = [
        "GET /v1/users/{user}/attributes", "GET /v1/apple/external-purchases",
        "GET /v1/apple/external-purchase-reports",
    ]

    /// True for an answer whose lists have no elements.
    private static func isEmpty(_ answer: ServiceFixture.Answer) -> Bool {
        let lists = ((try? answer.decoded([String: JSONContent].self)) ?? [:]).values.compactMap { member in
            if case .array(let elements) = member { elements } else { nil }
        }
        return !lists.isEmpty && lists.allSatisfy(\.isEmpty)
    }

    /// The answers about what belongs to the garden, and about what belongs to no app.
    private func gardenAnswers(_ flowers: Things) async throws -> [String: String] {
        try await fixture.figures.rollUp()
        var answers: [String: String] = [:]
        for operation in operations where operation.method == .get && !Self.unstable.contains(operation.name) {
            let isClosed = closed.contains(operation.name)
            let path = operation.path(flowers.values) + operation.query
            let answer = try await fixture.send(.get, path, key: isClosed ? fixture.key : gardenKey)
            #expect(answer.status == (isClosed && operation.name.hasSuffix("/wishes") ? 400 : 200), "\(path)")
            #expect(
                Self.isEmpty(answer) == Self.empty.contains(operation.name),
                "\(path) has nothing to compare: populate() makes it, and AppOperation has the values of parameters.")
            answers[operation.name] = String(decoding: answer.body, as: UTF8.self)
        }
        return answers
    }

    /// The requests of an operation that are about what belongs to an app.
    private func requests(
        of operation: AppOperation,
        about things: Things
    ) throws -> [(path: String, body: AppOperation.Body?)] {
        let path = operation.path(things.values)
        let (product, transaction) = (things.values["product"] ?? "", things.values["transaction"] ?? "")
        guard operation.method != .get else {
            let queries: Set = [
                "", "?app=\(Self.garden)", "?app=\(Self.seed)", "?pageSize=1", "?search=alice",
                "?search=\(transaction)", "?product=\(product)", "?format=jsonl", "?environment=sandbox",
                "?environment=sandbox&group=product", "?environment=sandbox&group=app",
                "?environment=sandbox&product=\(product)",
            ]
            return queries.union([operation.query]).sorted().map { (path + $0, nil) }
        }
        let bodies = try operation.bodies(things.values, proof: things.proof, at: fixture.shop.clock.now())
        return bodies.flatMap { body in
            ["", "?app=\(Self.garden)"].map { (path + $0, body) }
        }
    }

    private func send(
        _ operation: AppOperation,
        _ path: String,
        _ body: AppOperation.Body?
    ) async throws -> ServiceFixture.Answer {
        var headers: HTTPFields = [:]
        if let body { headers[.contentType] = body.contentType }
        return try await fixture.send(operation.method, path, bytes: body?.bytes, key: seedKey, headers: headers)
    }

    @Test func `a key for one app sees and changes nothing of another app, on any route`() async throws {
        let (seed, flowers) = try await populate()
        let before = try await gardenAnswers(flowers)
        for mark in flowers.marks {
            #expect(before.values.contains { $0.contains(mark) }, "Nothing of the garden has \(mark).")
        }
        for operation in operations {
            // Those of requests about the key's own app. The others are refused for the wall.
            var statuses: Set<Int> = []
            for (things, isOwn) in [(seed, true), (flowers, false)] {
                for (path, body) in try requests(of: operation, about: things) {
                    let answer = try await send(operation, path, body)
                    #expect(answer.status < 500, "\(operation.name) \(path)")
                    if isOwn { statuses.insert(answer.status) }
                    let text = String(decoding: answer.body, as: UTF8.self)
                    // A refusal may name what the request has named. The sent proof names its app.
                    let sent = String(decoding: body?.bytes ?? Data(), as: UTF8.self)
                    let named = path + " " + (path.removingPercentEncoding ?? "") + " " + sent
                    let asked = named + (sent.contains(things.proof) ? things.values["app"] ?? "" : "")
                    for mark in flowers.marks where !asked.contains(mark.filter { $0 != "\"" }) {
                        #expect(!text.contains(mark), "\(operation.name) \(path) has \(mark)")
                    }
                }
            }
            let isTested =
                closed.contains(operation.name)
                ? statuses.contains(403) : !operation.isUntested(answering: statuses)
            #expect(isTested, "\(operation.untested)")
            guard operation.method != .get else { continue }
            let after = try await gardenAnswers(flowers)
            for (name, answer) in before { #expect(after[name] == answer, "\(operation.name) has changed \(name)") }
        }
    }

    @Test func `exactly the routes about what belongs to no app refuse a key for one app`() async throws {
        let (seed, _) = try await populate()
        var values = seed.values
        values["user"] = "nobody"
        for operation in operations {
            for body in try operation.bodies(values, proof: seed.proof, at: fixture.shop.clock.now()) {
                let answer = try await send(operation, operation.path(values), body)
                #expect((answer.code == "appForbidden") == closed.contains(operation.name), "\(operation.name)")
            }
        }
    }

    @Test func `an answer kept for one key is not replayed to another`() async throws {
        let (_, flowers) = try await populate()
        let name = try #require(HTTPField.Name("Idempotency-Key"))
        for (path, body) in [
            ("balances/seeds/spendings", #"{"amount":1,"reason":"a prize"}"#),
            ("transactions", #"{"signedTransaction":"\#(flowers.proof)"}"#),
            ("grants", #"{"item":{"collection":"gate","number":1},"reason":"a prize"}"#),
        ] {
            let path = "/v1/users/alice/\(path)"
            let first = try await fixture.send(.post, path, body: body, key: gardenKey, headers: [name: path])
            #expect(first.status < 300, "\(path)")
            let other = try await fixture.send(.post, path, body: body, key: seedKey, headers: [name: path])
            #expect(["appForbidden", "bundleIdentifierMismatch", "itemUnknown"].contains(other.code), "\(path)")
        }
    }

    private func items(_ key: String) async throws -> [String] {
        try await send(.get, "/v1/users/alice/items", key: key).decoded(List<OwnedItemResource>.self).elements
            .map { "\($0.item)" }
    }

    @Test func `a key for one app sees what its purchases and the team's grants give`() async throws {
        let (seed, flowers) = try await populate()
        #expect(try await items(gardenKey) == ["bed 0", "gate 1", "plus 2"])
        #expect(try await items(seedKey) == ["background 0", "sprout 0", "sprout 1", "sprout 3"])
        #expect(try await items(fixture.key).count == 7)
        for (key, balance, transactions) in [(gardenKey, "seeds", 3), (seedKey, "coins", 1)] {
            let balances = try await send(.get, "/v1/users/alice/balances", key: key).decoded(List<Credit>.self)
            #expect(balances.elements.map(\.balance) == [balance])
            let rights = try await send(.get, "/v1/users/alice/rights", key: key).decoded(List<UserRightResource>.self)
            #expect(rights.elements.count == 1)
            let sold = try await send(.get, "/v1/users/alice/transactions", key: key).decoded(
                List<TransactionResource>.self)
            #expect(sold.elements.count == transactions)
            let story = try await send(.get, "/v1/users/alice/story", key: key).decoded(List<StoryEntryResource>.self)
            #expect(story.elements.count { $0.kind == "granted" } == transactions)
            let grants = try await send(.get, "/v1/users/alice/grants?pageSize=1", key: key).decoded(
                List<GrantResource>.self)
            #expect(grants.elements.count == 1 && grants.nextCursor == nil)
        }
        let redeemed = try await send(
            .post, "/v1/users/alice/transactions", #"{"signedTransaction":"\#(seed.proof)"}"#, key: seedKey
        ).decoded(Redemption.self)
        #expect(redeemed.items.map(\.description) == ["background 0", "sprout 0", "sprout 1", "sprout 2", "sprout 3"])
        try await send(
            .put, "/v1/users/alice/grants/\(flowers.values["grant"] ?? "")/revocation", #"{"reason":"a test"}"#,
            key: gardenKey)
        try await send(
            .post, "/v1/users/alice/balances/seeds/spendings", #"{"amount":3,"reason":"a test"}"#, key: gardenKey)
        let transaction = flowers.values["transaction"] ?? ""
        try await send(
            .put, "/v1/users/alice/transactions/\(transaction)/revocation", #"{"reason":"a test"}"#, key: gardenKey)
        #expect(try await items(gardenKey) == ["bed 0", "plus 2"])
    }

    @Test func `a webhook of one app gets the messages of the app, and its key sees no other webhook`() async throws {
        let all = try await webhook(key: fixture.key, "https://all.example/hooks")
        let (seed, flowers) = try await populate()
        func products(_ webhook: String?, key: String) async throws -> Set<String> {
            let path = "/v1/webhooks/\(webhook ?? "")/deliveries"
            let list = try await send(.get, path, key: key).decoded(List<WebhookDeliveryResource>.self)
            return Set(
                list.elements.compactMap(\.message?.data).map { $0.productId ?? "\($0.item?.collection ?? "")" })
        }
        let (seedHook, gardenHook) = (seed.values["webhook"], flowers.values["webhook"])
        let ofSeed: Set = ["\(Self.seed).sprout1"]
        let ofGarden: Set = ["garden.gate", "garden.seeds", "garden.premium.monthly"]
        #expect(try await products(seedHook, key: seedKey) == ofSeed)
        #expect(try await products(gardenHook, key: gardenKey) == ofGarden)
        #expect(try await products(all, key: fixture.key) == ofSeed.union(ofGarden).union(["sprout", "gate"]))
        for (key, webhook) in [(seedKey, seedHook), (gardenKey, gardenHook)] {
            let list = try await send(.get, "/v1/webhooks", key: key).decoded(List<WebhookResource>.self)
            #expect(list.elements.map(\.webhookId) == [webhook])
        }
        let listed = try await send(.get, "/v1/webhooks").decoded(List<WebhookResource>.self).elements
        #expect(Set(listed.map(\.app)) == [nil, Self.seed, Self.garden])
        // One app does not use up the webhooks of another.
        for number in 2...10 { _ = try await webhook(key: seedKey, "https://sprout.example/\(number)") }
        let refused = try await fixture.send(
            .post, "/v1/webhooks", body: #"{"url":"https://sprout.example/11"}"#, key: seedKey)
        #expect(refused.status == 409)
        _ = try await webhook(key: gardenKey, "https://flowerbed.example/2")
    }
}

/// Keys for one app, in a service that sells two apps with the same products.
@Suite struct SharedItemKeyTests {
    private static let scopes = Set(APIKeyScope.allCases)

    @Test func `what two apps give belongs to none of their keys, and a purchase in one is not seen by the other`()
        async throws
    {
        let start = ManualClock().now().rfc3339
        let (garden, orchard) = (
            try TestGarden(start: start), try TestGarden(bundleIdentifier: "com.example.orchard", start: start)
        )
        let fixture = try await ServiceFixture(selling: [App(garden.catalog), App(orchard.catalog)])
        let key = try await fixture.keys.make(name: "garden", scopes: Self.scopes, app: garden.bundleIdentifier).key
        let users = "/v1/users/alice"
        func send(_ method: HTTPRequest.Method, _ path: String, _ body: String? = nil, key: String) async throws
            -> ServiceFixture.Answer
        {
            try await fixture.send(method, path, body: body, key: key)
        }
        for product in ["garden.gate", "garden.seeds"] {
            let signed = try orchard.store.signedTransaction(try orchard.buy(product).identifier)
            let body = #"{"signedTransaction":"\#(signed)"}"#
            #expect(try await send(.post, "\(users)/transactions", body, key: fixture.key).status == 200)
        }
        func items() async throws -> [String] {
            try await send(.get, "\(users)/items", key: key).decoded(List<OwnedItemResource>.self).elements.map {
                "\($0.item)"
            }
        }
        #expect(try await items() == ["bed 0"])
        let explanation = try await send(.get, "\(users)/items/gate/1/explanation", key: key)
            .decoded(ExplanationResource.self)
        #expect(explanation.cause == "neverBought")
        #expect(try await send(.get, "\(users)/balances", key: key).decoded(List<Credit>.self).elements.isEmpty)

        let gate = #"{"item":{"collection":"gate","number":1},"reason":"a prize"}"#
        let given = try await send(.post, "\(users)/grants", gate, key: fixture.key).decoded(GrantResource.self)
        #expect(try await items() == ["bed 0", "gate 1"])
        let moon = #"{"type":"NonConsumable","displayPrice":"1","collection":"moon","number":1}"#
        let ofGarden = "?app=\(garden.bundleIdentifier)"
        #expect(
            try await send(
                .put, "/v1/catalog/products/orchard.moon?app=\(orchard.bundleIdentifier)", moon, key: fixture.key
            )
            .status == 201)
        let nectar = #"{"type":"Consumable","displayPrice":"1","balance":"nectar","amount":1}"#
        #expect(
            try await send(
                .put, "/v1/catalog/products/orchard.nectar?app=\(orchard.bundleIdentifier)", nectar, key: fixture.key
            ).status == 201)
        for (method, path, body) in [
            (HTTPRequest.Method.post, "\(users)/grants", gate),
            (.put, "\(users)/grants/\(given.grantId)/revocation", #"{"reason":"a test"}"#),
            (.post, "\(users)/balances/seeds/spendings", #"{"amount":1,"reason":"a test"}"#),
            (.post, "\(users)/balances/seeds/additions", #"{"amount":1,"reason":"a test"}"#),
            (.put, "/v1/catalog/products/garden.moon\(ofGarden)", moon),
            (.put, "/v1/catalog/products/garden.nectar\(ofGarden)", nectar),
        ] {
            #expect(try await send(method, path, body, key: key).code == "appForbidden", "\(method) \(path)")
        }
        // The team may do all of that.
        let spent = try await send(
            .post, "\(users)/balances/seeds/spendings", #"{"amount":1,"reason":"a test"}"#, key: fixture.key)
        #expect(spent.status == 201)
    }
}
