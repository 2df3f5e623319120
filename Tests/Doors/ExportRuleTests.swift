import Entitlements
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// The effect of each row of an export.
@Suite struct ExportRuleTests {
    private typealias Fixture = ExportFixture

    private static func decision(
        _ changes: [String: String],
        _ origin: Origin = .appleProduction
    ) throws -> ExportRules.Decision {
        try Fixture.rules(origin).decision(about: try ExportRow(Fixture.row(changes), try Fixture.columns()))
    }

    @Test(
        arguments: [
            ([:], .appleProduction), (["store": "mac_app_store"], .appleProduction),
            (["is_sandbox": "true"], .appleSandbox), (["is_sandbox": "true"], .localSandbox), ([:], .localProduction),
            (["product_identifier": "garden.basic.monthly", "end_time": "2026-01-31 13:00:00"], .appleProduction),
            (["product_identifier": "garden.season"], .appleProduction),
        ] as [([String: String], Origin)])
    func `a purchase of the App Store is expected`(changes: [String: String], origin: Origin) throws {
        let decision = try Self.decision(changes, origin)
        #expect(decision.exclusions == [] && decision.grants == [])
        #expect(
            decision.purchase
                == .init(
                    app: TestGarden.bundleIdentifier, origin: origin, originalTransactionIdentifier: "1",
                    productIdentifier: changes["product_identifier"] ?? "garden.gate",
                    purchaseDate: try #require(Timestamp(rfc3339: "2026-01-31T12:00:00Z")),
                    expiresAt: changes["end_time"] == nil ? nil : Timestamp(rfc3339: "2026-01-31T13:00:00Z")))
    }

    @Test(arguments: [
        // The item of the lower level gives no other right.
        (#"["plus"]"#, [1]), (#"["premium"]"#, [2]), (#"["plus","premium"]"#, [2, 2]),
    ])
    func `a promotion grants the item that gives the promised rights alone`(rights: String, levels: [Int]) throws {
        let decision = try Self.decision([
            "store": "promotional", "entitlement_identifiers": rights, "end_time": "2030-01-01 00:00:00",
            "original_store_transaction_id": "",
        ])
        #expect(decision.grants.map(\.item) == levels.map { Item(collection: "plus", number: $0) })
        #expect(decision.grants.allSatisfy { $0.endsAt == Timestamp(rfc3339: "2030-01-01T00:00:00Z") })
        #expect(decision.exclusions == [] && decision.purchase == nil)
    }

    @Test func `the identifier of a grant follows from the promotion`() throws {
        func identifier(_ changes: [String: String] = [:]) throws -> String {
            let promotion = ["store": "promotional", "entitlement_identifiers": #"["plus"]"#]
            return try #require(try Self.decision(promotion.merging(changes) { $1 }).grants.first).identifier
        }
        let first = try identifier()
        #expect(first.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil)
        #expect(try identifier(["country": "DE", "updated_at": "2026-03-01 00:00:00"]) == first)
        for change in ["rc_original_app_user_id": "rose", "start_time": "2026-01-01 00:00:00"] {
            #expect(try identifier([change.key: change.value]) != first)
        }
    }
}
