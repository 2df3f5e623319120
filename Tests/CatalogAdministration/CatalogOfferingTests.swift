import Catalog
import Entitlements
import Features
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// Changes of rights and offerings at run time.
@Suite struct CatalogOfferingTests {
    private let folder: TemporaryFolder
    private let ledger: Ledger
    private let files: Catalog

    private static let product = "com.memolease.sesac1.sprout1"
    private static let offerings = """
        {"rights": [{"name": "sprouts", "items": [{"collection": "sprout", "number": 1}]}],
        "currentOffering": "all", "offerings": [{"identifier": "all", "description": "All", "packages": []}]}
        """

    init() throws {
        folder = try TemporaryFolder()
        ledger = try Ledger(file: folder.file("ledger.sqlite"))
        files = try Self.catalog(in: folder.folder("catalog"), Self.offerings)
    }

    private static func catalog(in folder: URL, _ offerings: String) throws -> Catalog {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for name in [Catalog.configurationFile, Catalog.itemsFile] {
            let text = try Data(contentsOf: Project.products.appending(path: name))
            try text.write(to: folder.appending(path: name))
        }
        try Data(offerings.utf8).write(to: folder.appending(path: Catalog.offeringsFile))
        return try Catalog(folder: folder)
    }

    private func service(_ files: Catalog? = nil) async throws -> CatalogService {
        try await CatalogService(apps: Apps(App(files ?? self.files)), ledger: ledger, clock: ManualClock())
    }

    private static func right(_ products: String...) -> JSONObject {
        ["products": .array(products.map { .string($0) })]
    }

    private static func offering(_ description: String, _ products: String...) -> JSONObject {
        let packages = products.map {
            JSONValue.object(["identifier": .string($0), "productID": .string($0)])
        }
        return ["description": .string(description), "packages": .array(packages)]
    }

    private func perform(
        _ service: CatalogService, _ prepare: (App) async throws -> CatalogService.Pending?
    ) async throws -> CatalogService.Outcome? {
        try await service.perform { try await prepare(service.apps.first) }
    }

    @Test func `a right is created, changed and reverted, for all services on the ledger`() async throws {
        let (service, other) = (try await service(), try await service())
        let first = Self.right(Self.product)
        #expect(
            try await perform(service) { try await service.define(first, as: .right("night"), in: $0, by: "K") }
                == .created)
        #expect(
            try await perform(service) { try await service.define(first, as: .right("night"), in: $0, by: "K") }
                == .unchanged
        )
        #expect(
            try await perform(service) {
                try await service.define(
                    Self.right("com.memolease.sesac1.background1"), as: .right("sprouts"), in: $0, by: "K")
            } == .changed)
        try await other.refresh()
        for catalog in [service.apps.first.catalog, other.apps.first.catalog] {
            #expect(catalog.rights.map(\.name) == ["sprouts", "night"])
            #expect(catalog.right("sprouts")?.items == [])
            #expect(catalog.isAdministered(.right("sprouts")))
        }
        for (name, rights) in [("sprouts", ["sprouts", "night"]), ("night", ["sprouts"])] {
            #expect(
                try await perform(service) { try await service.revert(.right(name), in: $0, by: "K") } == .changed)
            #expect(service.apps.first.catalog.rights.map(\.name) == rights)
        }
        #expect(service.apps.first.catalog.right("sprouts")?.items == [Item(collection: "sprout", number: 1)])
        #expect(!service.apps.first.catalog.isAdministered(.right("sprouts")))
        #expect(
            try await perform(service) { try await service.revert(.right("sprouts"), in: $0, by: "K") } == .unchanged)
        await #expect(throws: CatalogChangeError.rightNotFound) {
            try await perform(service) { try await service.revert(.right("night"), in: $0, by: "K") }
        }
    }

    @Test func `another offering becomes the current one, and cannot be removed then`() async throws {
        let service = try await service()
        let spring = Self.offering("Spring", Self.product)
        #expect(
            try await perform(service) { try await service.define(spring, as: .offering("spring"), in: $0, by: "K") }
                == .created)
        #expect(service.apps.first.catalog.currentOffering?.identifier == "all")
        #expect(
            try await perform(service) { try service.setCurrentOffering("spring", in: $0, by: "K") } == .changed)
        let catalog = try await self.service().apps.first.catalog
        #expect(catalog.currentOffering?.packages.map(\.productIdentifier) == [Self.product])
        #expect(catalog.isAdministered(.currentOffering))
        await #expect {
            _ = try await perform(service) { try await service.revert(.offering("spring"), in: $0, by: "K") }
        } throws: {
            ($0 as? CatalogChangeError)?.message
                == "Offerings.json: currentOffering: there is no offering \"spring\"."
        }
        #expect(try await perform(service) { try await service.revert(.currentOffering, in: $0, by: "K") } == .changed)
        #expect(
            try await perform(service) { try await service.revert(.offering("spring"), in: $0, by: "K") } == .changed)
        #expect(service.apps.first.catalog.offerings.map(\.identifier) == ["all"])
        #expect(service.apps.first.catalog.currentOffering?.identifier == "all")
        await #expect(throws: CatalogChangeError.offeringNotFound) {
            try await perform(service) { try service.setCurrentOffering("spring", in: $0, by: "K") }
        }
    }

    @Test func `an unknown product is refused with the nearest known one`() async throws {
        let service = try await service()
        await #expect {
            _ = try await perform(service) {
                try await service.define(
                    Self.right("com.memolease.sesac1.sprot1"), as: .right("night"), in: $0, by: "K")
            }
        } throws: {
            ($0 as? CatalogChangeError)?.message
                == "night: products[0]: the catalog has no product com.memolease.sesac1.sprot1; "
                + "the nearest known one is \"\(Self.product)\"."
        }
        await #expect {
            _ = try await perform(service) {
                try await service.define(["name": "day"], as: .right("night"), in: $0, by: "K")
            }
        } throws: {
            ($0 as? CatalogChangeError)?.message == "night: name: it has to be night, or left out."
        }
    }

    @Test func `a product that a right needs is not removed, and its item does not change`() async throws {
        let service = try await service()
        let app = service.apps.first
        func moon(_ number: Int) -> JSONObject {
            [
                "type": "NonConsumable", "displayPrice": "1200", "collection": "moon", "number": .integer(number),
            ]
        }
        #expect(
            try await service.perform { try await service.define(moon(1), as: "moon", in: app, by: "K") } == .created)
        let right: JSONObject = [
            "items": .array([.object(["collection": "moon", "number": .integer(1)])])
        ]
        #expect(
            try await perform(service) { try await service.define(right, as: .right("night"), in: $0, by: "K") }
                == .created)
        let expected =
            "moon: a right or an offering needs it: night: items[0]: no product gives moon 1, "
            + "and it is not owned by everybody"
        await #expect {
            _ = try await service.perform { try await service.revert(.product("moon"), in: app, by: "K") }
        } throws: {
            ($0 as? CatalogChangeError)?.message.hasPrefix(expected) == true
        }
        await #expect {
            _ = try await service.perform { try await service.define(moon(2), as: "moon", in: app, by: "K") }
        } throws: {
            ($0 as? CatalogChangeError)?.message.hasPrefix(expected) == true
        }
        #expect(try await perform(service) { try await service.revert(.right("night"), in: $0, by: "K") } == .changed)
        #expect(try await service.perform { try await service.revert(.product("moon"), in: app, by: "K") } == .changed)
    }

    @Test func `the number of rights is limited`() async throws {
        let service = try await service()
        for number in 1..<Catalog.maximumRights {
            let pending = try await service.define(
                Self.right(Self.product), as: .right("\(number)"), in: service.apps.first, by: "K")
            #expect(try await service.add(try #require(pending)))
            try await service.refresh()
        }
        await #expect(throws: CatalogChangeError.rightsTooMany) {
            try await service.define(Self.right(Self.product), as: .right("one more"), in: service.apps.first, by: "K")
        }
    }

    @Test func `a conflict of the files with a right in the ledger is reported`() async throws {
        let service = try await service()
        let offering = Self.offering("Spring", Self.product)
        _ = try await perform(service) { try await service.define(offering, as: .offering("spring"), in: $0, by: "K") }
        let changed = try Self.catalog(in: folder.folder("changed"), "{}")
        // The administered offering does not depend on the file.
        let catalog = try await self.service(changed).apps.first.catalog
        #expect(catalog.offerings.map(\.identifier) == ["spring"])
        _ = try await perform(service) { try service.setCurrentOffering("spring", in: $0, by: "K") }
        _ = try await perform(service) { try service.setCurrentOffering("all", in: $0, by: "K") }
        await #expect {
            _ = try await self.service(changed)
        } throws: {
            ($0 as? CatalogError)?.message
                == "The ledger's change of \"Offerings.json\" conflicts with the catalog's files: currentOffering: "
                + "there is no offering \"all\"."
        }
    }

    @Test func `the history has the definitions before and after each change, and each can be undone`() async throws {
        let service = try await service()
        let app = service.apps.first
        for object in [Self.right(Self.product), Self.right("com.memolease.sesac1.sprout2")] {
            _ = try await perform(service) { try await service.define(object, as: .right("sprouts"), in: $0, by: "K") }
        }
        _ = try await perform(service) {
            try await service.define(Self.right(Self.product), as: .right("night"), in: $0, by: "K")
        }
        _ = try await perform(service) { try await service.revert(.right("sprouts"), in: $0, by: "K") }
        let history = try await service.history(.only(.right("sprouts")), in: app, before: nil, limit: 9)
        let definition = files.right("sprouts")?.definition
        let (first, second) = (Self.right(Self.product), Self.right("com.memolease.sesac1.sprout2"))
        #expect(history.map(\.change.number) == [4, 2, 1])
        #expect(history.map(\.before.definition) == [second, first, definition])
        #expect(history.map(\.after.definition) == [definition, second, first])
        #expect(try await service.history(.of(product: nil), in: app, before: nil, limit: 9).isEmpty)
        for (revision, expected) in zip(history, [second, first, definition]) {
            _ = try await service.perform { try await service.undo(revision, in: app, by: "K") }
            #expect(app.catalog.right("sprouts")?.definition == expected)
            #expect(try await service.undo(revision, in: app, by: "K") == nil)
        }
        let created = try await service.revision(3, of: .right("night"), in: app)
        #expect(created.before.definition == nil)
        _ = try await service.perform { try await service.undo(created, in: app, by: "K") }
        #expect(app.catalog.right("night") == nil)
    }
}
