import Catalog
import Entitlements
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The forms that create and edit products: preview, errors and saving.
@Suite struct ProductFormTests {
    private static let sprout1 = ProductPageTests.sprout1
    private static let path = "/console/products/\(sprout1)"
    private static let new = "/console/new-product"

    @Test func `a preview shows the product and saves nothing`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.catalog)
        let page = try await browser.post("\(Self.new)/preview", ProductForm.moon, from: Self.new)
        #expect(page.status == 200)
        #expect(page.has("id=\"preview\"") && page.has("sprout 9 for good") && page.has("달 새싹"))
        #expect(page.has("<ins class=\"diff-added\">") && page.has("KRW 2,500"))
        #expect(ProductForm.fields(of: page).merging(["search": ""]) { $1 } == with(ProductForm.moon, "search", ""))
        #expect(fixture.administration.apps.first.catalog.product("moon") == nil)
        #expect(try await fixture.ledger.read { try $0.catalogRevision() } == 0)
    }

    private func with(_ fields: [String: String], _ name: String, _ value: String?) -> [String: String] {
        var fields = fields
        fields[name] = value
        return fields
    }

    @Test func `a product is created under the member's name`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.catalog, name: "Ada Kim")
        let answer = try await browser.post(Self.new, ProductForm.moon, from: Self.new)
        #expect(answer.location == "/console/products/moon?done=created")
        let app = fixture.administration.apps.first
        let product = try #require(app.catalog.product("moon"))
        #expect(product.price == Price(milliunits: 2_500_000, currency: "KRW"))
        #expect(product.localizations.map(\.locale) == ["en_US", "ko"])
        #expect(app.catalog.benefit(of: "moon") == .item(Item(collection: "sprout", number: 9)))
        let changes = try await fixture.administration.changes(.of(product: "moon"), in: app, before: nil, limit: 9)
        #expect(changes.map(\.changedBy) == ["member Ada Kim"])
        #expect(try await browser.get("/console/products/moon").has("Moon Sprout"))
        // The form creates, and does not overwrite.
        let again = try await browser.post(Self.new, with(ProductForm.moon, "displayPrice", "1"), from: Self.new)
        #expect(again.status == 422 && again.has("href=\"#productID\""))
    }

    @Test func `each type has a form of its own`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.catalog)
        let coins = [
            "type": "Consumable", "productID": "coins", "displayPrice": "1", "balance": "coins", "amount": "50",
            "others": "", "version": "",
        ]
        let month = [
            "type": "Auto-Renewable Subscription", "productID": "month", "displayPrice": "1", "collection": "plus",
            "number": "1", "subscriptionGroupID": "G", "subscriptionGroupName": "Plus", "groupNumber": "1",
            "recurringSubscriptionPeriod": "P1M", "familyShareable": "yes", "version": "",
            "others": #"{"introductoryOffer":{"paymentMode":"free","subscriptionPeriod":"P1W"}}"#,
        ]
        let season = [
            "type": "Non-Renewing Subscription", "productID": "season", "displayPrice": "1", "collection": "bed",
            "number": "1", "duration": "P3M", "others": "{}", "version": "",
        ]
        for fields in [coins, month, season] {
            let form = try await browser.get("\(Self.new)?type=\(fields["type"]?.replacing(" ", with: "%20") ?? "")")
            for name in fields.keys { #expect(form.has("name=\"\(name)\""), "\(name)") }
            #expect(try await browser.post(Self.new, fields, from: Self.new).status == 303)
        }
        let catalog = fixture.administration.apps.first.catalog
        #expect(catalog.benefit(of: "coins") == .credit(Credit(balance: "coins", amount: 50)))
        #expect(catalog.benefit(of: "season")?.item == Item(collection: "bed", number: 1))
        let subscription = try #require(catalog.product("month")?.subscription)
        #expect(subscription.offers.map(\.paymentMode) == [.freeTrial])
        #expect(catalog.product("month")?.isFamilyShareable == true)
        #expect(try await browser.get("\(Self.new)?type=Toy").status == 422)
    }

    @Test(arguments: [
        ("displayPrice", "free", "displayPrice", "Write a price such as 1200 or 0.99."),
        ("displayPrice", "", "displayPrice", "Fill in the field."),
        ("productID", "", "productID", "A product&#39;s identifier has"),
        ("productID", "<moon>", "productID", "A product&#39;s identifier has"),
        ("collection", "", "collection", "Fill in the field."),
        ("number", "nine", "number", "Write a whole number, 0 or more."),
        ("number", "-1", "number", "Write a whole number, 0 or more."),
        ("number", "1", "number", "Another product grants sprout 1, or everybody owns it."),
        ("locale-1", "en_US", "locale-1", "The language en_US is there twice."),
        ("locale-1", "", "locale-1", "Fill in the field."),
        ("others", "{", "others", "It is not JSON"),
        ("others", "[]", "others", "It must be a JSON object."),
        ("others", #"{"displayPrice":"1"}"#, "others", "has a field of its own"),
        ("others", #"{"internelID":"1"}"#, "others", "the nearest known one is &quot;internalID&quot;"),
    ])
    func `each error names its field`(name: String, value: String, field: String, sentence: String) async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.catalog)
        let fields = with(ProductForm.moon, name, value)
        let saved = try await browser.post(Self.new, fields, from: Self.new)
        #expect(saved.status == 422)
        let preview = try await browser.post("\(Self.new)/preview", fields, from: Self.new)
        #expect(preview.status == 200)
        for (page, identifier) in [(saved, "problem"), (preview, "preview-problem")] {
            #expect(page.has("id=\"\(identifier)\"") && page.has("href=\"#\(field)\"") && page.has("id=\"\(field)\""))
            #expect(page.has(sentence))
            #expect(ProductForm.fields(of: page)[name] == value)
        }
        #expect(try await fixture.ledger.read { try $0.catalogRevision() } == 0)
    }

    @Test func `a definition of thousands of lines differs as a whole`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.catalog)
        var fields = ProductForm.fields(of: try await browser.get("\(Self.path)/edit"))
        fields["others"] = "{\"internalID\":[\(String(repeating: "0,", count: 2999))0]}"
        let page = try await browser.post("\(Self.path)/preview", fields, from: Self.path)
        #expect(page.status == 200)
        #expect(page.has("Removed: </span>- {") && page.has("Added: </span>+ {"))
    }

    @Test func `errors are in the language of the browser`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.catalog)
        browser.cookies["till_language"] = "ko"
        let page = try await browser.post(Self.new, with(ProductForm.moon, "displayPrice", ""), from: Self.new)
        #expect(page.has("가격</a>: <bdi>값을 입력하세요."))
    }

    @Test func `an unchanged form changes nothing`() async throws {
        let fixture = try await ConsoleFixture(others: [try TestGarden().catalog])
        let browser = try await fixture.browser(.catalog)
        for app in fixture.administration.apps.all {
            for product in app.catalog.products {
                let path = "/console/products/\(product.productIdentifier)"
                let fields = ProductForm.fields(of: try await browser.get("\(path)/edit"))
                let preview = try await browser.post("\(path)/preview", fields, from: path)
                #expect(preview.has("No change"), "\(product.productIdentifier)")
                #expect(try await browser.post("\(path)/definition", fields, from: path).status == 303)
            }
        }
        #expect(try await fixture.ledger.read { try $0.catalogRevision() } == 0)
    }

    @Test func `an edit keeps the order of the keys and the keys without a field`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.catalog)
        var fields = ProductForm.fields(of: try await browser.get("\(Self.path)/edit"))
        #expect(fields["others"]?.contains("5E5AC1A1") == true)
        fields["displayPrice"] = "3300"
        // Korean is removed, and Japanese is added.
        for name in ["locale-0", "displayName-0", "description-0"] { fields[name] = "" }
        (fields["locale-2"], fields["displayName-2"]) = ("ja", "苗")
        let app = fixture.administration.apps.first
        let before = try #require(app.catalog.definition(of: Self.sprout1))
        let answer = try await browser.post("\(Self.path)/definition", fields, from: Self.path)
        #expect(answer.location == "\(Self.path)?done=saved")
        let after = try #require(app.catalog.definition(of: Self.sprout1))
        #expect(after.keys == before.keys)
        #expect(after["internalID"] == "5E5AC1A1")
        #expect(app.catalog.product(Self.sprout1)?.localizations.map(\.locale) == ["en_US", "ja"])
        #expect(app.catalog.product(Self.sprout1)?.price.milliunits == 3_300_000)
    }

    @Test func `an edit of an outdated form is refused`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.catalog)
        var fields = ProductForm.fields(of: try await browser.get("\(Self.path)/edit"))
        fields["displayPrice"] = "1"
        #expect(try await browser.post("\(Self.path)/definition", fields, from: Self.path).status == 303)
        fields["displayPrice"] = "2"
        let refused = try await browser.post("\(Self.path)/definition", fields, from: Self.path)
        #expect(refused.status == 422 && refused.has("Another change came first."))
        #expect(fixture.administration.apps.first.catalog.product(Self.sprout1)?.price.milliunits == 1000)
    }

    @Test func `the item of a sold product cannot be changed`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.catalog)
        try await fixture.buy("sprout1", for: "alice")
        var fields = ProductForm.fields(of: try await browser.get("\(Self.path)/edit"))
        fields["number"] = "55"
        let refused = try await browser.post("\(Self.path)/definition", fields, from: Self.path)
        #expect(refused.status == 422 && refused.has("href=\"#collection\""))
        #expect(refused.has("A user has redeemed the product"))
    }

    @Test func `a field that is too long is refused`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.catalog)
        for (name, count) in [("displayName-0", 5000), ("locale-0", 300), ("others", 70_000), ("productID", 300)] {
            let fields = with(ProductForm.moon, name, String(repeating: "a", count: count))
            #expect(try await browser.post(Self.new, fields, from: Self.new).status == 422, "\(name)")
        }
        // The texts of all languages of the App Store fit.
        var fields = ProductForm.moon
        for index in 0..<50 {
            fields["locale-\(index)"] = "x\(index)"
            fields["displayName-\(index)"] = "Moon"
            fields["description-\(index)"] = "Shines."
        }
        #expect(try await browser.post(Self.new, fields, from: Self.new).status == 303)
        #expect(fixture.administration.apps.first.catalog.product("moon")?.localizations.count == 50)
    }

    @Test(arguments: ["<script>alert(1)</script>", "\"'><img src=x onerror=alert(1)>", "\u{202E}txt", "&lt;b&gt;"])
    func `texts are always shown as text`(text: String) async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.catalog)
        var fields = ProductForm.moon
        for name in ["referenceName", "displayName-0", "description-0", "displayName-1"] { fields[name] = text }
        fields["collection"] = "a" + text
        fields["others"] = JSONValue.object(["internalID": .string(text)]).compactText
        #expect(try await browser.post(Self.new, fields, from: Self.new).status == 303)
        let path = "/console/products/moon"
        let edit = try await browser.get("\(path)/edit")
        #expect(ProductForm.fields(of: edit)["displayName-0"] == text)
        var pages = [edit, try await browser.post("\(Self.new)/preview", fields, from: Self.new)]
        for path in [
            "/console/products?text=moon", path, "\(path)/history", "\(path)/history/1", "/console/catalog-history",
        ] { pages.append(try await browser.get(path)) }
        for page in pages {
            #expect(page.status == 200)
            #expect(!page.has("<script>alert") && !page.has("<img src=x") && !page.has("<b>"))
        }
    }
}
