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

    private func texts(_ texts: [String], where condition: String) async throws -> Set<String> {
        let query = "SELECT 1 FROM (SELECT CAST($1 AS TEXT) AS origin) AS one WHERE \(condition)"
        return try await ledger.read { transaction in
            Set(try texts.filter { try transaction.database.hasRow(query, [$0]) })
        }
    }

    @Test(arguments: [true, false])
    func `an environment has the origins of every store`(isSandbox: Bool) async throws {
        let all = Set<Origin>.ofEveryStore
        let found = try await texts(all.map(\.rawValue), where: Origin.condition(isSandbox: isSandbox))
        #expect(found == Set(all.filter { $0.isSandbox == isSandbox }.map(\.rawValue)))
    }

    @Test(arguments: ["app_store", "play_store", "acme", "acm"])
    func `a store has its origins alone`(word: String) async throws {
        let store = try #require(PurchaseStore(rawValue: word))
        let all = Set<Origin>.ofEveryStore
        let own = all.filter { $0.store == store }
        #expect(
            try await texts(all.map(\.rawValue), where: Origin.condition(of: store)) == Set(own.map(\.rawValue)))
        let sold = try await texts(all.map(\.rawValue), where: Origin.condition(isSandbox: false, of: store))
        #expect(sold == Set(own.filter { !$0.isSandbox }.map(\.rawValue)))
    }

    @Test func `the check knows the form of an origin`() async throws {
        let origins = Set<Origin>.ofEveryStore.map(\.rawValue)
        let others = ["", "nowhere", "/Test", "acme", "acme/Xcode"]
        #expect(try await texts(origins + others, where: Origin.hasForm) == Set(origins))
    }
}
