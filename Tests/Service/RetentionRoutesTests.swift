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
import TestSupport
import Testing
import Vocabulary

/// Retention messages: a local App Store asks the service over a socket, and shows what the rules choose.
@Suite struct RetentionRoutesTests {
    private static let product = "garden.basic.monthly"
    private static let message = "c2d9e0a6-1f57-4d3c-b7a4-8e6f5a3b9d02"
    private static let rules = """
        {"rules": [
          {"name": "german", "locales": ["de"], "answer": {"message": {"messageIdentifier": "\(message)"}}},
          {"name": "loyal", "subscribedDays": {"atLeast": 20}, "storefronts": ["USA"],
           "answer": {"promotionalOffer": {"messageIdentifier": "\(message)", "offerIdentifier": "spring"}}},
          {"name": "trial", "isTrial": true, "answer": {}},
          {"name": "bench", "products": ["garden.basic.yearly"],
           "answer": {"advancedCommerceInfo": {"messageIdentifier": "\(message)", "request": {
             "retainBillingCycle": true, "changeItems": [
               {"SKU": "stool", "currentSKU": "bench", "displayName": "Stool", "description": "A stool", "price": 4990,
                "reason": "DOWNGRADE", "effective": "NEXT_BILL_CYCLE"}]}}}},
          {"name": "rest", "isRedeemed": true,
           "answer": {"alternateProduct": {"messageIdentifier": "\(message)", "productId": "garden.premium.monthly"}}}
        ]}
        """

    /// A store, the service that it asks, and a key of the team.
    private final class Shop: Sendable {
        let garden: TestGarden
        let service: EntitlementService
        let metrics = ServiceMetrics()
        private let key: AppStoreServerKey
        private let hasKey: Bool
        private let time: Duration?

        /// - Parameters:
        ///   - time: The time for a choice; nil for the usual one.
        ///   - number: The app's number at the service, and at the store.
        init(
            _ rules: String? = RetentionRoutesTests.rules, within time: Duration? = nil, hasKey: Bool = true,
            number: (service: Int64?, store: Int64?) = (nil, nil)
        ) throws {
            garden = try TestGarden(retentionRules: rules, appAppleIdentifier: number.store)
            service = EntitlementService(
                apps: Apps(App(garden.catalog, appAppleIdentifier: number.service)), verifier: try garden.verifier(),
                ledger: try Ledger(file: garden.folder.file("ledger.sqlite")), clock: garden.store.clock)
            var privateKey = ""
            let made = try garden.store.makeTeamKey { privateKey = $1 }
            key = try AppStoreServerKey(
                privateKey: privateKey, keyIdentifier: made.keyIdentifier, issuerIdentifier: made.issuerIdentifier,
                bundleIdentifier: TestGarden.bundleIdentifier)
            (self.time, self.hasKey) = (time, hasKey)
        }

        /// Buys a subscription, and redeems it for a user, if one is named.
        ///
        /// - Returns: The identifier of the transaction.
        func buy(for name: String? = "alice", account: String = "alice") async throws -> String {
            let bought = try garden.buy(RetentionRoutesTests.product, account: account)
            if let user = name.flatMap({ User(name: $0) }) {
                let signed = try garden.store.signedTransaction(bought.identifier)
                _ = try await service.redeem(Array(signed.utf8), for: user)
            }
            return try #require(bought.purchase).transactionIdentifier
        }

        func receiveNotifications() async throws {
            for told in try garden.store.notifications() {
                _ = try await service.receive(notification: Array(told.signedPayload.utf8))
            }
        }

        private func routes() throws -> ServiceRoutes {
            var stores = StoreClients()
            let nowhere = try #require(URL(string: "http://127.0.0.1:9"))
            if hasKey {
                stores.appStores = [
                    service.reconciler(
                        of: service.apps.first, asking: key.client(at: nowhere), about: [.localSandbox])
                ]
            }
            var settings = RouteSettings(
                .apiKeys(service.ledger.apiKeys(clock: garden.store.clock)), metrics: metrics)
            if let time { settings.retentionTime = time }
            return ServiceRoutes(Till(service, clock: garden.clock), stores: stores, settings)
        }

        /// The exchange when a customer views the page on which a subscription is cancelled.
        func ask(about transaction: String, locale: String = "en-US") async throws -> RetentionExchange {
            try await upload()
            return try await Application(router: try routes().router()).test(.live) { [garden] server in
                let port = try #require(server.port)
                let url = try #require(URL(string: "http://127.0.0.1:\(port)/v1/retention/apple"))
                try garden.store.offerRealtimeURL(url)
                return try await garden.store.requestRetentionMessage(for: transaction, locale: locale)
            }
        }

        func send(_ body: String) async throws -> (status: Int, body: String) {
            try await Application(router: try routes().router()).test(.router) { client in
                try await client.execute(uri: "/v1/retention/apple", method: .post, body: ByteBuffer(string: body)) {
                    (Int($0.status.code), String(buffer: $0.body))
                }
            }
        }

        /// Uploads the message, as the team's server does.
        private func upload() async throws {
            let application = Application(
                router: garden.store.routes(sandboxKey: APIKey("key"), clock: garden.clock).router())
            let token = try key.token(at: garden.clock.now())
            try await application.test(.router) { client in
                for (path, body) in [
                    ("message/\(RetentionRoutesTests.message)", #"{"header":"Stay","body":"Much is in bloom."}"#)
                ] {
                    try await client.execute(
                        uri: "/inApps/v1/messaging/\(path)", method: .put,
                        headers: [.authorization: "Bearer \(token)"], body: ByteBuffer(string: body)
                    ) { answer in
                        // A second upload finds the first.
                        #expect([200, 409].contains(answer.status.code))
                    }
                }
            }
        }

        func counted(_ labels: String) -> Bool {
            metrics.text(queueDepth: 0).contains("till_retention_answers_total{\(labels)} 1")
        }
    }

    @Test func `the customer sees what the rules choose by language, time and ledger`() async throws {
        let shop = try Shop()
        let bought = try await shop.buy()
        // The language decides without the ledger.
        let german = try await shop.ask(about: bought, locale: "de-DE")
        #expect((german.shown, german.messageIdentifier) == ("message", Self.message), "\(german.refusal ?? "")")
        // The first week is free, and a rule leaves the default message then, of which there is none.
        let new = try await shop.ask(about: bought)
        #expect((new.shown, new.body) == ("nothing", "{}"))
        try shop.garden.advance(to: "2026-11-12T12:00:00Z")
        try await shop.receiveNotifications()
        let paying = try await shop.ask(about: bought)
        #expect((paying.shown, paying.refusal) == ("alternateProduct", nil))
        try shop.garden.advance(to: "2026-11-25T12:00:00Z")
        let loyal = try await shop.ask(about: bought)
        #expect((loyal.shown, loyal.refusal) == ("promotionalOffer", nil))
        #expect(shop.counted(#"outcome="message",code="""#) && shop.counted(#"outcome="promotionalOffer",code="""#))
        // Nobody has redeemed it, so no rule about it holds.
        let stranger = try await shop.ask(about: try await shop.buy(for: nil, account: "bob"))
        #expect((stranger.shown, stranger.body) == ("nothing", "{}"))
        #expect(shop.counted(#"outcome="none",code="noRuleMatches""#))
    }

    @Test func `a change of described items is signed for the customer's subscription`() async throws {
        let shop = try Shop()
        let charge = AdvancedCommerceCharge(
            items: [.init(sku: "bench", displayName: "Bench", description: "A bench", price: 9990)],
            terms: .init(displayName: "Tools", description: "All tools", period: .oneMonth), currency: "USD",
            taxCode: "C003-00-2", requestReferenceIdentifier: UUID().uuidString)
        _ = try shop.garden.store.add(
            Payment(productIdentifier: "garden.basic.yearly").with(charge), account: "alice")
        let bought = try #require(try shop.garden.store.process(account: "alice").first?.purchase)
        let signed = try shop.garden.store.signedTransaction(of: bought.transactionIdentifier)
        _ = try await shop.service.redeem(Array(signed.utf8), for: try #require(User(name: "alice")))
        let exchange = try await shop.ask(about: bought.transactionIdentifier)
        #expect((exchange.shown, exchange.refusal) == ("advancedCommerceInfo", nil))
        #expect(exchange.messageIdentifier == Self.message)
    }

    @Test func `no answer waits for the ledger longer than its time`() async throws {
        let shop = try Shop(within: .zero)
        let bought = try await shop.buy()
        let late = try await shop.ask(about: bought)
        #expect((late.status, late.body, late.shown) == (200, "{}", "nothing"))
        #expect(shop.counted(#"outcome="none",code="ledgerLate""#))
        // A rule that does not ask it answers all the same.
        #expect(try await shop.ask(about: bought, locale: "de").shown == "message")
    }

    @Test(
        arguments: [
            (nil, true, "noRules"), (rules.replacing(#"{"rules""#, with: #"{"dryRun": true, "rules""#), true, "dryRun"),
            (
                #"{"rules": [{"name": "a", "answer": {"promotionalOffer": {"messageIdentifier": "\#(message)", "offerIdentifier": "spring"}}}]}"#,
                false, "keyMissing"
            ),
        ] as [(String?, Bool, String)])
    func `an answer without a choice says why in the metrics`(
        rules: String?, hasKey: Bool, code: String
    ) async throws {
        let shop = try Shop(rules, hasKey: hasKey)
        let exchange = try await shop.ask(about: try await shop.buy())
        #expect((exchange.status, exchange.body) == (200, "{}"))
        #expect(shop.counted("outcome=\"none\",code=\"\(code)\""))
    }

    @Test(arguments: [(7, 7, 200), (7, nil, 200), (7, 8, 422), (nil, 8, 200)] as [(Int64?, Int64?, Int)])
    func `a question about another app is refused`(service: Int64?, store: Int64?, status: Int) async throws {
        let shop = try Shop(number: (service, store))
        #expect(try await shop.ask(about: try await shop.buy()).status == status)
    }

    /// Nothing else ties a question of Apple's to the app.
    @Test func `a question of Apple's needs the app's number`() throws {
        let catalog = try TestGarden().catalog
        func isFound(_ number: Int64?, _ asking: Int64, _ origin: Origin, about product: String = Self.product) -> Bool
        {
            Apps(App(catalog, appAppleIdentifier: number)).app(asking: asking, about: product, from: origin) != nil
        }
        for origin in [Origin.appleProduction, .appleSandbox] {
            #expect(
                isFound(42, 42, origin) && !isFound(42, 43, origin) && !isFound(nil, 42, origin)
                    && !isFound(42, 0, origin))
        }
        #expect(isFound(nil, 42, .localSandbox) && isFound(42, 0, .localSandbox) && !isFound(42, 43, .localSandbox))
        #expect(!isFound(nil, 0, .localSandbox, about: "garden.unknown"))
    }

    @Test func `only a signed question is answered, up to 32 KB`() async throws {
        let shop = try Shop()
        let bought = try shop.garden.buy(Self.product)
        let transaction = try shop.garden.store.signedTransaction(bought.identifier)
        for (body, status) in [
            (#"{"signedPayload":"\#(transaction)"}"#, 422), (#"{"signedPayload":"a.b.c"}"#, 422), ("{}", 400),
            (#"{"signedPayload":"\#(String(repeating: "a", count: 33 << 10))"}"#, 413),
        ] {
            let answer = try await shop.send(body)
            #expect(answer.status == status, "\(answer.body)")
        }
        #expect(shop.counted(#"outcome="refused",code="payloadInvalid""#))
    }
}
