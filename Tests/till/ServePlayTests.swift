import AppStore
import Foundation
import HTTPSupport
import PlayStore
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// `till serve --play`: a service and a local Google Play in one process, in the real binary.
@Suite struct ServePlayTests {
    private static let sandboxKey = "the-sandbox-key-of-the-tests"
    private static let arguments = ["--play", "--play-port", "0", "--sandbox-key", sandboxKey]

    private let till: TillProcess
    private let garden: TestGarden
    private let catalog: [String]

    init() throws {
        till = try TillProcess()
        garden = try TestGarden()
        catalog = ["--catalog", garden.folder.folder("catalog").path]
    }

    /// The address of the Play, which the key file of the service's account has.
    private func playURL() throws -> URL {
        let file = till.folder.folder("data/play").appending(path: "service-account.json")
        let key = try JSONDecoder().decode(ServiceAccountKey.self, from: Data(contentsOf: file))
        return try #require(URL(string: key.tokenUri.replacing("/token", with: "")))
    }

    private func redeem(
        _ purchase: SignedPurchase, for user: String, at service: ServeProcess, key: String
    ) async throws -> ServeProcess.Answer {
        try await service.curl("/v1/users/\(user)/transactions", key: key, body: purchase.json.compactText)
    }

    @Test(arguments: [["--play"], ["--store", "--play"]])
    func `a service runs a Play on its own port, and both end with Ctrl-C`(options: [String]) async throws {
        let key = try await till.makeKey()
        let service = try await ServeProcess(till, options + Self.arguments.dropFirst() + catalog)
        let play = try playURL()
        #expect(play.port != service.url.port)
        #expect(try await service.curl("/health/ready", at: play).status == 204)
        let bought = try await service.curl(
            "/sandbox/v1/purchases", key: Self.sandboxKey,
            body: #"{"packageName":"com.example.garden","productId":"garden.gate","account":"alice"}"#, at: play)
        #expect(bought.status == 201)
        let purchase = try bought.decoded(PlayPurchaseResource.self).signedPurchase
        let redeemed = try await redeem(purchase, for: "alice", at: service, key: key)
        #expect(try redeemed.decoded(Redemption.self).outcome == .granted)
        #expect(try await service.curl("/sandbox/v1/purchases", key: "another", at: play).status == 401)
        // The service itself has no part of the Play.
        #expect(try await service.curl("/androidpublisher/v3/applications/x/orders/y", key: key).status == 404)
        #expect(await service.end(SIGINT) == 0)
        #expect(try await service.curl("/health/ready", at: play).status == 0)
    }

    @Test func `a service goes by the Play's clock`() async throws {
        let key = try await till.makeKey()
        let service = try await ServeProcess(till, Self.arguments + catalog)
        let play = try playURL()
        let moved = try await service.curl(
            "/sandbox/v1/time/advance", key: Self.sandboxKey, body: #"{"by":"2mo"}"#, at: play)
        #expect(moved.status == 200)
        // Without the clock, the purchase would be of the future.
        let bought = try await till.run(
            arguments: ["play", "buy", "garden.gate", "--account", "alice", "--json"] + catalog
        ).decoded(PlayPurchaseResource.self)
        let redeemed = try await redeem(bought.signedPurchase, for: "alice", at: service, key: key)
        #expect(try redeemed.decoded(Redemption.self).outcome == .granted)
        let owned = try await till.run(arguments: ["owned", "alice"] + catalog)
        #expect(owned.output.contains("gate 1"), "\(owned.output)\(owned.error)")
        #expect(await service.end(SIGTERM) == 0)
    }

    private func items(of user: String, at service: ServeProcess, key: String) async throws -> [String] {
        try await service.curl("/v1/users/\(user)/items", key: key).decoded(List<OwnedItemResource>.self).elements
            .map(\.item.description)
    }

    /// What a user has bought at both stores. Each store tells the service by itself what it takes back.
    @Test func `a user who buys at both stores owns the union, and a refund at one leaves the other`() async throws {
        let key = try await till.makeKey()
        let service = try await ServeProcess(till, ["--store"] + Self.arguments + catalog)
        let play = try playURL()
        func buy(_ product: String, _ options: String...) async throws -> TillProcess.Result {
            try await till.run(
                arguments: ["buy", product, "--user", "alice", "--server", service.url.absoluteString] + options
                    + catalog, environment: ["TILL_API_KEY": key])
        }
        // The App Store's gate and both stores' subscriptions.
        #expect(try await buy("garden.gate").status == 0)
        #expect(try await buy("garden.basic.monthly").status == 0)
        let played = try await buy("garden.premium.monthly", "--store", "play_store", "--proof", "token")
        #expect(played.status == 0, "\(played.output)\(played.error)")
        #expect(try await buy("garden.gate", "--store", "play_store").status == 0)
        let all = ["bed 0", "gate 1", "plus 1", "plus 2"]
        #expect(try await items(of: "alice", at: service, key: key) == all)

        // The Play takes its gate back; the App Store's stays.
        let refunded = try await service.curl(
            "/sandbox/v1/purchases/2/refund", key: Self.sandboxKey, body: "{}", at: play)
        #expect(refunded.status == 200)
        try await expectEventually {
            try await service.curl("/v1/users/alice/transactions", key: key)
                .decoded(List<TransactionResource>.self).elements
                .contains { $0.origin == .localPlayProduction && $0.revocationDate != nil }
        }
        #expect(try await items(of: "alice", at: service, key: key) == all)
        // The Play ends its subscription; the App Store's stays.
        let ended = try await service.curl(
            "/sandbox/v1/subscriptions/1/refund", key: Self.sandboxKey, body: "{}", at: play)
        #expect(ended.status == 200)
        try await expectEventually {
            try await items(of: "alice", at: service, key: key) == ["bed 0", "gate 1", "plus 1"]
        }
        #expect(await service.end(SIGTERM) == 0)
    }

    @Test func `a command has an order refunded, once another key has approved it`() async throws {
        let (key, otherKey) = (try await till.makeKey("all"), try await till.makeKey("stores", person: "bob"))
        let service = try await ServeProcess(till, Self.arguments + ["--store-action-approval", "refund"] + catalog)
        let play = try playURL()
        let bought = try await service.curl(
            "/sandbox/v1/purchases", key: Self.sandboxKey,
            body: #"{"packageName":"com.example.garden","productId":"garden.gate","account":"alice"}"#, at: play
        ).decoded(PlayPurchaseResource.self)
        let redeemed = try await service.curl(
            "/v1/users/alice/transactions", key: key, body: #"{"purchaseToken":"\#(bought.purchaseToken)"}"#)
        #expect(try redeemed.decoded(Redemption.self).outcome == .granted)
        let charge = try #require(
            try await service.curl("/v1/users/alice/transactions", key: key)
                .decoded(List<TransactionResource>.self).elements.first)
        func actions(_ arguments: String..., key: String) async throws -> TillProcess.Result {
            try await till.run(
                arguments: ["actions"] + arguments + ["--server", service.url.absoluteString],
                environment: ["TILL_API_KEY": key])
        }
        let identifier = "4c2f8c6e-1f0f-4b0a-9a55-2f1b7e3c9d10"
        for _ in 0..<2 {
            let asked = try await actions(
                "request", "refund", charge.transactionId, "takesGoods=true", "--reason", "Bought twice", "--action-id",
                identifier, key: key)
            #expect(asked.status == 0 && asked.output.contains("till actions approve \(identifier)"), "\(asked)")
        }
        let own = try await actions("approve", identifier, key: key)
        #expect(own.status == 1 && own.error.contains("A second person must approve"), "\(own)")
        let approved = try await actions("approve", identifier, key: otherKey)
        #expect(approved.status == 0 && approved.output.contains("Google Play has done it."), "\(approved)")
        #expect(try await items(of: "alice", at: service, key: key) == ["bed 0"])
        let listed = try await actions("list", "confirmed", key: key)
        #expect(listed.output.contains(identifier) && listed.output.contains("Bought twice"), "\(listed)")
        let wrong = try await actions("request", "refund", charge.transactionId, "days=x", "--reason", "y", key: key)
        #expect(wrong.status == 64, "\(wrong)")
        // Without --server, the command has no key of a store.
        let local = try await till.run(
            arguments: ["actions", "request", "refund", charge.transactionId, "--reason", "y"] + catalog)
        #expect(local.status == 1 && local.error.contains("--server"), "\(local)")
        #expect(await service.end(SIGTERM) == 0)
    }

    @Test func `a command reports a sale outside Google Play, its refund, and lists both`() async throws {
        let key = try await till.makeKey("all")
        let service = try await ServeProcess(till, Self.arguments + catalog)
        let play = try playURL()
        let token = try await service.curl(
            "/sandbox/v1/externalTransactionTokens", key: Self.sandboxKey,
            body: #"{"packageName":"com.example.garden","billingProgram":"EXTERNAL_CONTENT_LINK"}"#, at: play
        ).decoded(PlayExternalTokenResource.self).externalTransactionToken
        let file = till.folder.file("sale.json")
        let time = SystemClock().now().adding(seconds: -60).rfc3339
        try Data(
            """
            {"externalTransactionId": "sale-1", "transactionTime": "\(time)", "userTaxAddress": {"regionCode": "US"},
             "originalPreTaxAmount": {"currency": "USD", "priceMicros": "9990000"},
             "originalTaxAmount": {"currency": "USD", "priceMicros": "0"},
             "oneTimeTransaction": {"externalTransactionToken": "\(token)"},
             "externalContentLinkDetails": {"linkType": "LINK_TO_DIGITAL_CONTENT_OFFER"}}
            """.utf8
        ).write(to: file)
        func command(_ arguments: String...) async throws -> TillProcess.Result {
            try await till.run(
                arguments: ["external-transactions"] + arguments + ["--server", service.url.absoluteString],
                environment: ["TILL_API_KEY": key])
        }
        let reported = try await command("report", file.path)
        #expect(reported.status == 0 && reported.output.contains("externalContentLinks"), "\(reported)")
        #expect(!reported.output.contains(token))
        try await expectEventually { try await command("list", "--state", "passedOn").output.contains("sale-1") }
        let part = try await command("refund", "sale-1", "--refund-id", "r1", "--micros", "990000", "--currency", "USD")
        #expect(part.status == 0 && part.output.contains("partialRefund r1"), "\(part)")
        #expect(try await command("refund", "sale-1", "--refund-id", "r2").status == 64)
        let unknown = try await command("refund", "sale-2")
        #expect(unknown.status == 1 && unknown.error.contains("Nobody has reported"), "\(unknown)")
        try Data("no JSON".utf8).write(to: file)
        #expect(try await command("report", file.path).status == 64)
        #expect(await service.end(SIGTERM) == 0)
    }

    @Test func `the service acknowledges what it has granted, and hears of a renewal`() async throws {
        let key = try await till.makeKey()
        let service = try await ServeProcess(till, Self.arguments + catalog)
        let play = try playURL()
        let bought = try await service.curl(
            "/sandbox/v1/subscriptions", key: Self.sandboxKey,
            body: #"{"packageName":"com.example.garden","productId":"garden.basic.monthly","account":"alice"}"#,
            at: play
        ).decoded(PlaySubscriptionResource.self)
        #expect(!bought.isAcknowledged)
        let redeemed = try await redeem(bought.signedPurchase, for: "alice", at: service, key: key)
        #expect(try redeemed.decoded(Redemption.self).outcome == .granted)
        func subscription() async throws -> PlaySubscriptionResource {
            try await service.curl("/sandbox/v1/subscriptions/\(bought.number)", key: Self.sandboxKey, at: play)
                .decoded(PlaySubscriptionResource.self)
        }
        try await expectEventually { try await subscription().isAcknowledged }
        let moved = try await service.curl(
            "/sandbox/v1/time/advance", key: Self.sandboxKey, body: #"{"by":"33d"}"#, at: play)
        #expect(moved.status == 200)
        try await expectEventually {
            try await service.curl("/v1/users/alice/transactions", key: key)
                .decoded(List<TransactionResource>.self).elements.count == 2
        }
        #expect(try await items(of: "alice", at: service, key: key) == ["bed 0", "plus 1"])
        #expect(await service.end(SIGTERM) == 0)
    }

    @Test func `a step of one customer's clock moves no other customer of the service`() async throws {
        let key = try await till.makeKey()
        let service = try await ServeProcess(till, Self.arguments + catalog)
        let play = try playURL()
        func act(_ path: String, _ body: String) async throws -> ServeProcess.Answer {
            try await service.curl("/sandbox/v1/\(path)", key: Self.sandboxKey, body: body, at: play)
        }
        for user in ["alice", "bob"] {
            let bought = try await act(
                "subscriptions",
                #"{"packageName":"com.example.garden","productId":"garden.basic.monthly","account":"\#(user)"}"#
            ).decoded(PlaySubscriptionResource.self)
            let redeemed = try await redeem(bought.signedPurchase, for: user, at: service, key: key)
            #expect(try redeemed.decoded(Redemption.self).outcome == .granted)
        }
        func isAcknowledged(_ number: Int) async throws -> Bool {
            try await service.curl("/sandbox/v1/subscriptions/\(number)", key: Self.sandboxKey, at: play)
                .decoded(PlaySubscriptionResource.self).isAcknowledged
        }
        for number in 1...2 { try await expectEventually { try await isAcknowledged(number) } }
        func transactions(of user: String) async throws -> Int {
            try await service.curl("/v1/users/\(user)/transactions", key: key)
                .decoded(List<TransactionResource>.self).elements.count
        }
        #expect(try await act("time/advance", #"{"by":"33d","account":"alice"}"#).status == 200)
        try await expectEventually { try await transactions(of: "alice") == 2 }
        #expect(try await items(of: "alice", at: service, key: key) == ["bed 0", "plus 1"])
        #expect(try await transactions(of: "bob") == 1)
        // Her subscription ends at her time.
        #expect(try await act("subscriptions/1/cancel", "{}").status == 200)
        #expect(try await act("time/advance", #"{"by":"2mo","account":"alice"}"#).status == 200)
        try await expectEventually { try await items(of: "alice", at: service, key: key) == ["bed 0"] }
        #expect(try await items(of: "bob", at: service, key: key) == ["bed 0", "plus 1"])
        #expect(await service.end(SIGTERM) == 0)
    }

    @Test func `a service account of the settings is refused beside a Play`() async throws {
        let file = till.folder.file("account.json")
        try Data("{}".utf8).write(to: file)
        let refused = try await till.run(
            "serve", "--port", "0", "--play", "--google-service-account", file.path, "--google-play-url",
            "http://127.0.0.1:1")
        #expect(refused.status == 1)
        #expect(
            refused.error.contains(
                "`google-service-account` must be left out beside --play, whose account the service makes itself"),
            "\(refused.error)")
    }

    @Test func `a service that runs takes the key of a new app`() async throws {
        let key = try await till.makeKey()
        let service = try await ServeProcess(till, catalog)
        let early = SignedPurchase(data: Array("{}".utf8), signature: Array("AAAA".utf8))
        #expect(try await redeem(early, for: "alice", at: service, key: key).code == "appKeyMissing")
        let bought = try await till.run(
            arguments: ["play", "buy", "garden.gate", "--account", "alice", "--json"] + catalog
        ).decoded(PlayPurchaseResource.self)
        let redeemed = try await redeem(bought.signedPurchase, for: "alice", at: service, key: key)
        #expect(try redeemed.decoded(Redemption.self).outcome == .granted)
        #expect(await service.end(SIGTERM) == 0)
    }

    @Test func `the service account stays the same, and has the address of the latest start`() async throws {
        let file = till.folder.folder("data/play").appending(path: "service-account.json")
        var keys: [ServiceAccountKey] = []
        for _ in 0..<2 {
            let service = try await ServeProcess(till, Self.arguments + catalog)
            keys.append(try JSONDecoder().decode(ServiceAccountKey.self, from: Data(contentsOf: file)))
            let account = try await service.curl("/sandbox/v1/methods", key: Self.sandboxKey, at: try playURL())
            #expect(account.status == 200)
            #expect(await service.end(SIGTERM) == 0)
        }
        #expect(keys[0].privateKey == keys[1].privateKey)
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func `a port in use is reported once, and nothing starts`() async throws {
        let other = try await ServeProcess(till, [], command: "play")
        let port = try #require(other.url.port)
        let refused = try await till.run("serve", "--port", "0", "--play", "--play-port", "\(port)")
        #expect(refused.status == 1)
        #expect(
            refused.error.contains(
                "127.0.0.1:\(port) is in use by another program. End it, or choose another port with --play-port."))
        #expect(refused.error.components(separatedBy: "in use").count == 2)
        #expect(refused.output.isEmpty)
        #expect(await other.end(SIGTERM) == 0)
        // The port is free now.
        let service = try await ServeProcess(till, ["--play", "--play-port", "\(port)"])
        #expect(try playURL().port == port)
        #expect(await service.end(SIGTERM) == 0)
    }

    @Test(arguments: ["apple/Production", "google/Production"])
    func `a Play does not run beside a service that accepts production`(origin: String) async throws {
        let refused = try await till.run("serve", "--port", "0", "--play", "--accept", origin)
        #expect(refused.status == 1)
        #expect(
            refused.error.contains(
                "A local Google Play does not run beside a service that accepts \(origin): leave out --play"))
    }

    @Test(arguments: [
        ["--play-port", "0"], ["--play", "--play-port", "70000"], ["--play", "--play-port", "x"],
        ["--sandbox-key", "0123456789abcdef"],
    ])
    func `wrong usage ends with status 64`(options: [String]) async throws {
        let refused = try await till.run(arguments: ["serve"] + options)
        #expect(refused.status == 64)
        #expect(refused.error.contains("--play"), "\(refused.error)")
    }
}
