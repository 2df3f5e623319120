import AppStore
import Entitlements
import Foundation
import HTTPTypes
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// A customer's life over the door of cordova-plugin-purchase, with the real proofs of the local App Store.
@Suite struct CordovaLifeTests {
    private static let path = CordovaMiddleware.path
    private static let gate = "garden.gate"
    private static let monthly = "garden.basic.monthly"

    /// The body of a validation request.
    static func body(
        _ proof: String,
        kind: CordovaRequest.Kind = .signedTransaction,
        username: String? = nil,
        obfuscated: String? = nil
    ) -> JSONValue {
        var transaction: JSONObject = ["type": .string(kind.rawValue), "id": .string("any")]
        switch kind {
        case .signedTransaction: _ = transaction.add("jwsRepresentation", .string(proof))
        case .appReceipt: _ = transaction.add("appStoreReceipt", .string(proof))
        case .googlePlay:
            _ = transaction.add("receipt", .string(proof))
            _ = transaction.add("signature", "c2lnbmVk")
        }
        var additional = JSONObject()
        if let username { _ = additional.add("applicationUsername", .string(username)) }
        if let obfuscated { _ = additional.add("obfuscatedUsername", .string(obfuscated)) }
        return .object([
            "id": .string(TestGarden.bundleIdentifier), "type": .string("application"),
            "transaction": .object(transaction), "additionalData": .object(additional),
        ])
    }

    private func validate(_ door: DoorGarden, _ body: JSONValue) async throws -> DoorGarden.Answer {
        try await door.send(.post, Self.path, body)
    }

    /// The products of an accepted answer that the plugin shows as owned.
    private func owned(_ answer: DoorGarden.Answer, at door: DoorGarden) throws -> [String] {
        #expect(answer.status == 200)
        #expect(answer["ok"] == .bool(true), "\(String(decoding: answer.body, as: UTF8.self))")
        guard case .array(let purchases)? = answer["data", "collection"] else { return [] }
        return purchases.compactMap { purchase in
            guard case .string(let product)? = purchase.at("id"), purchase.at("isExpired") == .bool(false) else {
                return nil
            }
            guard case .number(let expiry)? = purchase.at("expiryDate") else { return product }
            return (expiry.int64 ?? 0) > door.garden.store.now.millisecondsSince1970 ? product : nil
        }.sorted()
    }

    @Test func `a purchase is verified, and the answer has the customer's other purchases`() async throws {
        let door = try await DoorGarden()
        let gate = try door.buy(Self.gate)
        let first = try await validate(door, Self.body(gate.proof, username: "alice"))
        #expect(try owned(first, at: door) == [Self.gate])
        #expect(first["data", "id"] == .string(TestGarden.bundleIdentifier))
        #expect(first["data", "latest_receipt"] == .bool(true))
        #expect(first["data", "transaction", "type"] == .string("apple-sk2"))
        let monthly = try door.buy(Self.monthly)
        let second = try await validate(door, Self.body(monthly.proof, username: "alice"))
        #expect(try owned(second, at: door) == [Self.monthly, Self.gate])
        let again = try await validate(door, Self.body(monthly.proof, username: "alice"))
        #expect(again["data", "collection"] == second["data", "collection"])
    }

    @Test func `an app receipt is verified with the date of the first installation`() async throws {
        let door = try await DoorGarden()
        _ = try door.buy(Self.gate)
        _ = try door.buy(Self.monthly)
        let receipt = try door.garden.store.receipt(account: "alice")
        let answer = try await validate(door, Self.body(receipt, kind: .appReceipt, username: "alice"))
        #expect(try owned(answer, at: door) == [Self.monthly, Self.gate])
        #expect(answer["data", "transaction", "type"] == .string("ios-appstore"))
        #expect(answer["data", "transaction", "original_application_version"] != nil)
    }

    @Test func `a subscription renews, ends and is refunded by the ledger's facts`() async throws {
        let door = try await DoorGarden()
        let bought = try door.buy(Self.monthly)
        func subscription() async throws -> JSONValue {
            try await door.notify()
            let answer = try await validate(door, Self.body(bought.proof, username: "alice"))
            guard case .array(let purchases)? = answer["data", "collection"] else { return .null }
            try #require(purchases.count == 1)
            return purchases[0]
        }
        let first = try await subscription()
        #expect(first.at("transactionId") == .string(bought.identifier))
        try door.garden.advance(to: "2026-12-01T00:00:00Z")
        let renewed = try await subscription()
        #expect(renewed.at("isExpired") == .bool(false))
        #expect(renewed.at("transactionId") != .string(bought.identifier))
        #expect(renewed.at("purchaseId") == .string(bought.identifier))
        #expect(renewed.at("renewalIntent") == .string("Renew"))
        try door.garden.store.setAutoRenew(false, of: bought.identifier)
        #expect(try await subscription().at("renewalIntent") == .string("Lapse"))
        try door.garden.advance(to: "2027-01-05T00:00:00Z")
        let ended = try await subscription()
        #expect(ended.at("isExpired") == .bool(true))
        #expect(ended.at("cancelationReason") == .string("Customer"))

        let gate = try door.buy(Self.gate)
        #expect(try owned(try await validate(door, Self.body(gate.proof, username: "alice")), at: door) == [Self.gate])
        try door.garden.store.refund(gate.identifier)
        try await door.notify()
        #expect(try owned(try await validate(door, Self.body(gate.proof, username: "alice")), at: door) == [])
    }

    @Test func `a purchase of another customer is refused for good`() async throws {
        let door = try await DoorGarden()
        let gate = try door.buy(Self.gate)
        _ = try owned(try await validate(door, Self.body(gate.proof, username: "alice")), at: door)
        let refused = try await validate(door, Self.body(gate.proof, username: "bob"))
        #expect(refused.status == 200)
        #expect(refused["ok"] == .bool(false))
        #expect(refused["code"] == .integer(6_777_017))
        #expect(refused["status"] == .integer(409))
        let forged = String(gate.proof.dropLast(6)) + "AAAAAA"
        let invalid = try await validate(door, Self.body(forged, username: "alice"))
        #expect(invalid.status == 200 && invalid["code"] == .integer(6_777_017))
        // After a log-out, the device does not see what the customer has.
        #expect(try await validate(door, Self.body(gate.proof))["ok"] == .bool(false))
    }

    @Test func `a customer without an id has one collection, and keeps it after a log-in`() async throws {
        let door = try await DoorGarden()
        let gate = try door.buy(Self.gate)
        let monthly = try door.buy(Self.monthly)
        _ = try owned(try await validate(door, Self.body(gate.proof)), at: door)
        let both = try await validate(door, Self.body(monthly.proof))
        #expect(try owned(both, at: door) == [Self.monthly, Self.gate])
        // Another account of the App Store is another customer.
        let other = try door.buy(Self.gate, account: "bob")
        #expect(try owned(try await validate(door, Self.body(other.proof)), at: door) == [Self.gate])

        let named = try await validate(door, Self.body(gate.proof, username: "alice"))
        #expect(try owned(named, at: door) == [Self.monthly, Self.gate])
        let elsewhere = try door.buy("garden.season", account: "carol")
        let third = try await validate(door, Self.body(elsewhere.proof, username: "alice"))
        #expect(try owned(third, at: door).count == 3)
        // Without the id, a proof shows only its own purchase.
        #expect(try owned(try await validate(door, Self.body(gate.proof)), at: door) == [Self.gate])
        #expect(try await validate(door, Self.body(gate.proof, username: "mallory"))["ok"] == .bool(false))
    }

    @Test func `a receipt and a signed transaction lead to the same customer without an id`() async throws {
        let door = try await DoorGarden()
        _ = try door.buy(Self.gate)
        let receipt = try door.garden.store.receipt(account: "alice")
        #expect(try owned(try await validate(door, Self.body(receipt, kind: .appReceipt)), at: door) == [Self.gate])
        let monthly = try door.buy(Self.monthly)
        // The receipt's customer is another one until a proof has purchases of both.
        _ = try owned(try await validate(door, Self.body(monthly.proof)), at: door)
        let whole = try door.garden.store.receipt(account: "alice")
        let merged = try await validate(door, Self.body(whole, kind: .appReceipt))
        #expect(try owned(merged, at: door) == [Self.monthly, Self.gate])
        #expect(try owned(try await validate(door, Self.body(monthly.proof)), at: door) == [Self.monthly, Self.gate])
    }

    @Test func `a purchase under another id waits for its customer`() async throws {
        let door = try await DoorGarden()
        let token = try #require(UsernameTokens.tokens(of: "alice").first)
        func buy(_ product: String) throws -> String {
            try door.garden.store.signedTransaction(
                door.garden.buy(product, appAccountToken: token, account: "alice").identifier)
        }
        let gate = try buy(Self.gate)
        let bob = try #require(UsernameTokens.tokens(of: "bob").first?.uuidString)
        let refused = try await validate(door, Self.body(gate, username: "bob", obfuscated: bob))
        #expect(refused.status == 503)
        let accepted = try await validate(
            door, Self.body(gate, username: "alice", obfuscated: token.uuidString))
        #expect(try owned(accepted, at: door) == [Self.gate])
        // A back end says whose the token is. From then on no app can lie about it.
        let alice = try #require(CustomerIdentifier("alice")).user
        #expect(try await door.entitlements.setAppAccountToken(token, of: alice) == .set)
        let season = try buy("garden.season")
        let lie = try await validate(door, Self.body(season, username: "bob", obfuscated: token.uuidString))
        #expect(lie.status == 503)
        #expect(try await validate(door, Self.body(season)).status == 503)
        let both = try await validate(door, Self.body(season, username: "alice"))
        #expect(try owned(both, at: door) == [Self.gate, "garden.season"])
    }

    @Test func `everything temporary has the status 503`() async throws {
        let door = try await DoorGarden()
        let body = Self.body(try door.buy(Self.gate).proof, username: "alice")
        #expect(try await door.send(.post, Self.path, body, key: "").status == 503)
        #expect(try await door.send(.post, Self.path, body, key: "appl_unknown").status == 503)
        #expect(try await validate(door, .array([])).status == 503)
        let long = Self.body("A", username: String(repeating: "x", count: 300))
        #expect(try await validate(door, long).status == 503)
        let secret = try await door.keys.make(name: "back end", scopes: [.read, .redeem]).key
        #expect(try await door.send(.post, Self.path, body, key: secret).status == 503)
        let limited = try await DoorGarden(requests: 1)
        _ = try await validate(limited, .array([]))
        let second = try await validate(limited, .array([]))
        #expect(second.status == 503 && second.headers[.retryAfter] != nil)
        #expect(second.headers[.accessControlAllowOrigin] == "*")
    }

    @Test func `the query has a public key, and never a back end's`() async throws {
        let door = try await DoorGarden()
        let body = Self.body(try door.buy(Self.gate).proof, username: "alice")
        let open = try await door.send(.post, Self.path + "?appName=garden&apiKey=\(door.key)", body, key: "")
        #expect(try owned(open, at: door) == [Self.gate])
        let secret = try await door.keys.make(name: "back end", scopes: [.read, .redeem]).key
        for key in ["", door.key] {
            let refused = try await door.send(.post, Self.path + "?apiKey=\(secret)", body, key: key)
            #expect(refused.status == 503)
            #expect(refused["status"] == .integer(403))
        }
    }

    @Test(arguments: ["null", "file://", "ionic://localhost", "capacitor://localhost", "http://localhost"])
    func `a web view of any origin may ask`(origin: String) async throws {
        let door = try await DoorGarden()
        let asked: HTTPFields = [
            .origin: origin, .accessControlRequestMethod: "POST",
            .accessControlRequestHeaders: "authorization, content-type, x-app-version",
        ]
        let preflight = try await door.send(.options, Self.path, key: "", headers: asked)
        #expect(preflight.status == 204)
        #expect(preflight.headers[.accessControlAllowOrigin] == "*")
        #expect(preflight.headers[.accessControlAllowMethods] == "POST")
        #expect(preflight.headers[.accessControlAllowHeaders] == "authorization, content-type, x-app-version")
        #expect(preflight.headers[.accessControlAllowCredentials] == nil)
        let answer = try await door.send(.post, Self.path, .array([]), headers: [.origin: origin])
        #expect(answer.headers[.accessControlAllowOrigin] == "*")
        let products = try await door.send(.get, "/health/live", headers: [.origin: origin])
        #expect(products.headers[.accessControlAllowOrigin] == nil)
    }

    @Test func `a closed door has no validator`() async throws {
        let door = try await DoorGarden([.revenueCat])
        let answer = try await validate(door, .object([:]))
        // The plugin keeps the transaction.
        #expect(answer.status == 503 && answer["code"] == .integer(6_777_014))
        let reason = "This path needs the setting \"doors\", which is off. Start the service with --doors cordova."
        #expect(answer["message"] == .string(reason))
    }
}
