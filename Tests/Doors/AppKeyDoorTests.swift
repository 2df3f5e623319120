import Catalog
import Commerce
import Doors
import Entitlements
import Foundation
import HTTPSupport
import StrictJSON
import TestSupport
import Testing

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
}
