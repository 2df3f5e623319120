import Catalog
import Foundation
import Proofs
import TestSupport
import Testing
import Vocabulary

/// Administered products, beside the catalog's files.
@Suite struct ProductDefinitionTests {
    let catalog: Catalog

    init() throws {
        catalog = try Catalog(folder: Project.products)
    }

    private func definition(_ json: String, of product: String = "new") throws -> ProductDefinition {
        guard case .object(let object) = try JSONParser.parse(Array(json.utf8)) else {
            throw CocoaError(.coderInvalidValue)
        }
        return try ProductDefinition(object, of: product, currency: "KRW")
    }

    private func defining(_ json: String, as product: String = "new") throws -> Catalog {
        var changed = catalog
        try changed.define(try definition(json, of: product))
        return changed
    }

    @Test(arguments: [
        (#"{"type":"NonConsumable","displayPrice":"1200","collection":"sprout","number":9}"#, "sprout 9"),
        (#"{"type":"NonConsumable","displayPrice":"1200","collection":"hat","number":0,"productID":"new"}"#, "hat 0"),
        (
            #"{"type":"NonRenewingSubscription","displayPrice":"9","collection":"sprout","number":1,"duration":"P1M"}"#,
            "sprout 1 for P1M"
        ),
        (#"{"type":"Consumable","displayPrice":"0.99","balance":"coins","amount":5}"#, "5 coins"),
        (
            """
            {"type":"RecurringSubscription","displayPrice":"9","collection":"plus","number":1,"subscriptionGroupID":"G",
            "groupNumber":1,"recurringSubscriptionPeriod":"P1M"}
            """, "plus 1 while paid"
        ),
    ])
    func `a product of each type is defined`(_ json: String, benefit: String) throws {
        let changed = try defining(json)
        #expect(changed.products.count == catalog.products.count + 1)
        #expect(changed.administered == ["new"])
        let words =
            switch changed.benefit(of: "new") {
            case .item(let item): "\(item)"
            case .itemFor(let item, let period): "\(item) for \(period)"
            case .itemWhilePaid(let item): "\(item) while paid"
            case .credit(let credit): "\(credit.amount) \(credit.balance)"
            case nil: "nothing"
            }
        #expect(words == benefit)
    }

    @Test func `a product that is only rented has the period of its rental`() throws {
        func film(_ more: String) -> String {
            #"{"type":"NonConsumable","displayPrice":"2","collection":"film","number":1\#(more)}"#
        }
        let rented = try defining(film(#","rentalPeriod":"PT48H""#))
        let start = Timestamp(secondsSince1970: 0)
        #expect(rented.rentalPeriod(of: "new")?.end(from: start) == start.adding(days: 2))
        #expect(try defining(film("")).rentalPeriod(of: "new") == nil)
        #expect(throws: CatalogError.self) { try defining(film(#","rentalPeriod":"2 days""#)) }
    }

    @Test(arguments: [
        ("{}", "new: type: the key is missing."), (#"{"type":"Hat"}"#, "new: type: it is none of"),
        (#"{"type":"NonConsumable"}"#, "new: displayPrice: the key is missing."),
        (#"{"type":"NonConsumable","displayPrice":"-1"}"#, "new: displayPrice: it is no price"),
        (#"{"type":"NonConsumable","displayPrice":"1"}"#, "new: collection: the key is missing."),
        (
            #"{"type":"NonConsumable","displayPrice":"1","collection":"sprout","number":1}"#,
            "new: number: sprout 1 is given twice."
        ),
        (
            #"{"type":"NonConsumable","displayPrice":"1","collection":"sprout","number":0}"#,
            "new: number: sprout 0 is given twice."
        ),
        (
            #"{"type":"Consumable","displayPrice":"1","balance":"coins","amount":0}"#,
            "new: amount: it has to be from 1"
        ),
        (
            #"{"type":"NonConsumable","displayPrice":"1","collection":"hat","number":1,"productID":"other"}"#,
            "new: productID: it has to be new, or left out."
        ),
        (
            """
            {"type":"NonConsumable","displayPrice":"1","collection":"hat","number":1,
            "localizations":[{"locale":"ko"},{"locale":"ko"}]}
            """, "new: localizations[1].locale: ko is there twice."
        ),
        (
            #"{"type":"NonConsumable","displayPrice":"1","collection":"a\u0000b","number":1}"#,
            "new: collection: a collection's name has up to 64 bytes and no control characters."
        ),
        (
            #"{"type":"NonConsumable","displayPrice":"1","collection":"\#(String(repeating: "a", count: 65))","number":1}"#,
            "new: collection: a collection's name has up to 64 bytes and no control characters."
        ),
        (
            #"{"type":"RecurringSubscription","displayPrice":"1","collection":"plus","number":1}"#,
            "new: subscriptionGroupID: the key is missing."
        ),
    ])
    func `an invalid definition is refused`(_ json: String, reason: String) {
        #expect { try defining(json) } throws: { (($0 as? CatalogError)?.message ?? "").hasPrefix(reason) }
    }

    @Test(arguments: ["", "a b", "a/b", "caf\u{E9}", String(repeating: "a", count: 256)])
    func `an invalid product identifier is refused`(_ identifier: String) {
        #expect(throws: CatalogError.self) {
            try definition(
                #"{"type":"NonConsumable","displayPrice":"1","collection":"hat","number":1}"#, of: identifier)
        }
    }

    /// An administered definition that equals the file's changes nothing but its origin.
    @Test func `a definition equal to the file's changes nothing`() throws {
        for files in [catalog, try TestGarden().catalog] {
            var changed = files
            for product in files.products {
                let object = try #require(files.definition(of: product.productIdentifier))
                let currency = files.storefront.currency
                let definition = try ProductDefinition(
                    object, of: product.productIdentifier, currency: currency)
                try changed.define(definition)
                #expect(definition.object == object)
            }
            #expect(changed.products == files.products)
            #expect(changed.administered == Set(files.products.map { ByteKey($0.productIdentifier) }))
            for product in files.products {
                #expect(
                    changed.benefit(of: product.productIdentifier) == files.benefit(of: product.productIdentifier))
            }
        }
    }

    @Test func `an edited product keeps its place`() throws {
        let first = try #require(catalog.products.first?.productIdentifier)
        let changed = try defining(
            #"{"type":"NonConsumable","displayPrice":"7","collection":"sprout","number":99}"#, as: first)
        #expect(changed.products.map(\.productIdentifier) == catalog.products.map(\.productIdentifier))
        #expect(changed.products.first?.price.milliunits == 7000)
        #expect(changed.product(granting: Item(collection: "sprout", number: 99))?.productIdentifier == first)
        // Another product may now grant the item that it granted before.
        var again = changed
        try again.define(
            try definition(#"{"type":"NonConsumable","displayPrice":"1","collection":"sprout","number":1}"#))
        #expect(throws: CatalogError.self) {
            try again.define(
                try definition(
                    #"{"type":"NonConsumable","displayPrice":"1","collection":"sprout","number":1}"#, of: "third"))
        }
        #expect(again.product("third") == nil)
    }

    @Test(
        arguments: [
            (TestPicture.png(), Picture.Format.png),
            (TestPicture.jpeg(), .jpeg),
            (Array("\u{FEFF}<?xml version=\"1.0\"?>\n<!-- <a> -->\r\n<!DOCTYPE svg>\n<svg/>".utf8), .svg),
            (Array("<svg\nxmlns='a'>".utf8), .svg),
        ] as [([UInt8], Picture.Format)])
    func `the bytes of a picture decide its format`(_ bytes: [UInt8], format: Picture.Format) throws {
        #expect(try Picture(bytes: bytes, file: "p").format == format)
    }

    @Test(arguments: [
        [], Array("GIF89a".utf8), Array("<html>".utf8), [0xFF, 0xD8], Array("<svg".utf8) + [0xFF],
        Array("<svgx/>".utf8), Array("<!-- <svg/> -->".utf8), Array("<html><svg/></html>".utf8),
        Array("<!-- <svg/>".utf8),
    ])
    func `bytes of no known format are refused`(_ bytes: [UInt8]) {
        #expect(throws: CatalogError(file: "p", reason: "it is no SVG or PNG or JPEG")) {
            try Picture(bytes: bytes, file: "p")
        }
    }

    @Test func `a picture that is too large is refused`() throws {
        let start = TestPicture.jpeg()
        let largest = start + [UInt8](repeating: 0, count: Picture.maximumSize - start.count)
        #expect(try Picture(bytes: largest, file: "p").bytes == largest)
        #expect(throws: CatalogError(file: "p", reason: "it is larger than 256 KB")) {
            try Picture(bytes: largest + [0], file: "p")
        }
    }
}
