import Catalog
import Entitlements
import Features
import Foundation
import HTTPSupport
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// The public keys of two apps with the same products, at the doors of one service.
@Suite struct AppKeyDoorTests {
    private let door: DoorGarden
    private let orchard: TestGarden
    private let orchardKey: String
    private let alice: User

    init() async throws {
        orchard = try TestGarden(
            bundleIdentifier: "com.example.orchard", gate: 2, offerings: DoorGarden.offerings,
            randomness: .seeded(8))
        door = try await DoorGarden(selling: [App(orchard.catalog)])
        orchardKey = try await door.keys.makePublic(
            name: "orchard", app: orchard.bundleIdentifier, platform: .apple
        ).identifier
        alice = try #require(CustomerIdentifier("alice")).user
    }

    /// Redeems purchases of the orchard for alice.
    private func sellOrchard() async throws {
        for product in ["garden.gate", "garden.seeds", "garden.basic.yearly"] {
            let signed = try orchard.store.signedTransaction(try orchard.buy(product).identifier)
            _ = try await door.entitlements.redeem(Array(signed.utf8), for: alice)
        }
    }

    private static let parts = ["subscriptions", "non_subscriptions", "entitlements"]

    private func customer(_ key: String) async throws -> DoorGarden.Answer {
        let answer = try await door.send(.get, DoorGarden.path(of: "alice"), key: key)
        #expect(answer.status == 200)
        return answer
    }

    @Test func `customer info has the purchases of the key's app, and the rights that they give`() async throws {
        try await sellOrchard()
        let info = try await customer(door.key)
        for part in Self.parts { #expect(info["subscriber", part] == .object([:]), "\(part)") }
        let other = try await customer(orchardKey)
        for part in Self.parts { #expect(other["subscriber", part] != .object([:]), "\(part)") }
        let gate = try door.buy("garden.gate")
        #expect(try await door.redeem(gate.proof, of: "alice", product: "garden.gate").status == 200)
        let both = try await customer(door.key)
        #expect(both["subscriber", "subscriptions"] == .object([:]))
        #expect(both["subscriber", "entitlements", "gatekeeper"] != nil)
        #expect(both["subscriber", "entitlements", "gardener"] == nil)
        #expect(try await customer(orchardKey)["subscriber"] == other["subscriber"])
    }

    @Test func `the answer to a receipt has the purchases of the key's app`() async throws {
        try await sellOrchard()
        let gate = try door.buy("garden.gate")
        let answer = try await door.redeem(gate.proof, of: "alice", product: "garden.gate")
        #expect(answer["subscriber", "subscriptions"] == .object([:]))
        let signed = try orchard.store.signedTransaction(try orchard.buy("garden.season").identifier)
        let refused = try await door.redeem(signed, of: "alice", product: "garden.season")
        #expect(refused.status != 200)
        #expect(try await door.entitlements.transactions(of: alice, before: nil, limit: 9).count == 4)
    }

    @Test func `balances and introductory offers are those of the key's app`() async throws {
        try await sellOrchard()
        let path = DoorGarden.path(of: "alice", "/virtual_currencies")
        for key in [door.key, orchardKey] {
            // Products of both apps add to the balance, so it belongs to neither.
            #expect(try await door.send(.get, path, key: key)["virtual_currencies"] == .object([:]))
        }
        let asked = JSONValue.object(["product_identifiers": .array([.string("garden.basic.yearly")])])
        let offers = DoorGarden.path(of: "alice", "/intro_eligibility")
        let own = try await door.send(.post, offers, asked)
        let unknown = try await door.send(.post, DoorGarden.path(of: "nobody", "/intro_eligibility"), asked)
        #expect(own.json == unknown.json)
    }

    @Test func `the plugin gets the purchases of the key's app`() async throws {
        try await sellOrchard()
        let gate = try door.buy("garden.gate")
        let answer = try await door.send(
            .post, CordovaMiddleware.path, CordovaLifeTests.body(gate.proof, username: "alice"))
        guard case .array(let purchases)? = answer["data", "collection"] else {
            Issue.record("The answer has no collection.")
            return
        }
        #expect(purchases.map { $0.at("transactionId") } == [.string(gate.identifier)])
    }

    /// Statements about attributes, all of the same moment but for one.
    private func attributes(_ values: [(String, JSONValue)], at milliseconds: Int64 = 1000) -> JSONValue {
        var object = JSONObject()
        for (name, value) in values {
            _ = object.add(name, .object(["value": value, "updated_at_ms": .integer(milliseconds)]))
        }
        return .object(object)
    }

    private func state(_ values: [(String, JSONValue)], at milliseconds: Int64, key: String) async throws {
        let body = JSONValue.object(["attributes": attributes(values, at: milliseconds)])
        #expect(try await door.send(.post, DoorGarden.path(of: "alice", "/attributes"), body, key: key).status == 200)
    }

    /// The names and values of the attributes in customer info.
    private func shown(_ key: String, _ names: [String]) async throws -> [String] {
        let info = try await customer(key)
        return names.compactMap { name in
            guard case .string(let value)? = info["subscriber", "subscriber_attributes", name, "value"] else {
                return nil
            }
            return "\(name) \(value)"
        }
    }

    @Test func `each app has attributes of its own, and sees the team's`() async throws {
        let names = ["level", "color", "tier", "$email"]
        try await state([("level", "1"), ("color", "red"), ("tier", "a"), ("$email", "g@b.co")], at: 1, key: door.key)
        try await state([("level", "2"), ("color", .null), ("tier", "b"), ("$email", .null)], at: 2, key: orchardKey)
        #expect(try await shown(door.key, names) == ["level 1", "color red", "tier a"])
        #expect(try await shown(orchardKey, names) == ["level 2", "tier b"])
        let gold = try Attribute(name: "tier", value: "gold", statedAt: Timestamp(millisecondsSince1970: 0))
        try await door.ledger.write { [alice] in try $0.state([gold], of: alice, at: gold.statedAt) }
        #expect(try await shown(door.key, names) == ["level 1", "color red", "tier gold"])
        #expect(try await shown(orchardKey, names) == ["level 2", "tier gold"])
        // The team sees the newest statement of the apps.
        let seen = try await door.ledger.read { [alice] in try $0.attributes(of: alice) }
        #expect(
            seen.map { "\($0.name) \($0.value ?? "-")" } == ["$email g@b.co", "color red", "level 2", "tier gold"])
    }

    @Test func `an app that states as many attributes as it may leaves the places of another app`() async throws {
        let most = (0..<Attribute.maximumCount).map { ("junk\($0)", JSONValue.string("1")) }
        try await state(most, at: 1, key: orchardKey)
        try await state([("level", "1")], at: 1, key: door.key)
        #expect(try await shown(door.key, ["level", "junk0"]) == ["level 1"])
        try await door.ledger.write { [alice] in
            let level = try Attribute(name: "team", value: "7", statedAt: Timestamp(millisecondsSince1970: 1))
            try $0.state([level], of: alice, at: level.statedAt)
        }
        #expect(try await shown(orchardKey, ["team", "junk0"]) == ["team 7", "junk0 1"])
    }

    /// The body of a request of an endpoint about alice; nil for none.
    private func body(of endpoint: RevenueCatEndpoint, _ proof: String) -> JSONValue? {
        let stated = attributes([("level", "9"), ("color", .null), ("$email", "o@b.co")], at: 9_000)
        let items = JSONValue.array([.string("garden.gate")])
        let offer = JSONValue.object(["offer_id": "spring", "product_id": "garden.basic.monthly"])
        switch endpoint {
        case .receipts:
            guard case .object(var body) = DoorGarden.receipt(proof, of: "alice", product: "garden.season") else {
                return nil
            }
            _ = body.add("attributes", stated)
            return .object(body)
        case .logIn:
            return .object(["app_user_id": .string(DoorGarden.anonymous), "new_app_user_id": "alice"])
        case .alias: return .object(["new_app_user_id": "alice"])
        case .attributes: return .object(["attributes": stated])
        case .offers: return .object(["app_user_id": "alice", "generate_offers": .array([offer])])
        case .introEligibility: return .object(["product_identifiers": items])
        default: return endpoint.method == .post ? .object([:]) : nil
        }
    }

    @Test func `a public key sees and changes nothing of another app, at any endpoint of the doors`() async throws {
        let gate = try door.buy("garden.gate")
        #expect(try await door.redeem(gate.proof, of: "alice", product: "garden.gate").status == 200)
        try await state(
            [("level", "garden level"), ("color", "garden red"), ("$email", "g@b.co")], at: 1, key: door.key)
        func garden() async throws -> [JSONValue?] {
            let personal = try await door.ledger.read { [alice, app = door.garden.bundleIdentifier] in
                try $0.attributes(of: alice, seenBy: app).map { "\($0.name) \($0.value ?? "-")" }
            }
            return [try await customer(door.key)["subscriber"], .array(personal.map { .string($0) })]
        }
        let before = try await garden()
        let proof = try orchard.store.signedTransaction(try orchard.buy("garden.season").identifier)
        var requests = RevenueCatEndpoint.allCases.map { endpoint in
            let user = endpoint == .alias ? "$RCAnonymousID:" + String(repeating: "b2", count: 16) : "alice"
            let path = endpoint.path.replacing("{user}", with: user).replacing("{domain}", with: "app")
            return (endpoint.method, path, body(of: endpoint, proof))
        }
        requests += [
            (.post, CordovaMiddleware.path, CordovaLifeTests.body(proof, username: "alice")),
            (.post, "/v1/purchase/verify", .object(["store": "apple", "jws": .string(gate.proof)])),
            (.get, DoorGarden.path(of: "alice"), nil),
        ]
        for (method, path, body) in requests {
            let answer = try await door.send(method, path, body, key: orchardKey)
            let text = String(decoding: answer.body, as: UTF8.self)
            for mark in ["garden level", "garden red", "g@b.co", "\"\(gate.identifier)\""] {
                #expect(!text.contains(mark), "\(path) has \(mark)")
            }
            #expect(try await garden() == before, "\(path) has changed something")
        }
        #expect(try await shown(orchardKey, ["level", "color"]) == ["level 9"])
    }
}
