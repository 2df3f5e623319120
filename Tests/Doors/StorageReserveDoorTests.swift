import Entitlements
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// The doors while only the reserve of free space is left.
@Suite struct StorageReserveDoorTests {
    private static let attributes = JSONValue.object([
        "note": .object(["value": "v", "updated_at_ms": .integer(1)])
    ])

    private func attributes(of name: String, at door: DoorGarden) async throws -> Int {
        let user = try #require(CustomerIdentifier(name)).user
        return try await door.ledger.read { try $0.attributes(of: user) }.count
    }

    @Test func `attributes and log-ins are sent again later`() async throws {
        let disk = ManualDisk()
        let door = try await DoorGarden(disk: disk)
        let gate = try door.buy("garden.gate")
        #expect(try await door.redeem(gate.proof, of: "buyer", product: "garden.gate").status == 200)
        disk.setFree(0)
        door.garden.clock.advance(milliseconds: 1000)
        let sent = JSONValue.object(["attributes": Self.attributes])
        for name in ["buyer", "stranger"] {
            let answer = try await door.send(.post, DoorGarden.path(of: name, "/attributes"), sent)
            // With a status below 500, the SDK would forget them.
            #expect(answer.status == 503)
            #expect(answer["code"] == .integer(7110))
            #expect(answer.headers[.retryAfter] == "60")
            #expect(try await attributes(of: name, at: door) == 0)
        }
        for answer in [
            try await door.logIn(DoorGarden.anonymous, as: "buyer"), try await door.alias("buyer", as: "other"),
        ] {
            #expect(answer.status == 503)
            #expect(answer["code"] == .integer(7110))
        }
        let stranger = try #require(CustomerIdentifier("stranger")).user
        #expect(try await door.ledger.read { try $0.users.known(stranger) } == nil)
        disk.setFree(.max)
        door.garden.clock.advance(milliseconds: 1000)
        #expect(try await door.send(.post, DoorGarden.path(of: "buyer", "/attributes"), sent).status == 200)
        #expect(try await attributes(of: "buyer", at: door) == 1)
    }

    @Test func `purchases are redeemed at each door, with the attributes beside them`() async throws {
        let door = try await DoorGarden(disk: ManualDisk(free: 0))
        let gate = try door.buy("garden.gate")
        guard case .object(var receipt) = DoorGarden.receipt(gate.proof, of: "buyer", product: "garden.gate") else {
            return
        }
        _ = receipt.add("attributes", Self.attributes)
        #expect(try await door.send(.post, "/v1/receipts", .object(receipt)).status == 200)
        let user = try #require(CustomerIdentifier("buyer")).user
        #expect(try await door.ledger.read { try $0.hasPurchases(user) })
        #expect(try await attributes(of: "buyer", at: door) == 1)
        // Attributes without a proof are no purchase, whatever the route.
        let unproven = JSONValue.object(["app_user_id": "stranger", "attributes": Self.attributes])
        _ = try await door.send(.post, "/v1/receipts", unproven)
        #expect(try await attributes(of: "stranger", at: door) == 0)

        let seeds = try door.buy("garden.seeds", account: "bob")
        let validation = CordovaLifeTests.body(seeds.proof, username: "bob")
        let validated = try await door.send(.post, CordovaMiddleware.path, validation)
        #expect(validated["ok"] == .bool(true))
        let verification = JSONValue.object(["store": "apple", "jws": .string(gate.proof)])
        #expect(try await door.send(.post, "/v1/purchase/verify", verification).status == 200)
    }

    @Test func `requests that write nothing are answered`() async throws {
        let door = try await DoorGarden(disk: ManualDisk(free: 0))
        for (endpoint, body) in [
            (RevenueCatEndpoint.introEligibility, JSONValue.object(["product_identifiers": .array(["garden.gate"])])),
            (.attribution, .object([:])), (.events, .object([:])), (.diagnostics, .object([:])),
            (.remoteConfiguration, .object([:])), (.restoreEligibility, .object([:])),
        ] {
            let path = endpoint.path.replacing(/\{[a-z]+\}/, with: "alice")
            let answer = try await door.send(endpoint.method, path, body)
            #expect(answer.status < 300, "\(endpoint)")
        }
        #expect(try await door.customer("alice").status == 200)
    }
}
