import Ledger
import Proofs
import TestSupport
import Testing

/// The SQL conditions of origins find what `Origin` says.
@Suite struct OriginConditionTests: LedgerSuite {
    let fixture: LedgerFixture

    init() throws {
        fixture = try LedgerFixture()
    }

    private func origins(where condition: String) async throws -> Set<Origin> {
        Set(
            try await numbers(Set<Origin>.ofEveryStore.map(\.number), where: condition).compactMap(Origin.init(number:))
        )
    }

    private func numbers(_ numbers: [Int64], where condition: String) async throws -> Set<Int64> {
        let query = "SELECT 1 FROM (SELECT CAST($1 AS BIGINT) AS origin) AS one WHERE \(condition)"
        return try await ledger.read { transaction in
            Set(try numbers.filter { try transaction.database.hasRow(query, [$0]) })
        }
    }

    @Test(arguments: [true, false])
    func `an environment has the origins of every store`(isSandbox: Bool) async throws {
        let found = try await origins(where: Origin.condition(isSandbox: isSandbox))
        #expect(found == Set<Origin>.ofEveryStore.filter { $0.isSandbox == isSandbox })
    }

    @Test(arguments: ["app_store", "play_store", "acme", "acm"])
    func `a store has its origins alone`(word: String) async throws {
        let store = try #require(PurchaseStore(rawValue: word))
        let own = Set<Origin>.ofEveryStore.filter { $0.store == store }
        #expect(try await origins(where: Origin.condition(of: store)) == own)
        let sold = try await origins(where: Origin.condition(isSandbox: false, of: store))
        #expect(sold == own.filter { !$0.isSandbox })
    }

    @Test func `the check knows the form of an origin`() async throws {
        let origins = Set<Origin>.ofEveryStore.map(\.number)
        #expect(try await numbers(origins + Self.others, where: Origin.hasForm) == Set(origins))
    }

    /// No origin, and an environment that no other store has.
    private static let others: [Int64] = [9, 99, Int64(Int32.max), Int64(Int32.min) | 3]

    @Test func `an origin has one number, and no other number is read`() {
        for origin in Set<Origin>.ofEveryStore { #expect(Origin(number: origin.number) == origin) }
        #expect(Set(Set<Origin>.ofEveryStore.map(\.number)).count == Set<Origin>.ofEveryStore.count)
        // No name, a character after the end, a long name.
        let first = Int64(Int32.min)
        for number in Self.others + [.min, -1, first, first | 27 << 2, first - 1] {
            #expect(Origin(number: number) == nil, "\(number)")
        }
    }
}
