import Catalog
import Foundation
import Proofs
import TestSupport
import Testing
import Vocabulary

@Suite struct CatalogTests {
    @Test func `the shipped catalog sells seeds`() throws {
        let catalog = try Catalog(folder: Project.products)
        #expect(catalog.bundleIdentifier == "com.memolease.sesac1")
        #expect(catalog.storefront.countryCode == "KOR")
        let sprouts = [1200, 2500, 2500, 2500]
        let backgrounds = [1200, 1200, 1200, 2500, 2500, 2500, 2500]
        let expected =
            zip(1..., sprouts).map { ("sprout", $0, $1) } + zip(1..., backgrounds).map { ("background", $0, $1) }
        #expect(catalog.products.count == expected.count)
        for (product, (collection, number, won)) in zip(catalog.products, expected) {
            #expect(product.productIdentifier == "com.memolease.sesac1.\(collection)\(number)")
            #expect(product.type == .nonConsumable)
            #expect(product.price == Price(milliunits: Int64(won) * 1000, currency: "KRW"))
            #expect(
                catalog.benefit(of: product.productIdentifier) == .item(Item(collection: collection, number: number)))
            #expect(Set(product.localizations.map(\.language)) == ["ko", "en"])
        }
        #expect(
            catalog.ownedByEverybody == [
                Item(collection: "background", number: 0), Item(collection: "sprout", number: 0),
            ])
        #expect(catalog.products.first?.localization(language: "ko")?.displayName == "튼튼 새싹")
        #expect(catalog.products.first?.localization(language: "en_GB")?.displayName == "Sturdy Sprout")
        #expect(catalog.products.first?.localization(language: "fr")?.displayName == "튼튼 새싹")
    }

    struct Typo: Sendable, CustomTestStringConvertible {
        let file: String
        let find: String
        let replace: String
        let key: String?
        let reason: String

        var testDescription: String { reason }

        init(_ file: String, _ find: String, _ replace: String, key: String?, _ reason: String) {
            self.file = file
            self.find = find
            self.replace = replace
            self.key = key
            self.reason = reason
        }
    }

    static let typos = [
        Typo(
            "Till.storekit", "com.memolease.sesac1.sprout2", "com.memolease.sesac1.sprout1",
            key: "products[1].productID",
            "com.memolease.sesac1.sprout1 is there twice"),
        Typo(
            "Till.storekit", "\"1200\"", "\"12OO\"", key: "products[0].displayPrice",
            "it is no price; write \"1200\" or \"0.99\""),
        Typo(
            "Till.storekit", "\"1200\"", "1200", key: "products[0].displayPrice",
            "it should be text in quotes; it is number"),
        Typo(
            "Till.storekit", "\"type\" : \"NonConsumable\"", "\"type\" : \"Consumabel\"", key: "products[0].type",
            "it is none of Consumable, NonConsumable"),
        Typo("Till.storekit", "\"productID\"", "\"productId\"", key: "products[0].productID", "the key is missing"),
        Typo(
            "Till.storekit", "\"locale\" : \"en_US\"", "\"locale\" : \"ko\"",
            key: "products[0].localizations[1].locale", "ko is there twice"),
        Typo(
            "Till.storekit", "\"KOR\"", "\"KRO\"", key: "settings._storefront", "it is no storefront of the App Store"),
        Typo(
            "Till.storekit", "\"products\" :", "\"products\" ", key: nil,
            "it is not JSON: the character at byte"),
        Typo(
            "Till.storekit", "\"version\" :", "\"identifier\" :", key: nil,
            "it is not JSON: the key \"identifier\" appears twice"),
        Typo(
            "Items.json", "com.memolease.sesac1.sprout2", "com.memolease.sesac1.sprout9", key: "items[1].productID",
            "the catalog has no product com.memolease.sesac1.sprout9"),
        Typo(
            "Items.json", "com.memolease.sesac1.sprout2", "com.memolease.sesac1.sprout1", key: "items[1].productID",
            "com.memolease.sesac1.sprout1 is there twice"),
        Typo("Items.json", "\"number\": 2", "\"number\": 1", key: "items[1].number", "sprout 1 is given twice"),
        Typo(
            "Items.json", "\"number\": 2", "\"number\": \"2\"", key: "items[1].number",
            "it should be a whole number, 0 or more; it is string"),
        Typo(
            "Items.json",
            "    { \"productID\": \"com.memolease.sesac1.sprout1\", \"collection\": \"sprout\", \"number\": 1 },\n",
            "", key: "items", "no item is given for the product com.memolease.sesac1.sprout1"),
        Typo("Items.json", "\"bundleId\"", "\"bundleID\"", key: "bundleId", "the key is missing"),
    ]

    @Test(arguments: typos)
    func `an error names the file, the key and the reason`(typo: Typo) throws {
        let folder = try copyOfProducts()
        let file = folder.file(typo.file)
        let text = try String(contentsOf: file, encoding: .utf8)
        let range = try #require(text.range(of: typo.find))
        try Data(text.replacingCharacters(in: range, with: typo.replace).utf8).write(to: file)
        #expect {
            try Catalog(folder: folder.url)
        } throws: { error in
            guard let error = error as? CatalogError else { return false }
            return error.file == file.path && error.key == typo.key && error.reason.hasPrefix(typo.reason)
        }
    }

    @Test(arguments: ["Till.storekit", "Items.json"])
    func `an error names the missing file`(name: String) throws {
        let folder = try copyOfProducts()
        try FileManager.default.removeItem(at: folder.file(name))
        #expect(throws: CatalogError(file: folder.file(name).path, reason: "the file is missing")) {
            try Catalog(folder: folder.url)
        }
    }

    @Test func `every item of the shipped catalog has a picture`() throws {
        let catalog = try Catalog(folder: Project.products)
        let items =
            catalog.ownedByEverybody + catalog.products.compactMap { catalog.benefit(of: $0.productIdentifier)?.item }
        #expect(Set(catalog.pictures.keys) == Set(items))
        #expect(Set(catalog.pictures.values).count == items.count)
    }

    @Test(arguments: [
        ("sprout-9.svg", "<svg/>", "it is the picture of no item; name it after one, such as sprout-1.svg"),
        ("sprout-1.png", "<svg/>", "it is the picture of no item; name it after one, such as sprout-1.svg"),
        ("sprout-1.svg", "PNG", "it is no SVG"),
        (
            "sprout-1.svg", "<svg width='60000' height='1'/>",
            "its size is 60000 × 1 pixels; at most 4096 × 4096 are allowed"
        ),
        ("sprout-1.svg", "<svg>" + String(repeating: " ", count: 256 * 1024), "it is larger than 256 KB"),
    ])
    func `an error names the invalid picture`(name: String, content: String, reason: String) throws {
        let folder = try copyOfProducts()
        #expect(try Catalog(folder: folder.url).pictures.isEmpty)
        let file = folder.folder("Art").appending(path: name, directoryHint: .notDirectory)
        try FileManager.default.createDirectory(at: folder.folder("Art"), withIntermediateDirectories: true)
        try Data(".".utf8).write(to: folder.folder("Art").appending(path: ".DS_Store"))
        #expect(try Catalog(folder: folder.url).pictures.isEmpty)
        try Data(content.utf8).write(to: file)
        #expect(throws: CatalogError(file: file.path, reason: reason)) { try Catalog(folder: folder.url) }
    }

    @Test func `an unreadable folder of pictures is an error`() throws {
        let folder = try copyOfProducts()
        let art = folder.file("Art")
        try Data().write(to: art)
        #expect(throws: CatalogError.self) { try Catalog(folder: folder.url) }
    }

    private func copyOfProducts() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for name in ["Till.storekit", "Items.json"] {
            try FileManager.default.copyItem(
                at: Project.products.appending(path: name, directoryHint: .notDirectory), to: folder.file(name))
        }
        return folder
    }
}
