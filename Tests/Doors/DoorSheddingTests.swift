import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// The doors while many requests wait for a commit.
@Suite struct DoorSheddingTests {
    @Test(arguments: [127, 128])
    func `attributes and log-ins are refused while a quarter of the places are taken`(waitingCount: Int) async throws {
        let door = try await DoorGarden()
        // The requests are invalid, so that an admitted one does not wait for the writer.
        let attributes = JSONValue.object(["attributes": .string("none")])
        try await door.ledger.holding(waitingCount) {
            for answer in [
                try await door.send(.post, DoorGarden.path(of: "buyer", "/attributes"), attributes),
                try await door.logIn("", as: "buyer"), try await door.alias("buyer", as: ""),
            ] {
                #expect(answer.headers[.retryAfter] == (waitingCount < 128 ? nil : "1"))
                // With a status below 500, the SDK would forget them.
                if waitingCount >= 128 { #expect(answer.status == 503) }
            }
        }
    }

    @Test func `purchases are redeemed while half of the places are taken`() async throws {
        let door = try await DoorGarden()
        let gate = try door.buy("garden.gate")
        try await withThrowingTaskGroup(of: DoorGarden.Answer.self) { group in
            try await door.ledger.holding(256) {
                group.addTask { try await door.redeem(gate.proof, of: "buyer", product: "garden.gate") }
                await expectEventually { door.ledger.waitingCount == 257 }
            }
            #expect(try await group.next()?.status == 200)
        }
        let user = try #require(CustomerIdentifier("buyer")).user
        #expect(try await door.ledger.read { try $0.hasPurchases(user) })
    }
}
