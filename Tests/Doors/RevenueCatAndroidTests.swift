import Entitlements
import Foundation
import HTTPSupport
import HTTPTypes
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// The door of RevenueCat's SDKs with the requests of purchases-android.
@Suite struct RevenueCatAndroidTests {
    private static let token = "aaaabbbbccccddddeeeeffff.AO-J1Oz_-"

    /// The header fields that tell the SDK from those of other platforms.
    static var headers: HTTPFields {
        var headers: HTTPFields = [:]
        if let name = HTTPField.Name.revenueCatPlatform { headers[name] = "android" }
        if let name = HTTPField.Name("X-Client-Bundle-ID") { headers[name] = TestGarden.bundleIdentifier }
        return headers
    }

    /// The body that the SDK makes of a purchase.
    static func receipt(_ token: String, of user: String, products: [String], isRestore: Bool = false) -> JSONValue {
        .object([
            "fetch_token": .string(token), "product_ids": .array(products.map { .string($0) }),
            "platform_product_ids": .array(products.map { .object(["product_id": .string($0)]) }),
            "app_user_id": .string(user), "is_restore": .bool(isRestore), "observer_mode": .bool(false),
            "purchase_completed_by": "revenuecat", "price": .number(JSONNumber(thousandths: 4990)), "currency": "EUR",
            "initiation_source": .string(isRestore ? "restore" : "purchase"), "sdk_originated": .bool(true),
            "payload_version": .integer(1),
        ])
    }

    @Test func `the head of a request keeps the platform`() throws {
        let name = try #require(HTTPField.Name.revenueCatPlatform)
        let head = HTTPRequest(
            method: .post, scheme: "https", authority: "till.example.com", path: "/v1/receipts",
            headerFields: Self.headers)
        #expect(try RequestHead.checked(head).get().headerFields[name] == "android")
    }

    @Test func `the base plans of products are told to Android alone`() async throws {
        let door = try await DoorGarden([.revenueCat])
        let path = "/v1/product_entitlement_mapping"
        let (android, apple) = (
            try await door.send(.get, path, headers: Self.headers), try await door.send(.get, path)
        )
        func entry(_ name: String, _ answer: DoorGarden.Answer) -> JSONValue? {
            answer["product_entitlement_mapping", name]
        }
        let own: JSONValue = .object([
            "entitlements": .array(["gardener"]), "product_identifier": "garden.basic.monthly",
            "base_plan_id": "monthly",
        ])
        for name in ["garden.basic.monthly", "garden.basic.monthly:monthly"] { #expect(entry(name, android) == own) }
        #expect(entry("garden.gate", android) == entry("garden.gate", apple) && entry("garden.gate", apple) != nil)
        #expect(apple.json?.compactText.contains("plan") == false)
    }

    @Test func `without a service account, a token is neither granted nor refused for good`() async throws {
        let door = try await DoorGarden([.revenueCat])
        let answer = try await door.send(
            .post, "/v1/receipts", Self.receipt(Self.token, of: "alice", products: ["garden.gate"]),
            headers: Self.headers)
        #expect(answer.status == 503 && answer["code"] == .integer(7107))
        #expect(try JSONSchema(named: "Error").violations(in: try #require(answer.json)) == [])
        // Other platforms have no purchase tokens.
        let apple = try await door.send(
            .post, "/v1/receipts", Self.receipt(Self.token, of: "alice", products: ["garden.gate"]))
        #expect(apple.status == 400 && apple["code"] == .integer(7103))
    }

    @Test func `a text that is no token is refused for good, and a longer one is sent again`() async throws {
        let door = try await DoorGarden([.revenueCat])
        for (token, status) in [("a b", 400), (String(repeating: "a", count: 600), 503)] {
            let answer = try await door.send(
                .post, "/v1/receipts", Self.receipt(token, of: "alice", products: ["garden.gate"]),
                headers: Self.headers)
            #expect(answer.status == status)
        }
    }

    private static let gate = "garden.gate"
    private static let monthly = "garden.basic.monthly"

    private static func price(_ thousandths: Int64) -> JSONValue {
        .object(["amount": .number(JSONNumber(thousandths: thousandths)), "currency": "USD"])
    }

    @Test func `a purchase is redeemed by its token, and shown as one of Google Play`() async throws {
        try await PlayDoor.run([.revenueCat]) { service in
            let bought = try service.buy(Self.gate)
            let answer = try await service.redeem(bought.purchaseToken, of: "alice", products: Self.gate)
            let date = ExpectedAnswer.start
            let token = try await service.door.ledger.tokenNames.name(of: bought.purchaseToken)
            let name = "\(TestGarden.bundleIdentifier)/localPlay/Production/\(token)"
            let purchase = JSONValue.object([
                "display_name": .null,
                "id": .string(DigestAlgorithm.sha256.digest(of: Array(name.utf8)).prefix(10).hexadecimal),
                "is_sandbox": .bool(false), "original_purchase_date": .string(date), "price": Self.price(19_990),
                "purchase_date": .string(date), "store": "play_store",
                "store_transaction_id": .string(try #require(bought.orderId)),
            ])
            let customer = try ExpectedAnswer.customer(
                "alice", at: date,
                entitlements: ["gatekeeper": ExpectedAnswer.entitlement(by: Self.gate, until: nil)],
                purchases: [Self.gate: purchase])
            guard case .object(var expected) = customer else { return }
            _ = expected.add("purchased_products", .object([Self.gate: .object(["should_consume": .bool(false)])]))
            try answer.expectCustomer(.object(expected))
            // Other answers are about no purchase.
            try await service.door.customer("alice").expectCustomer(customer)
        }
    }

    /// A promotional code has no order.
    @Test func `a purchase without an order has its token's name, and never the token`() async throws {
        let key = try PrivateKey.generateRSA()
        let door = try await DoorGarden(
            [.revenueCat, .cordova], accepted: AcceptedOrigins([.googleProduction]),
            appKeys: [AppKey(packageName: TestGarden.bundleIdentifier, publicKey: key.publicKey)])
        let signed = try TestPurchase(of: Self.gate, by: key, token: Self.token, changing: [("orderId", nil)]).signed
        _ = try await door.send(
            .post, CordovaMiddleware.path, CordovaGooglePlayTests.body(signed, of: Self.gate, username: "alice"))
        let answer = try await door.customer("alice")
        let name = try await door.ledger.tokenNames.name(of: Self.token)
        guard case .array(let purchases)? = answer["subscriber", "non_subscriptions", Self.gate] else {
            Issue.record("The customer has no purchase: \(String(decoding: answer.body, as: UTF8.self))")
            return
        }
        #expect(purchases.map { $0.at("store_transaction_id") } == [.string(name)])
        #expect(!String(decoding: answer.body, as: UTF8.self).contains(Self.token))
    }

    @Test func `a consumable is redeemed once, and the SDK is to consume it`() async throws {
        try await PlayDoor.run([.revenueCat]) { service in
            let bought = try service.buy("garden.seeds", quantity: 3)
            for _ in 0..<2 {
                let answer = try await service.redeem(bought.purchaseToken, of: "alice", products: "garden.seeds")
                #expect(answer.status == 200)
                #expect(answer["purchased_products", "garden.seeds", "should_consume"] == .bool(true))
            }
            let balances = try await service.door.send(.get, DoorGarden.path(of: "alice", "/virtual_currencies"))
            #expect(balances["virtual_currencies", "seeds", "balance"] == .integer(30))
            let other = try await service.redeem(bought.purchaseToken, of: "bob", products: "garden.seeds")
            #expect(other.status == 409 && other["code"] == .integer(7102))
            // The customer buys the product again, and the SDK sends the consumed purchase once more.
            try await service.client.consume(bought.purchaseToken, of: "garden.seeds")
            let next = try service.buy("garden.seeds")
            for token in [next.purchaseToken, bought.purchaseToken] {
                #expect(try await service.redeem(token, of: "alice", products: "garden.seeds").status == 200)
            }
        }
    }

    @Test func `the entity tag of an answer covers what the SDK is to consume`() async throws {
        try await PlayDoor.run([.revenueCat]) { service in
            let (gate, seeds) = (try service.buy(Self.gate), try service.buy("garden.seeds"))
            let name = try #require(HTTPField.Name.revenueCatEntityTag)
            var tags: [String?] = []
            for (bought, product) in [(gate, Self.gate), (seeds, "garden.seeds"), (gate, Self.gate), (gate, Self.gate)]
            {
                let answer = try await service.redeem(bought.purchaseToken, of: "alice", products: product)
                tags.append(answer.headers[name])
            }
            #expect(Set(tags).count == 3 && tags[2] == tags[3])
            #expect(try await service.door.customer("alice").headers[name] != tags[3])
        }
    }

    @Test func `a subscription is active by the state that Google Play states`() async throws {
        try await PlayDoor.run([.revenueCat]) { service in
            let bought = try service.subscribe(Self.monthly)
            func send() async throws -> DoorGarden.Answer {
                try await service.redeem(bought.purchaseToken, of: "alice", products: Self.monthly)
            }
            let first = try await send()
            #expect(first.status == 200)
            #expect(try JSONSchema(named: "CustomerInfo").violations(in: try #require(first.json)) == [])
            func subscription(_ name: String, _ answer: DoorGarden.Answer) -> JSONValue? {
                answer["subscriber", "subscriptions", Self.monthly]?.at(name)
            }
            #expect(subscription("store", first) == "play_store")
            #expect(subscription("store_transaction_id", first) == .string(try #require(bought.orderId)))
            #expect(subscription("expires_date", first) == .string(bought.expiryTime))
            #expect(subscription("product_plan_identifier", first) == .string(bought.basePlanId))
            #expect(
                first["subscriber", "entitlements", "gardener", "product_plan_identifier"] == .string(bought.basePlanId)
            )
            #expect(subscription("unsubscribe_detected_at", first) == .null)
            #expect(first["subscriber", "management_url"] == "https://play.google.com/store/account/subscriptions")
            #expect(first["subscriber", "entitlements", "gardener", "product_identifier"] == .string(Self.monthly))
            #expect(first["purchased_products", Self.monthly, "should_consume"] == .bool(false))

            try await service.client.acknowledge(bought.purchaseToken, of: Self.monthly, as: .subscription)
            try service.change { try $0.perform(.cancel, on: bought.number) }
            #expect(subscription("unsubscribe_detected_at", try await send()) == "2026-10-31T12:01:00Z")
            service.advance(days: 40)
            let ended = try await send()
            #expect(ended.status == 200 && ended["subscriber", "management_url"] == .null)
            #expect(try await service.redeem(bought.purchaseToken, of: "bob", products: Self.monthly).status == 409)
        }
    }

    @Test func `a renewal is the next period of the same subscription`() async throws {
        try await PlayDoor.run([.revenueCat]) { service in
            let bought = try service.subscribe(Self.monthly)
            _ = try await service.redeem(bought.purchaseToken, of: "alice", products: Self.monthly)
            try await service.client.acknowledge(bought.purchaseToken, of: Self.monthly, as: .subscription)
            service.advance(days: 35)
            let renewed = try await service.redeem(bought.purchaseToken, of: "alice", products: Self.monthly)
            let subscription = try #require(renewed["subscriber", "subscriptions", Self.monthly])
            #expect(subscription.at("store_transaction_id") == .string(try #require(bought.orderId) + "..0"))
            #expect(subscription.at("original_purchase_date") == .string(ExpectedAnswer.start))
            #expect(subscription.at("purchase_date") == .string(bought.expiryTime))
            #expect(renewed["subscriber", "management_url"] != .null)
        }
    }

    @Test func `a pending purchase grants nothing, until it is paid`() async throws {
        try await PlayDoor.run([.revenueCat]) { service in
            let bought = try service.buy(Self.gate, isPending: true)
            let pending = try await service.redeem(bought.purchaseToken, of: "alice", products: Self.gate)
            #expect(pending.status == 503 && pending["code"] == .integer(7651))
            #expect(try await service.door.customer("alice")["subscriber", "non_subscriptions"] == .object([:]))
            try service.change { try $0.complete(bought.number) }
            let paid = try await service.redeem(bought.purchaseToken, of: "alice", products: Self.gate)
            #expect(paid.status == 200)
            let unpaid = try service.buy(Self.gate, isPending: true, account: "bob")
            try service.change { try $0.cancel(unpaid.number) }
            let canceled = try await service.redeem(unpaid.purchaseToken, of: "bob", products: Self.gate)
            #expect(canceled.status == 503 && canceled["code"] == .integer(7651))
        }
    }

    @Test func `a refunded purchase is taken back, and its token is a purchase of the customer all the same`()
        async throws
    {
        try await PlayDoor.run([.revenueCat]) { service in
            let bought = try service.buy(Self.gate)
            #expect(try await service.redeem(bought.purchaseToken, of: "alice", products: Self.gate).status == 200)
            try service.change { try $0.refund(bought.number) }
            let refunded = try await service.redeem(bought.purchaseToken, of: "alice", products: Self.gate)
            #expect(refunded.status == 200)
            #expect(refunded["subscriber", "non_subscriptions"] == .object([:]))
            #expect(refunded["subscriber", "entitlements"] == .object([:]))
        }
    }

    @Test func `a token that Google Play does not know, and a Play that does not answer, are no final refusals`()
        async throws
    {
        try await PlayDoor.run([.revenueCat]) { service in
            let unknown = try await service.redeem(Self.token, of: "alice", products: Self.gate)
            #expect(unknown.status == 503 && unknown["code"] == .integer(7103))
        }
        let key = try PrivateKey.generateRSA()
        let url = try #require(URL(string: "http://127.0.0.1:9"))
        let account = JSONValue.object([
            "type": "service_account", "client_email": "till@example.iam.gserviceaccount.com",
            "private_key": .string(try key.pem()), "token_uri": .string(url.absoluteString + "/token"),
        ])
        let client = PlayDeveloperClient(
            account: try GoogleServiceAccount(json: account.compactBytes), url: url,
            packageName: TestGarden.bundleIdentifier, realm: .localPlay)
        let door = try await DoorGarden([.revenueCat], play: client)
        let answer = try await door.send(
            .post, "/v1/receipts", Self.receipt(Self.token, of: "alice", products: [Self.gate]), headers: Self.headers)
        #expect(answer.status == 503 && answer["code"] == .integer(7231))
    }

    @Test func `a restore follows the ownership policy`() async throws {
        try await PlayDoor.run([.revenueCat], policy: .transfer(pauseSeconds: 0)) { service in
            let bought = try service.buy(Self.gate)
            for user in ["alice", "bob"] {
                let answer = try await service.door.send(
                    .post, "/v1/receipts",
                    Self.receipt(bought.purchaseToken, of: user, products: [Self.gate], isRestore: true),
                    headers: Self.headers)
                #expect(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
                #expect(answer["subscriber", "non_subscriptions", Self.gate] != nil)
                // A purchase stays where it is for a while after a transfer.
                service.advance(days: 1)
            }
            #expect(try await service.door.customer("alice")["subscriber", "non_subscriptions"] == .object([:]))
        }
    }
}
