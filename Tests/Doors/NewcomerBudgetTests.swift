import Entitlements
import HTTPTypes
import Ledger
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// Strangers write a bounded number of bytes for customers without a purchase.
@Suite struct NewcomerBudgetTests {
    private static let gate = "garden.gate"
    private static let attributes = JSONValue.object([
        "attributes": .object([
            "note": .object(["value": .string(String(repeating: "v", count: 400)), "updated_at_ms": .integer(1)])
        ])
    ])

    /// A service with open doors, whose addresses have not used up the bytes of the day.
    private static func rested(_ door: DoorGarden) -> DoorGarden {
        door.garden.clock.advance(milliseconds: 2 * 86_400_000)
        return door
    }

    private static func user(_ name: String) throws -> User { try #require(CustomerIdentifier(name)).user }

    private func recorded(of name: String, at door: DoorGarden) async throws -> Int {
        let user = try Self.user(name)
        return try await door.ledger.read { try $0.attributes(of: user) }.count
    }

    private func isKnown(_ name: String, at door: DoorGarden) async throws -> Bool {
        let user = try Self.user(name)
        return try await door.ledger.read { try $0.users.known(user) } != nil
    }

    private func state(of name: String, at door: DoorGarden) async throws -> DoorGarden.Answer {
        try await door.send(.post, DoorGarden.path(of: name, "/attributes"), Self.attributes)
    }

    @Test func `attributes of invented customers and log-ins are not recorded beyond the budget`() async throws {
        let door = Self.rested(try await DoorGarden(newcomerBytes: 8192))
        let gate = try door.buy(Self.gate)
        #expect(try await door.redeem(gate.proof, of: "buyer", product: Self.gate).status == 200)
        var counts: [Int] = []
        for number in 0..<20 {
            let answer = try await state(of: "invented \(number)", at: door)
            counts.append(try await recorded(of: "invented \(number)", at: door))
            #expect(answer.status == (counts.last == 1 ? 200 : 503))
        }
        // An invented customer takes 1,024 bytes and those of the attribute.
        #expect(counts == (0..<20).map { $0 < 5 ? 1 : 0 })
        // A customer with a purchase does not take it along to an invented id.
        for current in [DoorGarden.anonymous, "buyer"] {
            #expect(try await door.logIn(current, as: "invented 30").status == 201)
            #expect(try await !isKnown("invented 30", at: door))
        }
        // A customer who has paid before the log-in takes the purchase along.
        let plus = try door.buy("garden.basic.monthly")
        #expect(
            try await door.redeem(plus.proof, of: DoorGarden.anonymous, product: "garden.basic.monthly").status == 200)
        #expect(try await door.logIn(DoorGarden.anonymous, as: "payer").status == 201)
        let payer = try Self.user("payer")
        #expect(try await door.ledger.read { try $0.hasPurchases(payer) })
        // A customer with a purchase is not limited, nor is a purchase.
        #expect(try await state(of: "buyer", at: door).status == 200)
        #expect(try await recorded(of: "buyer", at: door) == 1)
        let seeds = try door.buy("garden.seeds")
        #expect(try await door.redeem(seeds.proof, of: "another", product: "garden.seeds").status == 200)
        door.garden.clock.advance(milliseconds: 86_400_000)
        #expect(try await state(of: "invented 40", at: door).status == 200)
        #expect(try await recorded(of: "invented 40", at: door) == 1)
    }

    /// A customer who states attributes, and the budget of the address.
    struct Statement: Sendable {
        let customer: String
        let bytes: Int
        let status: Int
    }

    /// An SDK keeps attributes after an answer from 500 or with 404, and sends them when the app comes to the front or leaves it. It
    /// forgets them after any other answer. After 429 it asks again within seconds first.
    private static func isKept(_ status: Int) -> Bool { status >= 500 || status == 404 }

    @Test(arguments: [
        Statement(customer: "invented", bytes: 1 << 20, status: 200),
        Statement(customer: "invented", bytes: 1024, status: 503),
        // Only a new customer takes the bytes of one.
        Statement(customer: "known", bytes: 1024, status: 200),
        Statement(customer: "known", bytes: 64, status: 503),
        Statement(customer: "buyer", bytes: 1024, status: 200),
    ])
    func `an SDK forgets attributes only if they are recorded`(example: Statement) async throws {
        let door = Self.rested(try await DoorGarden(newcomerBytes: example.bytes))
        let gate = try door.buy(Self.gate)
        #expect(try await door.redeem(gate.proof, of: "buyer", product: Self.gate).status == 200)
        let known = try Self.user("known")
        _ = try await door.ledger.write { try $0.number(of: known, at: door.garden.clock.now()) }
        let answer = try await state(of: example.customer, at: door)
        #expect(answer.status == example.status)
        let isRecorded = try await recorded(of: example.customer, at: door) == 1
        #expect(isRecorded != Self.isKept(answer.status))
        guard !isRecorded else { return }
        #expect(answer["code"] == .integer(7110))
        #expect(answer.headers[.retryAfter] != nil)
        #expect(try JSONSchema(named: "Error").violations(in: try #require(answer.json)) == [])
    }

    /// An authentic proof that gives strangers nothing.
    enum RefusedProof: CaseIterable {
        case ofAnotherCustomer
        case ofAnotherOrigin
        case ofUnknownProduct
    }

    @Test(arguments: RefusedProof.allCases, [false, true])
    func `a refused proof writes nothing for invented customers beyond the budget`(
        kind: RefusedProof,
        atCordova: Bool
    ) async throws {
        let chain = try TestChains.ellipticCurve.get()
        let accepted = kind == .ofAnotherOrigin ? AcceptedOrigins([.localProduction]) : AcceptedOrigins()
        let door = Self.rested(try await DoorGarden(accepted: accepted, newcomerBytes: 8192, trusting: [chain]))
        var (proof, product) = (try door.buy(Self.gate).proof, Self.gate)
        switch kind {
        case .ofAnotherCustomer:
            #expect(try await door.redeem(proof, of: "buyer", product: product).status == 200)
        case .ofAnotherOrigin: break
        case .ofUnknownProduct:
            product = "garden.unknown"
            let payload = TestProofs.transactionPayload(
                productId: product, changing: ["bundleId": .string(TestGarden.bundleIdentifier)])
            proof = String(decoding: try TestProofs.transaction(payload, chain: chain), as: UTF8.self)
        }
        func present(_ proof: String, as name: String) async throws -> DoorGarden.Answer {
            if !atCordova { return try await door.redeem(proof, of: name, product: product) }
            return try await door.send(
                .post, "/v1/validators/cordova", CordovaLifeTests.body(proof, username: name))
        }
        func refusals() async throws -> Int {
            try await door.ledger.read { try $0.database.value("SELECT count(*) FROM refusal", []) ?? 0 }
        }
        var (answers, known) = ([DoorGarden.Answer](), [Bool]())
        for number in 0..<12 {
            answers.append(try await present(proof, as: "invented \(number)"))
            known.append(try await isKnown("invented \(number)", at: door))
        }
        // An invented customer takes 1,024 bytes and those of the name and the refusal.
        #expect(known == (0..<12).map { $0 < 5 })
        #expect(try await refusals() == 5)
        #expect(Set(answers.map(\.status)).count == 1)
        #expect(Set(answers.map { String(decoding: $0.body, as: UTF8.self) }).count == 1)
        guard kind == .ofAnotherCustomer else { return }
        // A customer with a purchase is not limited, and one of yesterday is.
        let other = try door.buy("garden.seeds")
        #expect(try await door.redeem(other.proof, of: "payer", product: "garden.seeds").status == 200)
        _ = try await present(proof, as: "payer")
        #expect(try await refusals() == 6)
        _ = try await present(other.proof, as: "invented 0")
        #expect(try await refusals() == 6)
        #expect(try LedgerFile(door.garden.folder.file("ledger.sqlite")).check().problems == [])
    }

    @Test func `a service that starts again has a small part of the budget`() async throws {
        let door = try await DoorGarden(newcomerBytes: 1 << 20)
        var counts: [Int] = []
        for number in 0..<10 {
            _ = try await state(of: "invented \(number)", at: door)
            counts.append(try await recorded(of: "invented \(number)", at: door))
        }
        // One part in 128 is 8,192 bytes.
        #expect(counts.reduce(0, +) == 5)
        door.garden.clock.advance(milliseconds: 60_000 * 10)
        #expect(try await state(of: "invented 20", at: door).status == 200)
    }
}
