import CatalogAdministration
import Commerce
import Entitlements
import Foundation
import Ledger
import Testing
import TestSupport

/// The changes of the catalog, in either database.
@Suite struct CatalogLedgerTests: LedgerSuite {
    let fixture: LedgerFixture

    init() throws {
        fixture = try LedgerFixture()
    }

    private func change(
        _ number: Int64,
        _ content: CatalogChange.Content,
        of product: String = "a"
    ) -> CatalogChange {
        CatalogChange(
            number: number, happenedAt: Self.later(number), changedBy: "K", app: "app", productIdentifier: product,
            content: content)
    }

    private func add(
        _ change: CatalogChange,
        picture: [UInt8]? = nil,
        to ledger: Ledger? = nil
    ) async throws -> CatalogChangeAnswer {
        try await (ledger ?? self.ledger).write { try $0.add(change, picture: picture, maximumPictures: 10) }
    }

    private let digest = [UInt8](repeating: 1, count: 32)

    @Test func `the catalog record follows from the changes`() async throws {
        let nothing = try await ledger.read { try $0.catalogRecord(firstApp: "app") }
        #expect(nothing.revision == 0)
        #expect(nothing.products.isEmpty)
        #expect(nothing.pictures.isEmpty)
        for (number, (product, content)) in zip(
            Int64(1)...,
            [
                ("b", .definition("{\"b\":1}")), ("a", .withdrawal), ("b", .definition("{\"b\":2}")),
                ("b", .withdrawal), ("b", .restoration), ("c", .restoration), ("d", .definition("{}")),
                ("d", .reversion),
            ] as [(String, CatalogChange.Content)])
        {
            #expect(try await add(change(number, content, of: product)) == .changed)
        }
        let record = try await fixture.again().read { try $0.catalogRecord(firstApp: "app") }
        #expect(record.revision == 8)
        #expect(record.products.map(\.productIdentifier) == ["b", "a", "c", "d"])
        #expect(record.products.map(\.definition) == ["{\"b\":2}", nil, nil, nil])
        #expect(record.products.map(\.isWithdrawn) == [false, true, false, false])
    }

    /// Of two changes to the same revision, only one succeeds.
    @Test func `a change to an outdated revision is refused`() async throws {
        #expect(try await add(change(1, .withdrawal)) == .changed)
        #expect(try await add(change(1, .restoration), to: try fixture.again()) == .outdated)
        #expect(try await add(change(3, .restoration)) == .outdated)
        #expect(try await ledger.read { try $0.catalogRevision() } == 1)
        #expect(try await add(change(2, .restoration)) == .changed)
    }

    @Test func `a picture replaces the previous one within the size limit`() async throws {
        let (first, second) = (Item(collection: "sprout", number: 1), Item(collection: "sprout", number: 2))
        #expect(try await add(change(1, .picture(of: first, digest: digest)), picture: [1, 2, 3, 4, 5, 6]) == .changed)
        #expect(
            try await add(change(2, .picture(of: second, digest: digest)), picture: [1, 2, 3, 4, 5])
                == .picturesTooLarge)
        #expect(try await ledger.read { try $0.catalogRevision() } == 1)
        // It replaces the previous picture.
        #expect(
            try await add(change(2, .picture(of: first, digest: digest)), picture: [0, 255, 3, 4, 5, 6, 7]) == .changed)
        #expect(try await add(change(3, .picture(of: second, digest: digest)), picture: [1, 2, 3]) == .changed)
        #expect(
            try await ledger.read { try $0.catalogRecord(firstApp: "app") }.pictures == [first: digest, second: digest])
        #expect(try await ledger.read { try $0.catalogPicture(of: first) } == [0, 255, 3, 4, 5, 6, 7])
        #expect(try await ledger.read { try $0.catalogPicture(of: second) } == [1, 2, 3])
        #expect(try await ledger.read { try $0.catalogPicture(of: Item(collection: "sprout", number: 3)) } == nil)
    }

    @Test func `the ledger finds a redeemed product`() async throws {
        #expect(try await !ledger.read { try $0.isRedeemed("p") })
        _ = try await redeem(claim("1"), for: alice)
        #expect(try await ledger.read { try $0.isRedeemed("p") })
        #expect(try await !ledger.read { try $0.isRedeemed("q") })
    }

    @Test func `changes are listed newest first`() async throws {
        let contents: [CatalogChange.Content] = [
            .definition("{}"), .withdrawal, .restoration, .reversion, .picture(of: Self.sprout1, digest: digest),
        ]
        let made = zip(Int64(1)..., contents).map { change($0, $1, of: $0 == 2 ? "b" : "a") }
        for change in made { #expect(try await add(change, picture: [1]) == .changed) }
        #expect(
            try await ledger.read { try $0.catalogChanges(of: nil, in: "app", firstApp: "app", before: nil, limit: 3) }
                == [
                    made[4], made[3], made[2],
                ])
        #expect(
            try await ledger.read { try $0.catalogChanges(of: nil, in: "app", firstApp: "app", before: 2, limit: 3) }
                == [made[0]])
        #expect(
            try await ledger.read { try $0.catalogChanges(of: "b", in: "app", firstApp: "app", before: nil, limit: 3) }
                == [made[1]])
        #expect(
            try await ledger.read { try $0.catalogChanges(of: "c", in: "app", firstApp: "app", before: nil, limit: 3) }
                .isEmpty)
    }
}
