import Catalog
import Foundation
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The rights and offerings of a catalog's folder.
@Suite struct OfferingsTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        let draft = try Self.draft()
        try FileManager.default.copyItem(at: TestGarden.file, to: folder.file(Catalog.configurationFile))
        try Data(draft.itemsText.utf8).write(to: folder.file(Catalog.itemsFile))
    }

    private static func draft() throws -> CatalogDraft {
        try CatalogDraft(
            try StoreKitConfiguration(file: TestGarden.file.path), bundleIdentifier: TestGarden.bundleIdentifier)
    }

    private func catalog(_ text: String) throws -> Catalog {
        try Data(text.utf8).write(to: folder.file(Catalog.offeringsFile))
        return try Catalog(folder: folder.url)
    }

    private static let text = """
        {"rights": [{"name": "premium", "items": [{"collection": "plus", "number": 1}]},
        {"name": "tools", "description": "All tools", "products": ["garden.premium.monthly"]}],
        "currentOffering": "spring",
        "offerings": [{"identifier": "spring", "description": "", "packages": []}, {"identifier": "winter",
        "description": "Cold", "metadata": {"a": [1.50]}, "packages": [
        {"identifier": "$rc_monthly", "productID": "garden.premium.monthly", "googlePlay": {"productID": "garden.basic.monthly", "basePlanID": "monthly"}},
        {"identifier": "seeds", "productID": "garden.seeds"}]}]}
        """

    @Test func `a catalog without the file has no rights and offerings`() throws {
        let catalog = try Catalog(folder: folder.url)
        #expect(catalog.rights.isEmpty)
        #expect(catalog.offerings.isEmpty)
        #expect(catalog.currentOffering == nil)
        #expect(try self.catalog("{}").rights.isEmpty)
    }

    @Test func `the file defines rights and offerings`() throws {
        let catalog = try catalog(Self.text)
        #expect(catalog.rights.map(\.name) == ["premium", "tools"])
        #expect(catalog.right("premium")?.items == [Item(collection: "plus", number: 1)])
        #expect(catalog.right("tools")?.products == ["garden.premium.monthly"])
        #expect(catalog.right("tools")?.description == "All tools")
        #expect(catalog.offerings.map(\.identifier) == ["spring", "winter"])
        #expect(catalog.currentOffering?.identifier == "spring")
        let winter = try #require(catalog.offering("winter"))
        #expect(winter.packages.map(\.identifier) == ["$rc_monthly", "seeds"])
        #expect(winter.packages.map(\.productIdentifier) == ["garden.premium.monthly", "garden.seeds"])
        #expect(winter.packages.map(\.playProductIdentifier) == ["garden.basic.monthly", "garden.seeds"])
        #expect(winter.packages.map(\.googlePlay?.basePlanIdentifier) == ["monthly", nil])
        #expect(JSONValue.object(winter.metadata).compactText == #"{"a":[1.50]}"#)
    }

    @Test func `a definition is read as it was written`() throws {
        let catalog = try catalog(Self.text)
        for right in catalog.rights {
            #expect(try Right(right.definition, named: right.name).definition == right.definition)
        }
        for offering in catalog.offerings {
            let again = try Offering(offering.definition, identifiedBy: offering.identifier)
            #expect(again.definition == offering.definition)
        }
    }

    @Test(
        arguments: [
            ("\"rights\"", "\"right\"", "right", "the key is unknown; the nearest known one is \"rights\""),
            (
                "\"name\": \"tools\"", "\"name\": \"tools\", \"product\": 1", "rights[1].product",
                "the key is unknown; the nearest known one is \"products\""
            ),
            ("\"tools\"", "\"premium\"", "rights[1]", "premium is there twice"),
            (
                "\"tools\"", "\"a/b\"", "rights[1].name",
                "a name has up to 128 bytes, no slash and no control characters"
            ),
            ("\"tools\"", "\"..\"", "rights[1].name", "a name has up to 128 bytes, no slash and no control characters"),
            (
                "\"tools\"", "\"a\\u0000\"", "rights[1].name",
                "a name has up to 128 bytes, no slash and no control characters"
            ),
            ("\"All tools\"", "1", "rights[1].description", "it should be text in quotes; it is number"),
            (
                "[\"garden.premium.monthly\"]", "[]", "rights[1]",
                "nothing gives the right; list at least one of its products or items"
            ),
            (
                "[\"garden.premium.monthly\"]", "[\"garden.premium.montly\"]", "rights[1].products[0]",
                "the catalog has no product garden.premium.montly; the nearest known one is \"garden.premium.monthly\""
            ),
            (
                "[\"garden.premium.monthly\"]", "[\"garden.seeds\"]", "rights[1].products[0]",
                "a consumable gives no right, because it is spent"
            ),
            (
                "[\"garden.premium.monthly\"]", "[\"garden.premium.monthly\", \"garden.premium.monthly\"]",
                "rights[1].products[1]", "garden.premium.monthly is there twice"
            ),
            (
                "\"number\": 1", "\"number\": 9", "rights[0].items[0]",
                "no product gives plus 9, and it is not owned by everybody; the nearest known one is \"plus 1\""
            ),
            (
                "\"currentOffering\": \"spring\"", "\"currentOffering\": \"sprig\"", "currentOffering",
                "there is no offering \"sprig\"; the nearest known one is \"spring\""
            ),
            ("\"winter\"", "\"spring\"", "offerings[1]", "spring is there twice"),
            ("\"description\": \"Cold\", ", "", "offerings[1].description", "the key is missing"),
            ("{\"a\": [1.50]}", "[]", "offerings[1].metadata", "it should be an object; it is array"),
            ("\"seeds\"", "\"$rc_monthly\"", "offerings[1].packages[1]", "$rc_monthly is there twice"),
            (
                "\"basePlanID\": \"monthly\"", "\"basePlan\": \"monthly\"",
                "offerings[1].packages[0].googlePlay.basePlan",
                "the key is unknown; the nearest known one is \"basePlanID\""
            ),
            (
                "{\"productID\": \"garden.basic.monthly\", \"basePlanID\": \"monthly\"}", "{}",
                "offerings[1].packages[0].googlePlay", "it names neither a product nor a base plan"
            ),
            (
                "\"garden.basic.monthly\"", "\"garden.basic.montly\"",
                "offerings[1].packages[0].googlePlay.productID",
                "the catalog has no product garden.basic.montly; the nearest known one is \"garden.basic.monthly\""
            ),
            (
                "\"garden.seeds\"", "\"garden.weeds\"", "offerings[1].packages[1].productID",
                "the catalog has no product garden.weeds; the nearest known one is \"garden.seeds\""
            ),
        ] as [(String, String, String, String)])
    func `an error names the key, the reason and the nearest name`(
        find: String, replace: String, key: String, reason: String
    ) throws {
        let text = Self.text.replacing(find, with: replace, maxReplacements: 1)
        #expect(text != Self.text)
        #expect(throws: CatalogError(file: folder.file(Catalog.offeringsFile).path, key: key, reason: reason)) {
            try catalog(text)
        }
    }

    @Test func `sizes and numbers are limited`() throws {
        func check(_ text: String, _ key: String?, _ reason: String) {
            #expect(throws: CatalogError(file: folder.file(Catalog.offeringsFile).path, key: key, reason: reason)) {
                try catalog(text)
            }
        }
        let long = String(repeating: "a", count: 5000)
        let item = #""items": [{"collection": "plus", "number": 1}]"#
        check(
            #"{"rights": [{"name": "\#(long)", \#(item)}]}"#, "rights[0].name",
            "a name has up to 128 bytes, no slash and no control characters")
        check(
            #"{"rights": [{"name": "a", "description": "\#(long)", \#(item)}]}"#, "rights[0].description",
            "a description has up to 1024 bytes")
        check(
            #"{"offerings": [{"identifier": "a", "description": "", "metadata": {"a": "\#(long)"}, "packages": []}]}"#,
            "offerings[0].metadata", "it is larger than 4096 bytes")
        let rights = (0...Catalog.maximumRights).map { #"{"name": "\#($0)", \#(item)}"# }.joined(separator: ",")
        check(#"{"rights": [\#(rights)]}"#, "rights", "it has 201 elements; at most 200 are allowed")
        check("{}" + String(repeating: " ", count: 1 << 20), nil, "it is larger than 1024 KB")
    }

    @Test func `the draft names subscriptions by their periods`() throws {
        let catalog = try catalog(try Self.draft().offeringsText)
        #expect(catalog.rights.map(\.name) == ["plus"])
        let offering = try #require(catalog.currentOffering)
        #expect(offering.packages.map(\.productIdentifier) == catalog.products.map(\.productIdentifier))
        #expect(
            offering.packages.map(\.identifier) == ["seeds", "gate", "season", "$rc_monthly", "monthly", "$rc_annual"])
    }

    @Test func `the draft of no products loads`() throws {
        let empty = try StoreKitConfiguration(json: Array(#"{"products": []}"#.utf8), file: "a.storekit")
        let draft = try CatalogDraft(empty, bundleIdentifier: "a")
        try Data(empty.text.utf8).write(to: folder.file(Catalog.configurationFile))
        try Data(draft.itemsText.utf8).write(to: folder.file(Catalog.itemsFile))
        #expect(try catalog(draft.offeringsText).currentOffering?.packages == [])
    }
}
