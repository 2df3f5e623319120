import Entitlements
import Features
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The tables of features, which a ledger has only if a service uses the feature.
@Suite struct FeatureTableTests: LedgerSuite {
    /// One ledger, for several processes.
    private enum Place {
        case file(URL)
        case schema(TestSchema)

        func open(_ features: [LedgerFeature], migrates: Bool = true) throws -> Ledger {
            switch self {
            case .file(let file): try Ledger(file: file, features: features, migrates: migrates)
            case .schema(let schema):
                try Ledger(try schema.ledgerAddress, features: features, migrates: migrates)
            }
        }
    }

    private static let unused: [LedgerFeature] =
        [.entitlements] + [LedgerFeature].all.dropFirst().map { $0.used(if: false) }

    let fixture: LedgerFixture
    private let place: Place
    private let mint: User

    init() throws {
        fixture = try LedgerFixture()
        place = LedgerFixture.isFile ? .file(fixture.folder.file("features.sqlite")) : .schema(try TestSchema())
        mint = try #require(User(name: "mint"))
    }

    private func tables(_ ledger: Ledger) async throws -> Set<String> {
        try await ledger.read { try $0.database.presentTables() }.intersection([LedgerFeature].all.tables.map(\.name))
    }

    private func endpoint() -> WebhookEndpoint {
        WebhookEndpoint(
            identifier: "e", url: "https://example.com", createdAt: Self.now, createdBy: "K",
            secret: [UInt8](repeating: 1, count: 32))
    }

    @Test func `an unused feature creates no tables`() async throws {
        let ledger = try place.open(Self.unused)
        let tables = try await tables(ledger)
        #expect(tables.contains("redeemed_transaction"))
        for feature in [LedgerFeature].all.dropFirst() {
            #expect(tables.isDisjoint(with: feature.tables.map(\.name)))
        }
        #expect(try await ledger.read { try $0.webhookEndpoints() }.isEmpty)
        #expect(try await ledger.read { try $0.account(of: mint) } == nil)
        #expect(try ledger.check().problems == [])
    }

    @Test func `a feature creates its tables when it is first used`() async throws {
        _ = try place.open(Self.unused)
        #expect(throws: StorageFault.self) { try place.open(.all, migrates: false) }
        let ledger = try place.open(.all)
        #expect(try await tables(ledger).count == [LedgerFeature].all.tables.count)
        // The tables stay.
        #expect(try await tables(try place.open(Self.unused)).count == [LedgerFeature].all.tables.count)
    }

    private static func notes(_ added: Table.Column...) -> [LedgerFeature] {
        let table = Table(
            name: "note", family: .everywhere, columns: [.integer("number"), .text("text")] + added, key: ["number"])
        return .all + [LedgerFeature(tables: [table])]
    }

    @Test func `a service adds the columns of a later version`() async throws {
        let (earlier, later) = (Self.notes(), Self.notes(.text("author").since(2), .integer("size").since(3)))
        _ = try await place.open(earlier).write {
            try $0.database.write("INSERT INTO note (number, text) VALUES (1, 'kept')", [])
        }
        #expect(throws: StorageFault.self) { try place.open(later, migrates: false) }
        let ledger = try place.open(later)
        #expect(try await ledger.state().version == 3)
        _ = try await ledger.write {
            try $0.database.write("INSERT INTO note (number, text, author, size) VALUES (2, 'new', 'ada', 3)", [])
        }
        let texts = try await ledger.read { transaction in
            try transaction.database.rows("SELECT text, author FROM note ORDER BY number") {
                [try $0.next() as String?, try $0.next() as String?]
            }
        }
        #expect(texts == [["kept", nil], ["new", "ada"]])
        switch place {
        case .file(let file): #expect(try LedgerFile(file, features: later).check().problems == [])
        case .schema: #expect(try ledger.check().problems == [])
        }
        #expect { try place.open(earlier) } throws: { ($0 as? StorageFault)?.cause == .otherVersion }
    }

    @Test func `a process sees the tables that another process created`() async throws {
        let first = try place.open(Self.unused)
        _ = try await first.write { try $0.redeem([claim("1")], for: mint, at: Self.now) }
        let second = try place.open(.all)
        _ = try await second.write { try $0.add(endpoint(), upTo: 1) }
        _ = try await first.write { try $0.redeem([claim("2")], for: mint, at: Self.now) }
        let deliveries = try await second.read { try $0.webhookDeliveries(to: "e", in: nil, before: nil, limit: 9) }
        #expect(deliveries.map(\.entry.reference) == ["2"])
    }

    @Test func `a process erases the rows of another process's feature`() async throws {
        let second = try place.open(.all)
        _ = try await second.write {
            try $0.join(mint, phoneNumber: "1", email: "a@b.co", fcmToken: "f", birth: "b", gender: 0, at: Self.now)
        }
        #expect(try await place.open(Self.unused).write { try $0.erase(mint, by: .user, at: Self.now) })
        #expect(try await second.read { try $0.member(of: mint) } == nil)
        #expect(try second.check().rows["member"] == 0)
    }

    @Test func `an import creates the tables of the features in the export`() async throws {
        let source = try place.open(.all)
        _ = try await source.write { try $0.add(endpoint(), upTo: 1) }
        var text: Data? = Data()
        _ = try source.export { text?.append($0) }
        let ledger = try Ledger(file: folder.file("copy.sqlite"), features: Self.unused)
        _ = try ledger.importLines { () throws(ImportError) -> Data? in
            defer { text = nil }
            return text
        }
        let tables = try await tables(ledger)
        #expect(tables.contains("webhook_endpoint"))
        #expect(!tables.contains("account"))
        #expect(try await ledger.read { try $0.webhookEndpoints() } == [endpoint()])
        // The import created all tables of the feature, although the export has rows of one only.
        _ = try await ledger.write { try $0.redeem([claim("1")], for: mint, at: Self.now) }
        let deliveries = try await ledger.read { try $0.webhookDeliveries(to: "e", in: nil, before: nil, limit: 9) }
        #expect(deliveries.count == 1)
    }
}
