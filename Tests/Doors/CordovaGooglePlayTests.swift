import Entitlements
import Foundation
import PlayStore
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// The door of cordova-plugin-purchase with the bodies of its adapter for Google Play.
@Suite struct CordovaGooglePlayTests {
    private static let appKey = Result { try PrivateKey.generateRSA() }
    private static let token = "aaaabbbbccccddddeeeeffff.AO-J1Oz_-"
    private static let order = "GPA.3345-1111-2222-33333"
    private static let gate = "garden.gate"

    private let door: DoorGarden
    private let key: PrivateKey

    init() async throws {
        key = try Self.appKey.get()
        door = try await DoorGarden(
            [.cordova], accepted: AcceptedOrigins([.googleProduction, .localSandbox]),
            appKeys: [AppKey(packageName: TestGarden.bundleIdentifier, publicKey: key.publicKey)])
    }

    /// The body that the plugin makes of a purchase.
    static func body(
        _ signed: SignedPurchase,
        of product: String,
        username: String? = nil,
        obfuscated: String? = nil,
        changing transaction: JSONObject = [:]
    ) -> JSONValue {
        let standard: JSONObject = [
            "type": "android-playstore", "id": .string(order), "purchaseToken": .string(token),
            "signature": .string(String(decoding: signed.signature, as: UTF8.self)),
            "receipt": .string(String(decoding: signed.data, as: UTF8.self)),
        ]
        var additional = JSONObject()
        if let username { _ = additional.add("applicationUsername", .string(username)) }
        if let obfuscated { _ = additional.add("obfuscatedUsername", .string(obfuscated)) }
        return .object([
            "id": .string(product), "type": "non consumable", "offers": .array([]),
            "products": .array([
                .object(["id": .string(product), "platform": "android-playstore", "type": "non consumable"])
            ]),
            "transaction": .object(transaction.members.reduce(standard) { $0.replacing($1.key, with: $1.value) }),
            "additionalData": .object(additional), "device": .object(["plugin": "cordova-plugin-purchase/13.18.0"]),
        ])
    }

    private func purchase(
        _ product: String = gate,
        token: String = token,
        changing changes: [(String, JSONValue?)] = []
    ) throws -> SignedPurchase {
        try TestPurchase(of: product, by: key, token: token, changing: changes).signed
    }

    private func validate(_ body: JSONValue) async throws -> DoorGarden.Answer {
        try await door.send(.post, CordovaMiddleware.path, body)
    }

    private func collection(_ answer: DoorGarden.Answer) throws -> [JSONValue] {
        #expect(answer.status == 200)
        #expect(answer["ok"] == .bool(true), "\(String(decoding: answer.body, as: UTF8.self))")
        guard case .array(let purchases)? = answer["data", "collection"] else { return [] }
        return purchases
    }

    @Test func `a signed purchase is verified, and the answer names it as the plugin does`() async throws {
        let answer = try await validate(Self.body(try purchase(), of: Self.gate, username: "alice"))
        #expect(answer["data", "id"] == .string(Self.gate))
        #expect(answer["data", "latest_receipt"] == .bool(true))
        #expect(answer["data", "transaction", "type"] == "android-playstore")
        #expect(answer["data", "transaction", "id"] == .string(Self.order))
        let date = JSONValue.integer(1_700_000_000_000)
        let purchases = try collection(answer)
        #expect(
            purchases == [
                .object([
                    "id": .string(Self.gate), "platform": "android-playstore", "purchaseId": .string(Self.token),
                    "transactionId": .string(Self.order), "purchaseDate": date, "isExpired": .bool(false),
                    "quantity": .integer(1),
                ])
            ])
        let again = try await validate(Self.body(try purchase(), of: Self.gate, username: "alice"))
        #expect(again["data", "collection"] == answer["data", "collection"])
    }

    @Test func `a purchase without an order has its token as the transaction, as the plugin has it`() async throws {
        let answer = try await validate(
            Self.body(try purchase(changing: [("orderId", nil)]), of: Self.gate, changing: ["id": .string(Self.token)]))
        #expect(try collection(answer).map { $0.at("transactionId") } == [.string(Self.token)])
    }

    /// Anybody with the app may know a customer's id, and has a purchase to present under it.
    @Test func `the answer to another proof has no token, and no other purchase of Google Play`() async throws {
        let tokens = ["gate-token", "season-token"]
        for (product, token) in zip([Self.gate, "garden.season"], tokens) {
            let order: [(String, JSONValue?)] = product == Self.gate ? [] : [("orderId", nil)]
            _ = try await validate(
                Self.body(try purchase(product, token: token, changing: order), of: product, username: "alice"))
        }
        let seeds = try purchase("garden.seeds", token: "seeds-token", changing: [("orderId", nil)])
        let own = try await validate(Self.body(seeds, of: "garden.seeds", username: "alice"))
        #expect(try identifiers(own) == [["garden.seeds", "seeds-token", "seeds-token"]])
        // Another purchase of the product that a stranger presents counts, and has its order.
        let gate = try await validate(
            Self.body(
                try purchase(token: "strangers-token", changing: [("purchaseTime", .integer(1_600_000_000_000))]),
                of: Self.gate, username: "alice"))
        #expect(try identifiers(gate) == [[.string(Self.gate), .string(Self.order), .string(Self.order)]])
        // The App Store has one receipt for all, so the answer to it has both stores.
        let yearly = try door.buy("garden.basic.yearly")
        let apple = try await door.send(
            .post, CordovaMiddleware.path, CordovaLifeTests.body(yearly.proof, username: "alice"))
        let name = try await door.ledger.tokenNames.name(of: "season-token")
        #expect(try identifiers(apple).contains([.string(Self.gate), .string(Self.order), .string(Self.order)]))
        #expect(try identifiers(apple).contains(["garden.season", .string(name), .string(name)]))
        for answer in [own, gate, apple] {
            let text = String(decoding: answer.body, as: UTF8.self)
            #expect(tokens.allSatisfy { !text.contains($0) })
        }
    }

    private func identifiers(_ answer: DoorGarden.Answer) throws -> Set<[JSONValue?]> {
        Set(try collection(answer).map { [$0.at("id"), $0.at("purchaseId"), $0.at("transactionId")] })
    }

    @Test func `a customer of both stores has the purchases of both in each answer`() async throws {
        let season = try door.buy("garden.season")
        _ = try collection(
            try await door.send(
                .post, CordovaMiddleware.path, CordovaLifeTests.body(season.proof, username: "alice")))
        let answer = try await validate(Self.body(try purchase(), of: Self.gate, username: "alice"))
        let platforms = try collection(answer).map { ($0.at("id"), $0.at("platform")) }
        #expect(platforms.map(\.0) == [.string(Self.gate), "garden.season"])
        #expect(platforms.map(\.1) == ["android-playstore", "ios-appstore"])
    }

    @Test func `a consumable counts its quantity, and is only in the answer to its own proof`() async throws {
        let seeds = try purchase("garden.seeds", token: "seeds", changing: [("quantity", .integer(3))])
        let own = try await validate(Self.body(seeds, of: "garden.seeds", username: "alice"))
        #expect(try collection(own).map { $0.at("quantity") } == [.integer(3)])
        let gate = try await validate(Self.body(try purchase(), of: Self.gate, username: "alice"))
        #expect(try collection(gate).map { $0.at("id") } == [.string(Self.gate)])
    }

    @Test func `a forged purchase and one that another customer keeps are refused for good`() async throws {
        _ = try collection(try await validate(Self.body(try purchase(), of: Self.gate, username: "alice")))
        let other = try await validate(Self.body(try purchase(), of: Self.gate, username: "bob"))
        #expect(other.status == 200 && other["ok"] == .bool(false))
        #expect(other["code"] == .integer(6_777_017) && other["status"] == .integer(409))
        let stranger = try TestPurchase(of: Self.gate, by: try PrivateKey.generateRSA(), token: "other").signed
        let changed = SignedPurchase(
            data: Array(String(decoding: try purchase().data, as: UTF8.self).replacing("gate", with: "seas").utf8),
            signature: try purchase().signature)
        for forged in [stranger, changed] {
            let answer = try await validate(Self.body(forged, of: Self.gate, username: "carol"))
            #expect(answer.status == 200 && answer["ok"] == .bool(false))
            #expect(answer["code"] == .integer(6_777_017))
        }
    }

    @Test func `what may be accepted later has the status 503, so that the app asks again`() async throws {
        let refused = [
            try purchase(changing: [("purchaseState", .integer(4))]), try purchase("garden.unknown", token: "unknown"),
            // The signature says nothing about the paid period.
            try purchase("garden.basic.monthly", changing: [("autoRenewing", .bool(true))]),
            try TestPurchase(of: Self.gate, by: key, app: "com.example.other").signed,
        ]
        for purchase in refused {
            let answer = try await validate(Self.body(purchase, of: Self.gate, username: "alice"))
            #expect(answer.status == 503 && answer["code"] == .integer(6_777_014))
        }
        let untrusted = try await DoorGarden([.cordova])
        let body = Self.body(try purchase(), of: Self.gate, username: "alice")
        #expect(try await untrusted.send(.post, CordovaMiddleware.path, body).status == 503)
    }

    @Test func `a customer without an id is known by the purchase, and keeps it after a log-in`() async throws {
        let body = Self.body(try purchase(), of: Self.gate)
        #expect(try collection(try await validate(body)).count == 1)
        #expect(try collection(try await validate(body)).count == 1)
        let named = try await validate(Self.body(try purchase(), of: Self.gate, username: "alice"))
        #expect(try collection(named).count == 1)
        let other = try await validate(Self.body(try purchase(), of: Self.gate, username: "bob"))
        #expect(other["ok"] == .bool(false))
    }

    /// `store.obfuscator` is `legacy` by default, which gives the Play the digits of a digest.
    @Test func `a purchase under another id waits for its customer`() async throws {
        let digest = "6384e2b2184bcbf58eccf10ca7a6563c"
        let gate = try purchase(changing: [("obfuscatedAccountId", .string(digest))])
        let bob = MD5.digest(of: Array("bob".utf8))?.hexadecimal
        let refused = try await validate(Self.body(gate, of: Self.gate, username: "bob", obfuscated: bob))
        #expect(refused.status == 503)
        let accepted = try await validate(Self.body(gate, of: Self.gate, username: "alice", obfuscated: digest))
        #expect(try collection(accepted).count == 1)
        // An app that has set another obfuscator since states another token of the same id.
        let token = UsernameTokens.tokens(of: "dave").first?.uuidString
        let season = try purchase(
            "garden.season", token: "season",
            changing: [("obfuscatedAccountId", MD5.digest(of: Array("dave".utf8)).map { .string($0.hexadecimal) })])
        let later = try await validate(Self.body(season, of: "garden.season", username: "dave", obfuscated: token))
        #expect(try collection(later).count == 1)
    }
}

/// The same door, if the service may ask Google Play about the purchases of the app.
@Suite struct CordovaPurchaseTokenTests {
    private static let monthly = "garden.basic.monthly"

    /// The body that the plugin makes of a purchase at the local Play.
    private func body(
        _ signed: SignedPurchase,
        _ token: String,
        of product: String,
        username: String? = nil
    ) -> JSONValue {
        CordovaGooglePlayTests.body(
            signed, of: product, username: username, changing: ["purchaseToken": .string(token)])
    }

    private func collection(_ answer: DoorGarden.Answer) throws -> [JSONValue] {
        #expect(answer.status == 200 && answer["ok"] == .bool(true), "\(String(decoding: answer.body, as: UTF8.self))")
        guard case .array(let purchases)? = answer["data", "collection"] else { return [] }
        return purchases
    }

    @Test func `a subscription is verified by its token, and has the state that Google Play states`() async throws {
        try await PlayDoor.run([.cordova]) { service in
            let bought = try service.subscribe(Self.monthly)
            func validate() async throws -> DoorGarden.Answer {
                try await service.door.send(
                    .post, CordovaMiddleware.path,
                    body(bought.signedPurchase, bought.purchaseToken, of: Self.monthly, username: "alice"))
            }
            let first = try await validate()
            #expect(first["data", "id"] == .string(Self.monthly))
            let end = try #require(Timestamp(rfc3339: bought.expiryTime))
            let subscription = try #require(try collection(first).first)
            #expect(subscription.at("platform") == "android-playstore")
            #expect(subscription.at("purchaseId") == .string(bought.purchaseToken))
            #expect(subscription.at("transactionId") == .string(try #require(bought.orderId)))
            #expect(subscription.at("expiryDate") == .integer(end.millisecondsSince1970))
            #expect(subscription.at("isExpired") == .bool(false))
            #expect(subscription.at("renewalIntent") == "Renew")
            try await service.client.acknowledge(bought.purchaseToken, of: Self.monthly, as: .subscription)
            try service.change { try $0.perform(.cancel, on: bought.number) }
            #expect(try collection(try await validate()).first?.at("renewalIntent") == "Lapse")
            service.advance(days: 40)
            let ended = try #require(try collection(try await validate()).first)
            #expect(ended.at("isExpired") == .bool(true) && ended.at("cancelationReason") == "Customer")
        }
    }

    @Test func `without an id, a subscription that is bought again stays with its customer`() async throws {
        try await PlayDoor.run([.cordova]) { service in
            let first = try service.subscribe(Self.monthly)
            func validate(_ bought: PlaySubscriptionResource) async throws -> DoorGarden.Answer {
                try await service.door.send(
                    .post, CordovaMiddleware.path, body(bought.signedPurchase, bought.purchaseToken, of: Self.monthly))
            }
            #expect(try collection(try await validate(first)).count == 1)
            try await service.client.acknowledge(first.purchaseToken, of: Self.monthly, as: .subscription)
            try service.change { try $0.perform(.cancel, on: first.number) }
            service.advance(days: 1)
            let second = try service.subscribe(Self.monthly)
            #expect(second.purchaseToken != first.purchaseToken)
            let again = try #require(try collection(try await validate(second)).first)
            #expect(again.at("purchaseId") == .string(second.purchaseToken))
            #expect(again.at("transactionId") == .string(try #require(second.orderId)))
            #expect(again.at("isExpired") == .bool(false) && again.at("renewalIntent") == "Renew")
        }
    }

    @Test func `a refund that Google Play states ends a purchase whose signature is still valid`() async throws {
        try await PlayDoor.run([.cordova]) { service in
            let bought = try service.buy("garden.gate")
            let body = body(bought.signedPurchase, bought.purchaseToken, of: "garden.gate", username: "alice")
            let first = try await service.door.send(.post, CordovaMiddleware.path, body)
            #expect(try collection(first).map { $0.at("isExpired") } == [.bool(false)])
            try service.change { try $0.refund(bought.number) }
            let refunded = try await service.door.send(.post, CordovaMiddleware.path, body)
            #expect(try collection(refunded).map { $0.at("isExpired") } == [.bool(true)])
        }
    }

    @Test func `a purchase that is not paid, and one that Google Play does not know, are asked about again`()
        async throws
    {
        try await PlayDoor.run([.cordova]) { service in
            let pending = try service.buy("garden.gate", isPending: true)
            for token in [pending.purchaseToken, "aaaabbbbccccddddeeeeffff.AO-J1Oz_-"] {
                let answer = try await service.door.send(
                    .post, CordovaMiddleware.path,
                    body(pending.signedPurchase, token, of: "garden.gate", username: "alice"))
                #expect(answer.status == 503 && answer["code"] == .integer(6_777_014))
            }
        }
    }
}

/// The same door with real purchases that Google Play has signed for other apps, and forgeries of them.
@Suite(.enabled(if: Vectors.areAvailable, "TILL_VECTORS names no folder")) struct CordovaVectorTests {
    /// The answer to a vector, under the key of its app, which sells the garden's products here.
    private func answer(to row: JSONValue, in folder: URL) async throws -> DoorGarden.Answer {
        func text(_ field: String) throws -> String {
            guard case .string(let text)? = row.at(field) else { throw CocoaError(.fileReadCorruptFile) }
            return text
        }
        func file(_ field: String) throws -> [UInt8] {
            [UInt8](try Data(contentsOf: folder.appending(path: try text(field))))
        }
        let key = try AppKey(
            packageName: try text("packageName"),
            base64: String(decoding: try file("key").filter { $0 > 0x20 }, as: UTF8.self),
            bundleIdentifier: TestGarden.bundleIdentifier)
        let door = try await DoorGarden(
            [.cordova], accepted: AcceptedOrigins([.googleProduction, .localSandbox]), appKeys: [key])
        let signed = SignedPurchase(data: try file("data"), signature: try file("signature").filter { $0 > 0x20 })
        return try await door.send(
            .post, CordovaMiddleware.path,
            CordovaGooglePlayTests.body(signed, of: "garden.gate", username: "alice"))
    }

    @Test func `only a genuine purchase gets as far as the catalog, and each forgery is refused for good`() async throws
    {
        let folder = try #require(Vectors.folder).appending(path: "google", directoryHint: .isDirectory)
        let index = [UInt8](try Data(contentsOf: folder.appending(path: "vectors.json")))
        guard case .array(let rows) = try JSONParser.parse(index) else { return }
        var counts: [String: Int] = [:]
        for row in rows {
            guard case .string(let name)? = row.at("name"), case .string(let verdict)? = row.at("verdict") else {
                continue
            }
            let isGenuine = verdict == "signature-valid"
            // No key of 1024 bits is trusted, and the retired form has several purchases.
            if isGenuine, !name.contains("_inapp"), !name.contains("_subscription") { continue }
            let answer = try await answer(to: row, in: folder)
            #expect(answer["ok"] == .bool(false), "\(name)")
            #expect(answer.status == (isGenuine ? 503 : 200), "\(name)")
            #expect(answer["code"] == .integer(isGenuine ? 6_777_014 : 6_777_017), "\(name)")
            guard case .string(let message)? = answer["message"] else { continue }
            #expect(message.contains("not in the service's catalog") == isGenuine, "\(name): \(message)")
            counts[verdict, default: 0] += 1
        }
        #expect(counts["signature-valid"] ?? 0 >= 7 && counts.values.reduce(0, +) >= 19)
    }
}
