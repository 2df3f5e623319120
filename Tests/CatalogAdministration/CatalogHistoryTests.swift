import Catalog
import Entitlements
import Features
import Ledger
import Proofs
import TestSupport
import Testing

/// The history of the catalog, and the undo of its changes.
@Suite struct CatalogHistoryTests {
    private func object(number: Int) -> JSONObject {
        [
            "type": "NonConsumable", "displayPrice": "1200", "collection": "sprout", "number": .integer(number),
        ]
    }

    @Test func `the history has the product before and after each change`() async throws {
        let folder = try TemporaryFolder()
        let files = try Catalog(folder: Project.products)
        let service = try await CatalogService(
            apps: Apps(App(files)), ledger: try Ledger(file: folder.file("ledger.sqlite")), clock: ManualClock())
        let (app, product) = (service.apps.first, try #require(files.products.first?.productIdentifier))
        func makeAll(_ prepare: () async throws -> CatalogService.Pending?) async throws {
            #expect(try await service.perform(prepare) != .unchanged)
        }
        try await makeAll { try await service.define(object(number: 99), as: product, in: app, by: "K") }
        try await makeAll { try await service.define(object(number: 9), as: "moon", in: app, by: "K") }
        try await makeAll { try service.setWithdrawn(true, product, in: app, by: "K") }
        try await makeAll { try await service.define(object(number: 98), as: product, in: app, by: "K") }
        try await makeAll { try await service.revert(.product(product), in: app, by: "K") }
        let history = try await service.history(.of(product: nil), in: app, before: nil, limit: 9)
        func numbers(_ state: KeyPath<CatalogRevision, CatalogRevision.State>) -> [JSONValue?] {
            history.map { $0[keyPath: state].definition?["number"] }
        }
        let first = JSONValue.integer(1)
        #expect(numbers(\.after) == [first, .integer(98), .integer(99), .integer(9), .integer(99)])
        #expect(numbers(\.before) == [.integer(98), .integer(99), .integer(99), nil, first])
        #expect(history.map(\.before.isWithdrawn) == [true, true, false, false, false])
        #expect(history.map(\.after.isWithdrawn) == [false, true, true, false, false])
        #expect(
            try await service.history(.of(product: "moon"), in: app, before: nil, limit: 9).map(\.change.number) == [2])
        await #expect(throws: CatalogChangeError.changeNotFound) {
            _ = try await service.revision(2, of: .product(product), in: app)
        }
        // A reversion is undone in two steps.
        let revision = try await service.revision(5, of: .product(product), in: app)
        try await makeAll { try await service.undo(revision, in: app, by: "K") }
        try await makeAll { try await service.undo(revision, in: app, by: "K") }
        #expect(try await service.undo(revision, in: app, by: "K") == nil)
        #expect(app.catalog.definition(of: product)?["number"] == .integer(98))
        #expect(app.catalog.isWithdrawn(product))
    }
}
