import Catalog
import Entitlements
import Features
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// Changes of the catalog at run time: concurrent changes, and changes that conflict with the files.
@Suite struct CatalogServiceTests {
    let folder: TemporaryFolder
    let files: Catalog
    let ledger: Ledger
    let clock = ManualClock()

    init() throws {
        folder = try TemporaryFolder()
        files = try Catalog(folder: Project.products)
        ledger = try Ledger(file: folder.file("ledger.sqlite"))
    }

    private func service(_ files: Catalog? = nil) async throws -> CatalogService {
        try await CatalogService(apps: Apps(App(files ?? self.files)), ledger: ledger, clock: clock)
    }

    private func object(number: Int, price: String = "1200") -> JSONObject {
        [
            "type": "NonConsumable", "displayPrice": .string(price), "collection": "sprout",
            "number": .integer(number),
        ]
    }

    private func apply(_ pending: CatalogService.Pending?, to service: CatalogService) async throws {
        #expect(try await service.add(try #require(pending)))
        try await service.refresh()
    }

    @Test func `a change takes effect after it is added and applied`() async throws {
        let (service, other) = (try await service(), try await service())
        let pending = try await service.define(object(number: 9), as: "moon", in: service.apps.first, by: "K")
        #expect(pending?.isNew == true)
        #expect(service.apps.first.catalog.product("moon") == nil)
        try await apply(pending, to: service)
        #expect(service.apps.first.catalog.benefit(of: "moon") == .item(Item(collection: "sprout", number: 9)))
        // The same definition is not a change. Another price is one.
        #expect(try await service.define(object(number: 9), as: "moon", in: service.apps.first, by: "K") == nil)
        try await apply(
            try await service.define(object(number: 9, price: "7"), as: "moon", in: service.apps.first, by: "K"),
            to: service)
        #expect(service.apps.first.catalog.product("moon")?.price.milliunits == 7000)
        #expect(other.apps.first.catalog.product("moon") == nil)
        try await other.refresh()
        #expect(other.apps.first.catalog.product("moon")?.price.milliunits == 7000)
        #expect(try await self.service().apps.first.catalog.product("moon")?.price.milliunits == 7000)
        #expect(
            try await service.changes(.of(product: "moon"), in: service.apps.first, before: nil, limit: 9).map(\.number)
                == [
                    2, 1,
                ])
    }

    /// Both changes are for the same revision. The second one must be prepared again.
    @Test func `two concurrent products do not grant the same item`() async throws {
        let (first, second) = (try await service(), try await service())
        let pendings = (
            try await first.define(object(number: 9), as: "moon", in: first.apps.first, by: "K"),
            try await second.define(object(number: 9), as: "sun", in: second.apps.first, by: "L")
        )
        try await apply(pendings.0, to: first)
        #expect(try await !second.add(try #require(pendings.1)))
        try await second.refresh()
        await #expect {
            _ = try await second.define(object(number: 9), as: "sun", in: second.apps.first, by: "L")
        } throws: {
            ($0 as? CatalogChangeError)?.code == "productInvalid"
        }
    }

    @Test func `a withdrawn product stays valid`() async throws {
        let service = try await service()
        let product = try #require(files.products.first?.productIdentifier)
        #expect(try service.setWithdrawn(false, product, in: service.apps.first, by: "K") == nil)
        try await apply(try service.setWithdrawn(true, product, in: service.apps.first, by: "K"), to: service)
        let catalog = service.apps.first.catalog
        #expect(catalog.withdrawn == [ByteKey(product)])
        #expect(catalog.product(product) == files.product(product))
        #expect(catalog.benefit(of: product) == files.benefit(of: product))
        #expect(catalog.definition(of: product) == files.definition(of: product))
        #expect(try service.setWithdrawn(true, product, in: service.apps.first, by: "K") == nil)
        try await apply(try service.setWithdrawn(false, product, in: service.apps.first, by: "K"), to: service)
        #expect(service.apps.first.catalog.withdrawn == [])
        #expect(throws: CatalogChangeError.productNotFound) {
            try service.setWithdrawn(true, "none", in: service.apps.first, by: "K")
        }
    }

    @Test func `a product keeps its type`() async throws {
        let service = try await service()
        let product = try #require(files.products.first?.productIdentifier)
        await #expect(throws: CatalogChangeError.productTypeFixed(.nonConsumable)) {
            _ = try await service.define(
                ["type": "Consumable", "displayPrice": "1", "balance": "coins", "amount": .integer(1)], as: product,
                in: service.apps.first,
                by: "K")
        }
    }

    /// The benefit of a redeemed product is fixed. The benefit of a product that no user has can be corrected.
    @Test func `a redeemed product keeps its benefit`() async throws {
        let service = try await service()
        func season(_ duration: String, price: String = "1") async throws -> JSONObject {
            [
                "type": "NonRenewingSubscription", "displayPrice": .string(price), "collection": "bed",
                "number": .integer(1), "duration": .string(duration),
            ]
        }
        try await apply(try service.define(season("P1M"), as: "season", in: service.apps.first, by: "K"), to: service)
        try await apply(try service.define(season("P1Y"), as: "season", in: service.apps.first, by: "K"), to: service)
        let claim = Claim(
            app: "com.example.app", origin: .localSandbox, transactionIdentifier: "1",
            originalTransactionIdentifier: "1",
            productIdentifier: "season", quantity: 1, purchaseDate: clock.now(), revocationDate: nil,
            repeatsOriginal: false, signedAt: clock.now(), appAccountToken: nil,
            proofDigest: [UInt8](repeating: 7, count: 32), item: Item(collection: "bed", number: 1),
            expiresAt: clock.now().adding(days: 365))
        _ = try await ledger.write { try $0.redeem([claim], for: try #require(User(name: "alice")), at: clock.now()) }
        await #expect(throws: CatalogChangeError.productBenefitFixed) {
            _ = try await service.define(season("P1M"), as: "season", in: service.apps.first, by: "K")
        }
        await #expect(throws: CatalogChangeError.productBenefitFixed) {
            _ = try await service.revert(.product("season"), in: service.apps.first, by: "K")
        }
        try await apply(
            try service.define(season("P1Y", price: "2"), as: "season", in: service.apps.first, by: "K"), to: service)
        #expect(service.apps.first.catalog.product("season")?.price.milliunits == 2000)
    }

    @Test func `a defined product is reverted to the files`() async throws {
        let service = try await service()
        let product = try #require(files.products.first?.productIdentifier)
        #expect(try await service.revert(.product(product), in: service.apps.first, by: "K") == nil)
        await #expect(throws: CatalogChangeError.productNotFound) {
            _ = try await service.revert(.product("moon"), in: service.apps.first, by: "K")
        }
        try await apply(
            try await service.define(object(number: 99), as: product, in: service.apps.first, by: "K"), to: service)
        try await apply(
            try await service.define(object(number: 1), as: "moon", in: service.apps.first, by: "K"), to: service)
        // Another product grants the item of the files' definition.
        await #expect {
            _ = try await service.revert(.product(product), in: service.apps.first, by: "K")
        } throws: {
            ($0 as? CatalogChangeError)?.message == "\(product): number: sprout 1 is given twice."
        }
        try await apply(try service.setWithdrawn(true, "moon", in: service.apps.first, by: "K"), to: service)
        try await apply(try await service.revert(.product("moon"), in: service.apps.first, by: "K"), to: service)
        #expect(service.apps.first.catalog.product("moon") == nil)
        // A product that is defined again is not withdrawn.
        try await apply(
            try await service.define(object(number: 1), as: "moon", in: service.apps.first, by: "K"), to: service)
        #expect(service.apps.first.catalog.withdrawn == [])
        try await apply(try await service.revert(.product("moon"), in: service.apps.first, by: "K"), to: service)
        try await apply(try service.setWithdrawn(true, product, in: service.apps.first, by: "K"), to: service)
        try await apply(try await service.revert(.product(product), in: service.apps.first, by: "K"), to: service)
        let catalog = service.apps.first.catalog
        #expect(catalog.withdrawn == [])
        #expect(catalog.products == files.products)
        #expect(catalog.administered == [])
        #expect(catalog.definition(of: product) == files.definition(of: product))
        #expect(try await self.service().apps.first.catalog.products == files.products)
    }

    /// The order of the keys does not matter.
    @Test func `an equal definition is not a change`() async throws {
        let service = try await service()
        for product in files.products.map(\.productIdentifier) {
            var reversed = JSONObject()
            for member in try #require(files.definition(of: product)).members.reversed() {
                _ = reversed.add(member.key, member.value)
            }
            #expect(try await service.define(reversed, as: product, in: service.apps.first, by: "K") == nil)
        }
    }

    @Test func `a definition that is too long is refused`() async throws {
        var long = object(number: 9)
        _ = long.add("referenceName", .string(String(repeating: "a", count: 33_000)))
        await #expect {
            let service = try await service()
            _ = try await service.define(long, as: "moon", in: service.apps.first, by: "K")
        } throws: {
            ($0 as? CatalogChangeError)?.message == "moon: it is larger than 32 KB."
        }
    }

    /// A product of the files grants the item of a product in the ledger. No service starts with such a conflict.
    @Test func `a conflict of the files with the ledger is reported`() async throws {
        let service = try await service()
        try await apply(
            try await service.define(object(number: 9), as: "moon", in: service.apps.first, by: "K"), to: service)
        let changed = try changedFiles {
            $0.replacing(#""collection": "sprout", "number": 1 }"#, with: #""collection": "sprout", "number": 9 }"#)
        }
        try #require(changed.product(granting: Item(collection: "sprout", number: 9)) != nil)
        let conflict =
            "The ledger's change of \"moon\" conflicts with the catalog's files: number: sprout 9 is given twice."
        await #expect {
            _ = try await self.service(changed)
        } throws: {
            ($0 as? CatalogError)?.message == conflict
        }
        // A service that runs keeps its files and its catalog.
        let (app, versions) = (service.apps.first, service.apps.revisions)
        await #expect {
            try await service.reload([changed])
        } throws: {
            ($0 as? CatalogError)?.message == conflict
        }
        #expect(service.apps.revisions == versions)
        #expect(app.files.products == files.products)
        #expect(app.catalog.benefit(of: "moon") == .item(Item(collection: "sprout", number: 9)))
    }

    /// The files of the sample with other texts.
    private func changedFiles(_ change: (String) -> String) throws -> Catalog {
        let products = try TemporaryFolder()
        for name in [Catalog.configurationFile, Catalog.itemsFile] {
            let text = try String(contentsOf: Project.products.appending(path: name), encoding: .utf8)
            try Data(change(text).utf8).write(to: products.file(name))
        }
        return try Catalog(folder: products.url)
    }

    @Test func `new files keep the changes of the ledger, and make kept answers invalid`() async throws {
        let service = try await service()
        let app = service.apps.first
        let product = try #require(files.products.first?.productIdentifier)
        try await apply(try await service.define(object(number: 9), as: "moon", in: app, by: "K"), to: service)
        let (versions, revision) = (service.apps.revisions, app.current.revision)
        let renamed = try changedFiles { $0.replacing(product, with: "new.one") }
        try await service.reload([renamed])
        #expect(service.apps.revisions != versions)
        #expect(app.current.revision == revision)
        #expect(app.catalog.product(product) == nil && app.files.product(product) == nil)
        #expect(app.catalog.product("new.one") != nil)
        #expect(app.catalog.benefit(of: "moon") == .item(Item(collection: "sprout", number: 9)))
        // Later changes are made to the new files.
        try await apply(try service.setWithdrawn(true, "new.one", in: app, by: "K"), to: service)
        #expect(app.catalog.isWithdrawn("new.one"))
        #expect(app.catalog.product(product) == nil)
    }

    @Test func `the files of another app, or of more apps, are refused`() async throws {
        let service = try await service()
        let other = try changedFiles {
            $0.replacing("\"\(files.bundleIdentifier)\"", with: "\"com.example.other\"")
        }
        try #require(other.bundleIdentifier == "com.example.other")
        for wrong in [[other], [files, other], []] {
            await #expect(throws: (any Error).self) { try await service.reload(wrong) }
        }
        #expect(service.apps.first.bundleIdentifier == files.bundleIdentifier)
    }

    @Test func `a picture belongs to the item of the product`() async throws {
        let service = try await service()
        let product = try #require(files.products.first?.productIdentifier)
        let item = try #require(files.benefit(of: product)?.item)
        let picture = try Picture(bytes: TestPicture.jpeg(), file: "p")
        try await apply(try service.setPicture(picture, of: product, in: service.apps.first, by: "K"), to: service)
        #expect(service.apps.first.catalog.pictures[item] == picture)
        #expect(try await self.service().apps.first.catalog.pictures[item] == picture)
        #expect(try service.setPicture(picture, of: product, in: service.apps.first, by: "K") == nil)
        #expect(throws: CatalogChangeError.productNotFound) {
            try service.setPicture(picture, of: "none", in: service.apps.first, by: "K")
        }
        try await apply(
            try await service.define(
                ["type": "Consumable", "displayPrice": "1", "balance": "coins", "amount": .integer(1)], as: "coins",
                in: service.apps.first,
                by: "K"), to: service)
        #expect(throws: CatalogChangeError.pictureOfNoItem) {
            try service.setPicture(picture, of: "coins", in: service.apps.first, by: "K")
        }
    }
}
