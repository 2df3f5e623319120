import Entitlements
import Foundation
import Ledger
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// The customers of an export.
@Suite struct ExportImportTests {
    private typealias Fixture = ExportFixture

    private static func export(_ rows: [[String]]) throws -> ExportImport {
        var export = try ExportImport(header: try Fixture.record(Fixture.header), by: try Fixture.rules())
        for (index, row) in rows.enumerated() { export.add(try Fixture.record(row, line: index + 2)) }
        return export
    }

    private static func anonymous(_ number: Int) -> String {
        "$RCAnonymousID:" + String(repeating: "0", count: 31) + String(number)
    }

    private static func user(_ text: String) throws -> User { try #require(CustomerIdentifier(text)).user }

    @Test(
        arguments: [
            ("mint", "mint", "mint", []),
            (anonymous(1), anonymous(1), anonymous(1), []),
            (anonymous(1), "mint", "mint", [anonymous(1)]),
            ("mint", anonymous(1), "mint", [anonymous(1)]),
            (anonymous(1), anonymous(2), anonymous(1), [anonymous(2)]),
            ("mint", "mint@example.com", "mint", ["mint@example.com"]),
        ] as [(String, String, String, [String])])
    func `a known id names the customer, and the other id leads to it`(
        original: String, lastSeen: String, name: String, aliases: [String]
    ) throws {
        let row = Fixture.row(["rc_original_app_user_id": original, "rc_last_seen_app_user_id_alias": lastSeen])
        let customer = try #require(try Self.export([row]).customers().first)
        #expect(try customer.user == Self.user(name))
        #expect(try customer.aliases == aliases.map(Self.user))
        #expect(customer.purchases.map(\.originalTransactionIdentifier) == ["1"])
    }

    @Test func `the renewals of a subscription are one expected purchase`() throws {
        let rows = (1...12).map { month in
            Fixture.row([
                "product_identifier": "garden.basic.monthly", "store_transaction_id": "\(month)",
                "start_time": "2025-\(month < 10 ? "0" : "")\(month)-01 00:00:00",
            ])
        }
        let export = try Self.export(rows)
        let purchases = export.customers().flatMap(\.purchases)
        #expect(purchases.map(\.purchaseDate) == [try #require(Timestamp(rfc3339: "2025-12-01T00:00:00Z"))])
        #expect(export.rows == 12 && export.exclusions == [:])
    }

    @Test func `of two customers of one purchase, the one with the later row gets it`() throws {
        let first = Fixture.row(["rc_original_app_user_id": "rose", "start_time": "2026-01-01 00:00:00"])
        for rows in [[first, Fixture.row()], [Fixture.row(), first], [first, Fixture.row(), first]] {
            let export = try Self.export(rows)
            let owners = export.customers().filter { !$0.purchases.isEmpty }.map(\.user)
            #expect(try owners == [Self.user("mint")])
            #expect(export.exclusions == [.otherCustomerInFile: 1])
        }
    }

    @Test func `invalid lines are listed by their numbers, and the others are collected`() throws {
        let rows = [
            Fixture.row(), Fixture.row(["start_time": "never"]), ["mint"],
            Fixture.row(["original_store_transaction_id": "2"]),
        ]
        let export = try Self.export(rows)
        #expect(export.rows == 4 && export.invalidCount == 2)
        #expect(export.invalidLines.map(\.line) == [3, 4])
        #expect(
            export.invalidLines.map(\.reason) == [
                "start_time is not a time in UTC", "it has 1 fields instead of \(Fixture.header.count)",
            ])
        #expect(export.customers().first?.purchases.count == 2)
    }

    /// Rows of 20 customers, some of whom share ids and purchases.
    private static func rows(_ dice: Dice) -> [[String]] {
        (0..<60).map { _ in
            let known = dice.number(below: 20)
            let promotion = ["store": "promotional", "entitlement_identifiers": #"["plus"]"#]
            let purchase = [
                "original_store_transaction_id": "\(dice.number(below: 30))",
                "product_identifier": dice.pick(["garden.gate", "garden.basic.monthly", "garden.seeds"]) ?? "",
            ]
            let row = [
                "rc_original_app_user_id": dice.happens(50) ? anonymous(known % 10) : "c\(known)",
                "rc_last_seen_app_user_id_alias": dice.happens(50) ? anonymous(known % 10) : "c\(known)",
                "start_time": "2026-01-\(10 + dice.number(below: 3)) 00:00:00",
                "custom_subscriber_attributes":
                    #"{"level": {"value": "\#(dice.number(below: 9))", "updated_at_ms": \#(dice.number(below: 4))}}"#,
            ]
            return Fixture.row(row.merging(dice.happens(20) ? promotion : purchase) { $1 })
        }
    }

    @Test(arguments: 0..<10) func `rows in any order lead to the same ledger`(seed: Int) async throws {
        let dice = Dice(seed: UInt64(seed))
        let rows = Self.rows(dice)
        let folder = try TemporaryFolder()
        var ledgers: [Data] = []
        var exports: [ExportImport] = []
        for order in [rows, dice.shuffle(rows), dice.shuffle(rows + rows.prefix(9))] {
            let export = try Self.export(order)
            exports.append(export)
            let ledger = try Ledger(
                file: folder.file("\(ledgers.count).sqlite"), randomness: .seeded(7))
            let customers = export.customers()
            try await ledger.write { transaction in
                for customer in customers {
                    _ = try transaction.add(
                        imported: customer.user, aliases: customer.aliases, grants: customer.grants,
                        purchases: customer.purchases, by: "process", at: Fixture.now)
                    try transaction.state(customer.attributes, of: customer.user, at: Fixture.now)
                }
            }
            #expect(try ledger.check().problems == [])
            var text = Data()
            _ = try ledger.export { text.append($0) }
            ledgers.append(text)
        }
        #expect(Set(exports.map { $0.customers() }).count == 1)
        #expect(exports[0].exclusions == exports[1].exclusions)
        #expect(Set(ledgers).count == 1)
    }
}
