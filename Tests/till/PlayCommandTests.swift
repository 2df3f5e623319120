import Foundation
import PlayStore
import Proofs
import TestSupport
import Testing

/// `till play`: the local Google Play on the command line.
@Suite struct PlayCommandTests {
    private struct License: Decodable {
        let packageName: String
        let licensingKey: String
    }

    private struct Purchases: Decodable {
        let purchases: [PlayPurchaseResource]
    }

    private struct Faults: Decodable {
        let calls: [CallFault]
    }

    private struct Disputes: Decodable {
        let disputes: [PlayDisputeResource]
    }

    private struct Key: Decodable {
        let keyFile: String
    }

    private let till: TillProcess

    init() throws {
        till = try TillProcess(hasKeys: false)
    }

    private func purchases() async throws -> [PlayPurchaseResource] {
        try await till.run("play", "purchases", "--json").decoded(Purchases.self).purchases
    }

    @Test func `a purchase of the shipped catalog is signed, and refunded unless it is acknowledged`() async throws {
        let bought = try await till.run(
            "play", "buy", "com.memolease.sesac1.sprout1", "--account", "alice", "--obfuscated-account", "a1", "--json"
        ).decoded(PlayPurchaseResource.self)
        let license = try await till.run("play", "license", "--json").decoded(License.self)
        #expect(license.packageName == bought.packageName)
        let key = try PublicKey(rsaInformation: license.licensingKey)
        let signature = try #require(Base64.decode(bought.signedPurchase.signature))
        #expect(key.verifiesRSA(signature, over: bought.signedPurchase.data, digest: .sha1))
        let text = String(decoding: bought.signedPurchase.data, as: UTF8.self)
        #expect(text.contains(#""obfuscatedAccountId":"a1""#))
        let again = try await till.run("play", "buy", "com.memolease.sesac1.sprout1", "--account", "alice")
        #expect(again.status == 1)
        #expect(try await till.run("play", "time", "--advance", "3d").status == 0)
        #expect(try await purchases().map(\.state) == ["canceled"])
    }

    @Test func `several products are bought in one order, and one for a promotion code`() async throws {
        let prefix = "com.memolease.sesac1."
        let both = try await till.run(
            "play", "buy", prefix + "sprout1", "--with", prefix + "background1", "--account", "alice")
        #expect(both.status == 0 && both.error.contains("\(prefix)sprout1 + \(prefix)background1  GPA."))
        let given = try await till.run("play", "buy", prefix + "sprout2", "--account", "alice", "--one-time-code")
        #expect(given.status == 0 && !given.error.contains("GPA."))
        let twice = try await till.run("play", "buy", prefix + "background1", "--account", "alice")
        #expect(twice.status == 1 && twice.error.contains("owns \"\(prefix)background1\""))
        #expect(try await purchases().map(\.productIds) == [nil, [prefix + "sprout1", prefix + "background1"]])
    }

    @Test func `a pending payment completes or is canceled`() async throws {
        for (number, decision, state) in [("1", "complete", "purchased"), ("2", "cancel", "canceled")] {
            let bought = try await till.run(
                "play", "buy", "com.memolease.sesac1.sprout\(number)", "--account", "bob", "--pending", "--json")
            #expect(try bought.decoded(PlayPurchaseResource.self).state == "pending")
            let decided = try await till.run("play", decision, number, "--json")
            #expect(try decided.decoded(PlayPurchaseResource.self).state == state)
            #expect(try await till.run("play", decision, number).status == 1)
        }
        let refunded = try await till.run("play", "refund", "1", "--reason", "chargeback", "--json")
        #expect(try refunded.decoded(PlayPurchaseResource.self).state == "canceled")
        #expect(try await till.run("play", "refund", "3").status == 1)
        #expect(try await till.run("play", "reset").output.hasPrefix("Cleared 2 purchases"))
        #expect(try await purchases().isEmpty)
    }

    @Test func `a plan is replaced, and its number acted on`() async throws {
        let file = till.folder.file("Garden.play.json")
        let plans = ["premium": 10, "gold": 20].map { product, price in
            """
            {"packageName": "com.example.garden", "productId": "\(product)",
             "listings": [{"languageCode": "en-US", "title": "\(product)"}],
             "basePlans": [{"basePlanId": "monthly", "state": "ACTIVE",
                "prepaidBasePlanType": {"billingPeriodDuration": "P1M"},
                "regionalConfigs": [{"regionCode": "US", "price": {"currencyCode": "USD", "units": "\(price)"}}]}]}
            """
        }
        try Data("{\"subscriptions\": [\(plans.joined(separator: ", "))]}".utf8).write(to: file)
        let started = try await ServeProcess(till, ["--products", file.path], command: "play")
        #expect(await started.end(SIGTERM) == 0)
        func subscribe(_ product: String, _ more: String...) async throws -> TillProcess.Result {
            try await till.run(arguments: ["play", "subscribe", product, "--account", "alice", "--json"] + more)
        }
        let pending = try await subscribe("premium", "--pending").decoded(PlaySubscriptionResource.self)
        #expect(pending.state == "pending" && pending.orderId == nil)
        let bought = try await till.run("play", "subscription", "1", "complete", "--json")
        #expect(try bought.decoded(PlaySubscriptionResource.self).state == "active")
        // Nothing replaces what is not acknowledged.
        let refused = try await subscribe("gold", "--replace", "1", "--mode", "CHARGE_FULL_PRICE")
        #expect(refused.status == 1 && refused.error.contains("is not acknowledged yet"))
        #expect(try await subscribe("gold", "--mode", "LATER").status == 64)
    }

    @Test func `a product is rented, and pre-ordered until its release`() async throws {
        let file = till.folder.file("Garden.play.json")
        let name = #""packageName":"com.example.garden","productId":"gate""#
        let prices = #"[{"regionCode":"US","price":{"currencyCode":"USD","units":"2"},"availability":"AVAILABLE"}]"#
        let options = [("buy", #""buyOption":{}"#), ("rent", #""rentOption":{"rentalPeriod":"P2D"}"#)].map {
            #"{"purchaseOptionId":"\#($0)","state":"ACTIVE","regionalPricingAndAvailabilityConfigs":\#(prices),\#($1)}"#
        }.joined(separator: ",")
        let catalog = """
            {"oneTimeProducts":[{\(name),"purchaseOptions":[\(options)],
            "listings":[{"languageCode":"en-US","title":"A gate"}]}],
            "oneTimeProductOffers":[{\(name),"purchaseOptionId":"buy","offerId":"early","state":"ACTIVE",
            "preOrderOffer":{"startTime":"2020-01-01T00:00:00Z","endTime":"2999-01-01T00:00:00Z",
            "releaseTime":"2999-01-01T00:00:00Z",
            "priceChangeBehavior":"PRE_ORDER_PRICE_CHANGE_BEHAVIOR_NEW_ORDERS_ONLY"},
            "regionalPricingAndAvailabilityConfigs":[{"regionCode":"US","availability":"AVAILABLE","noOverride":{}}]}]}
            """
        try Data(catalog.utf8).write(to: file)
        let started = try await ServeProcess(till, ["--products", file.path], command: "play")
        #expect(await started.end(SIGTERM) == 0)
        func buy(_ account: String, _ more: String...) async throws -> TillProcess.Result {
            try await till.run(arguments: ["play", "buy", "gate", "--account", account] + more)
        }
        #expect(try await buy("alice", "--purchase-option", "rent").error.contains("until "))
        let rented = try await buy("bob", "--purchase-option", "rent", "--json").decoded(PlayPurchaseResource.self)
        #expect(rented.rentalEnd != nil && rented.state == "purchased" && rented.releaseTime == nil)
        let ordered = try await buy("carol", "--offer", "early", "--json").decoded(PlayPurchaseResource.self)
        #expect(ordered.releaseTime == "2999-01-01T00:00:00Z" && ordered.state == "pending")
        let early = try await till.run("play", "complete", "3")
        #expect(early.status == 1 && early.error.contains("pre-order"))
        #expect(try await till.run("play", "products").output.contains("P2D"))
    }

    @Test func `faults are added, listed and cleared`() async throws {
        func fail(_ more: String...) async throws -> [CallFault] {
            try await till.run(arguments: ["play", "fail", "--json"] + more).decoded(Faults.self).calls
        }
        #expect(try await till.run("play", "buy", "com.memolease.sesac1.sprout1", "--account", "alice").status == 0)
        let added = try await fail(
            "backendError", "--status", "503", "--calls", "3", "--method", "orders.get", "--after")
        #expect(added.map(\.calls) == [3] && added.first?.isAfterwards == true && added.first?.method == "orders.get")
        #expect(try await fail() == added)
        #expect(try await fail("--clear").isEmpty)
        #expect(try await till.run("play", "fail", "none").error.contains("no documented reason"))
        let disturbed = try await till.run("play", "notifications", "--fault", "drop", "--fault", "delay:30")
        #expect(disturbed.output.hasPrefix("The faults of the next notifications: drop, delay:30."))
        let replayed = try await till.run("play", "notifications", "--replay", "1")
        #expect(replayed.status == 1 && replayed.error.contains("Nobody is notified."))
    }

    @Test func `a disputed payment is charged back after a day`() async throws {
        let bought = try await till.run(
            "play", "buy", "com.memolease.sesac1.sprout1", "--account", "carol", "--json"
        ).decoded(PlayPurchaseResource.self)
        let order = try #require(bought.orderId)
        let disputes = try await till.run("play", "dispute", order, "--json").decoded(Disputes.self).disputes
        #expect(disputes.map(\.orderId) == [order] && disputes.map(\.state) == ["open"])
        #expect(try await till.run("play", "dispute", order).status == 1)
        #expect(try await till.run("play", "notifications").output.contains("refund review"))
        #expect(try await till.run("play", "time", "--advance", "1d").status == 0)
        #expect(try await till.run("play", "dispute").output.contains("refunded"))
        #expect(try await purchases().map(\.state) == ["canceled"])
    }

    @Test func `an app gets the token of a program, and an app outside Google Play is registered`() async throws {
        // The Play is made by its first purchase.
        let bought = try await till.run("play", "buy", "com.memolease.sesac1.sprout1", "--account", "alice")
        #expect(bought.status == 0)
        let token = try await till.run("play", "external-token", "EXTERNAL_OFFER", "--json")
            .decoded(PlayExternalTokenResource.self)
        #expect(token.billingProgram == "EXTERNAL_OFFER" && !token.externalTransactionToken.isEmpty)
        #expect(try await till.run("play", "external-token", "MINE").status == 64)
        #expect(try await till.run("play", "external-token", "EXTERNAL_OFFER", "--package", "com.none").status == 1)
        let registered = try await till.run("play", "external-apps", "com.example.game", "--category", "GAME")
        #expect(registered.status == 0, "\(registered)")
        let listed = try await till.run("play", "external-apps").output
        #expect(listed.contains("com.example.game") && listed.contains("GAME"))
        #expect(try await till.run("play", "external-apps", "no name").status == 64)
    }

    @Test func `a key file names the Play that runs, also after it has ended`() async throws {
        let started = try await ServeProcess(till, [], command: "play")
        let url = started.url.absoluteString
        func tokenAddress(_ file: String) async throws -> String {
            let key = try await till.run("play", "keys", "--out", file, "--json").decoded(Key.self)
            return try JSONDecoder().decode(ServiceAccountKey.self, from: Data(contentsOf: URL(filePath: key.keyFile)))
                .tokenUri
        }
        #expect(try await tokenAddress("running.json") == url + "/token")
        #expect(await started.end(SIGTERM) == 0)
        #expect(try await tokenAddress("ended.json") == url + "/token")
    }

    @Test func `the key file of a service account is private, and replaces no file`() async throws {
        let key = try await till.run("play", "keys", "--json").decoded(Key.self)
        // Where the documents read it.
        #expect(
            URL(filePath: key.keyFile).standardizedFileURL
                == till.folder.file("play-service-account.json").standardizedFileURL)
        let attributes = try FileManager.default.attributesOfItem(atPath: key.keyFile)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let account = try JSONDecoder().decode(
            ServiceAccountKey.self, from: Data(contentsOf: URL(filePath: key.keyFile)))
        #expect(account.type == "service_account" && account.tokenUri == "http://127.0.0.1:8082/token")
        #expect(throws: Never.self) { try PrivateKey(pem: account.privateKey) }
        #expect(try await till.run("play", "keys").status == 1)
    }

    @Test func `the products of an app have the form of a catalog file`() async throws {
        let started = try await ServeProcess(till, [], command: "play")
        #expect(await started.end(SIGTERM) == 0)
        let listed = try await till.run("play", "products", "--json")
        let file = till.folder.file("Catalog.play.json")
        try Data(listed.output.utf8).write(to: file)
        let catalog = try PlayCatalog(file: file)
        #expect(catalog.products.count > 3)
        let other = try TillProcess(hasKeys: false)
        let second = try await ServeProcess(other, ["--products", file.path], command: "play")
        #expect(await second.end(SIGTERM) == 0)
        #expect(try await other.run("play", "products", "--json").output == listed.output)
        try Data(#"{"oneTimeProducts":[{"productId":"Seeds","packageName":"com.example.a"}]}"#.utf8).write(to: file)
        let wrong = try await other.run("play", "serve", "--products", file.path)
        #expect(wrong.status == 1)
        #expect(wrong.error.contains("Seeds"))
    }
}
