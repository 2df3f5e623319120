import Entitlements
import Foundation
import HTTPTypes
import Proofs
import Service
import TestSupport
import Testing

/// Apps that send a name for no customer, such as "null".
@Suite struct BlockedCustomerTests {
    static let names = [
        "null", "undefined", "(null)", "[object Object]", "NaN", "0", "guest", " Guest ", "none", "nil", "anonymous",
        "unknown",
        "00000000-0000-0000-0000-000000000000", "   ", "\u{201C}null\u{201D}", "ｎｕｌｌ", "\u{200B}", "nil;",
        "URN:UUID:{00000000-0000-0000-0000-000000000000}", "Optional(nil)",
    ]

    /// The code of an answer of the RevenueCat door.
    private func code(_ answer: DoorGarden.Answer) -> Int64? {
        if case .number(let number)? = answer["code"] { number.int64 } else { nil }
    }

    @Test func `nobody gets the purchases of another device by a blocked id`() async throws {
        let door = try await DoorGarden()
        for (index, name) in Self.names.enumerated() {
            let ids = (0..<2).map { "$RCAnonymousID:" + String(repeating: "\($0)\(index % 10)", count: 16) }
            let gate = try door.buy("garden.gate", account: "account \(index)")
            #expect(try await door.redeem(gate.proof, of: ids[0], product: "garden.gate").status == 200)
            for id in ids {
                let answer = try await door.logIn(id, as: name)
                #expect(answer.status == 400 && code(answer) == 7256, "\(name)")
                #expect(answer["subscriber"] == nil)
                #expect(code(try await door.alias(id, as: name)) == 7256)
            }
            let own = try await door.customer(ids[0])
            #expect(own["subscriber", "original_app_user_id"] == .string(ids[0]), "\(name)")
        }
    }

    @Test(arguments: names)
    func `every route of the RevenueCat door refuses a blocked id`(name: String) async throws {
        let door = try await DoorGarden()
        #expect(code(try await door.customer(name)) == 7256)
        #expect(code(try await door.send(.get, DoorGarden.path(of: name, "/virtual_currencies"))) == 7256)
        let attributes: JSONValue = .object([
            "attributes": .object(["a": .object(["value": "b", "updated_at_ms": .integer(1)])])
        ])
        #expect(code(try await door.send(.post, DoorGarden.path(of: name, "/attributes"), attributes)) == 7256)
        let gate = try door.buy("garden.gate")
        let answer = try await door.redeem(gate.proof, of: name, product: "garden.gate")
        // The SDK keeps the transaction for the customer who logs in later.
        #expect(answer.status == 503 && code(answer) == 7256)
        #expect(try await door.redeem(gate.proof, of: "mint", product: "garden.gate").status == 200)
    }

    @Test func `a customer leaves a blocked id by a log-in`() async throws {
        let door = try await DoorGarden()
        #expect(try await door.logIn("null", as: "mint").status == 201)
    }

    @Test(arguments: names)
    func `the plugin's door refuses a blocked id, and the plugin keeps the transaction`(name: String) async throws {
        let door = try await DoorGarden()
        let gate = try door.buy("garden.gate")
        let answer = try await door.send(
            .post, CordovaMiddleware.path, CordovaLifeTests.body(gate.proof, username: name))
        #expect(answer.status == 503 && answer["ok"] == .bool(false))
        let own = try await door.send(
            .post, CordovaMiddleware.path, CordovaLifeTests.body(gate.proof, username: "mint"))
        #expect(own.status == 200 && own["ok"] == .bool(true))
    }

    @Test func `an import excludes blocked ids, and counts them`() throws {
        var export = try ExportImport(
            header: try ExportFixture.record(ExportFixture.header), by: try ExportFixture.rules())
        let (customer, alias) = ("rc_original_app_user_id", "rc_last_seen_app_user_id_alias")
        let rows = [
            [customer: "null", alias: "null"], [customer: "undefined", alias: "mint"],
            [customer: "rose", alias: "Guest", "original_store_transaction_id": "2"],
            [customer: "fern", alias: "fern", "original_store_transaction_id": "3"],
        ]
        for row in rows { export.add(try ExportFixture.record(ExportFixture.row(row))) }
        #expect(export.invalidCount == 0)
        #expect(export.exclusions[.blockedCustomer] == 2 && export.exclusions[.blockedAlias] == 1)
        let customers = export.customers()
        #expect(customers.map(\.user.name) == ["fern", "rose"])
        #expect(customers.allSatisfy { $0.aliases.isEmpty && $0.purchases.count == 1 })
    }
}
