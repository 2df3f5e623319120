import Catalog
import Entitlements
import Features
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

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
        change(number, content, of: .product(product))
    }

    private func change(
        _ number: Int64,
        _ content: CatalogChange.Content,
        of subject: CatalogSubject
    ) -> CatalogChange {
        CatalogChange(
            of: subject, content, after: number - 1, in: "app", by: "K", at: Self.later(number))
    }

    private func add(
        _ change: CatalogChange,
        picture: [UInt8]? = nil,
        to ledger: Ledger? = nil
    ) async throws -> Bool {
        try await (ledger ?? self.ledger).write { try $0.add(change, picture: picture, maximumPictures: 10) }
    }

    private let digest = [UInt8](repeating: 1, count: 32)

    @Test func `the catalog record follows from the changes`() async throws {
        let nothing = try await ledger.read { try $0.catalogRecord() }
        #expect(nothing.revision == 0)
        #expect(nothing.changed.isEmpty)
        #expect(nothing.pictures.isEmpty)
        for (number, (product, content)) in zip(
            Int64(1)...,
            [
                ("b", .definition("{\"b\":1}")), ("a", .withdrawal), ("b", .definition("{\"b\":2}")),
                ("b", .withdrawal), ("b", .restoration), ("c", .restoration), ("d", .definition("{}")),
                ("d", .reversion),
            ] as [(String, CatalogChange.Content)])
        {
            #expect(try await add(change(number, content, of: product)))
        }
        let record = try await fixture.again().read { try $0.catalogRecord() }
        #expect(record.revision == 8)
        #expect(record.changed.map(\.subject.identifier) == ["b", "a", "c", "d"])
        #expect(record.changed.map(\.definition) == ["{\"b\":2}", nil, nil, nil])
        #expect(record.changed.map(\.isWithdrawn) == [false, true, false, false])
    }

    /// A product, a right and an offering may have one name.
    @Test func `the changes of rights and offerings are separate from those of products`() async throws {
        let subjects: [CatalogSubject] = [.product("a"), .right("a"), .offering("a"), .currentOffering]
        for (number, subject) in zip(Int64(1)..., subjects) {
            let change = change(number, .definition("{\"n\":\(number)}"), of: subject)
            #expect(try await add(change))
        }
        #expect(try await add(change(5, .reversion, of: .offering("a"))))
        let record = try await fixture.again().read { try $0.catalogRecord() }
        #expect(record.changed.map(\.subject) == subjects)
        #expect(record.changed.map(\.definition) == ["{\"n\":1}", "{\"n\":2}", nil, "{\"n\":4}"])
        for (filter, numbers) in [
            (.all, [5, 4, 3, 2, 1]), (.products, [1]), (.only(.product("a")), [1]), (.only(.right("a")), [2]),
            (.only(.offering("a")), [5, 3]), (.only(.currentOffering), [4]), (.only(.right("b")), []),
        ] as [(CatalogChangeFilter, [Int64])] {
            let changes = try await ledger.read {
                try $0.catalogChanges(filter, in: "app", before: nil, limit: 9)
            }
            #expect(changes.map(\.number) == numbers, "\(filter)")
        }
    }

    /// Of two changes to the same revision, only one succeeds.
    @Test func `a change to an outdated revision is refused`() async throws {
        #expect(try await add(change(1, .withdrawal)))
        #expect(try await !add(change(1, .restoration), to: try fixture.again()))
        #expect(try await !add(change(3, .restoration)))
        #expect(try await ledger.read { try $0.catalogRevision() } == 1)
        #expect(try await add(change(2, .restoration)))
    }

    @Test func `a picture replaces the previous one within the size limit`() async throws {
        let (first, second) = (Item(collection: "sprout", number: 1), Item(collection: "sprout", number: 2))
        #expect(try await add(change(1, .picture(of: first, digest: digest)), picture: [1, 2, 3, 4, 5, 6]))
        await #expect(throws: CatalogChangeError.picturesTooLarge) {
            try await add(change(2, .picture(of: second, digest: digest)), picture: [1, 2, 3, 4, 5])
        }
        #expect(try await ledger.read { try $0.catalogRevision() } == 1)
        // It replaces the previous picture.
        #expect(
            try await add(change(2, .picture(of: first, digest: digest)), picture: [0, 255, 3, 4, 5, 6, 7]))
        #expect(try await add(change(3, .picture(of: second, digest: digest)), picture: [1, 2, 3]))
        #expect(
            try await ledger.read { try $0.catalogRecord() }.pictures == [first: digest, second: digest])
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
        for change in made { #expect(try await add(change, picture: [1])) }
        #expect(
            try await ledger.read { try $0.catalogChanges(.all, in: "app", before: nil, limit: 3) }
                == [
                    made[4], made[3], made[2],
                ])
        #expect(
            try await ledger.read { try $0.catalogChanges(.all, in: "app", before: 2, limit: 3) }
                == [made[0]])
        #expect(
            try await ledger.read {
                try $0.catalogChanges(.only(.product("b")), in: "app", before: nil, limit: 3)
            }
                == [made[1]])
        #expect(
            try await ledger.read {
                try $0.catalogChanges(.only(.product("c")), in: "app", before: nil, limit: 3)
            }
            .isEmpty)
    }
}
