import Attributes
import Commerce
import Doors
import StrictJSON
import TestSupport
import Testing

/// Strangers write a bounded number of bytes for customers without a purchase.
@Suite struct NewcomerBudgetTests {
    private static let attributes = JSONValue.object([
        "attributes": .object([
            "note": .object(["value": .string(String(repeating: "v", count: 400)), "updated_at_ms": .integer(1)])
        ])
    ])

    private func recorded(of name: String, at door: DoorGarden) async throws -> Int {
        let user = try #require(CustomerIdentifier(name)).user
        return try await AttributeService(ledger: door.ledger, clock: door.garden.clock).attributes(of: user).count
    }

    @Test func `attributes of invented customers and log-ins are dropped beyond the budget`() async throws {
        let door = try await DoorGarden(newcomerBytes: 8192)
        let gate = try door.buy("garden.gate")
        #expect(try await door.redeem(gate.proof, of: "buyer", product: "garden.gate").status == 200)
        var counts: [Int] = []
        for number in 0..<20 {
            let answer = try await door.send(
                .post, DoorGarden.path(of: "invented \(number)", "/attributes"), Self.attributes)
            #expect(answer.status == 200)
            counts.append(try await recorded(of: "invented \(number)", at: door))
        }
        // An invented customer takes 1,024 bytes and those of the attribute.
        #expect(counts == (0..<20).map { $0 < 5 ? 1 : 0 })
        let invented = try #require(CustomerIdentifier("invented 30")).user
        #expect(try await door.logIn(DoorGarden.anonymous, as: "invented 30").status == 201)
        #expect(try await door.ledger.read { try $0.number(of: invented) } == nil)
        // A customer who has paid before the log-in takes the purchase along.
        let plus = try door.buy("garden.basic.monthly")
        #expect(
            try await door.redeem(plus.proof, of: DoorGarden.anonymous, product: "garden.basic.monthly").status == 200)
        #expect(try await door.logIn(DoorGarden.anonymous, as: "payer").status == 201)
        let payer = try #require(CustomerIdentifier("payer")).user
        #expect(try await door.ledger.read { try $0.hasPurchases(payer) })
        // A customer with a purchase is not limited, nor is a purchase.
        _ = try await door.send(.post, DoorGarden.path(of: "buyer", "/attributes"), Self.attributes)
        #expect(try await recorded(of: "buyer", at: door) == 1)
        let seeds = try door.buy("garden.seeds")
        #expect(try await door.redeem(seeds.proof, of: "another", product: "garden.seeds").status == 200)
        door.garden.clock.advance(milliseconds: 86_400_000)
        _ = try await door.send(.post, DoorGarden.path(of: "invented 40", "/attributes"), Self.attributes)
        #expect(try await recorded(of: "invented 40", at: door) == 1)
    }
}
