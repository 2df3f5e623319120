import Catalog
import Entitlements
import Proofs
import TestSupport
import Testing

/// The histories of the catalog, and the undo of changes.
@Suite struct ProductHistoryTests {
    private static let sprout1 = ProductPageTests.sprout1
    private static let path = "/console/products/\(sprout1)"

    private func setPrice(_ price: String, _ browser: Browser) async throws {
        var fields = ProductForm.fields(of: try await browser.get("\(Self.path)/edit"))
        fields["displayPrice"] = price
        #expect(try await browser.post("\(Self.path)/definition", fields, from: Self.path).status == 303)
    }

    /// Sends the form of a change's page.
    private func undo(_ number: Int, of path: String = path, _ browser: Browser) async throws -> Browser.Page {
        let page = "\(path)/history/\(number)"
        let fields = ProductForm.fields(of: try await browser.get(page))
        return try await browser.post("\(page)/undo", ["version": fields["version"] ?? ""], from: page)
    }

    @Test func `the history shows the author and the changed lines`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.catalog, name: "Ada Kim")
        #expect(try await browser.get("\(Self.path)/history").has("No changes."))
        try await setPrice("1300", browser)
        let key = try await fixture.keys.make(name: "editor", scopes: [.catalog])
        let app = fixture.administration.apps.first
        let pending = try fixture.administration.setWithdrawn(true, Self.sprout1, in: app, by: key.record.identifier)
        _ = try await fixture.administration.add(try #require(pending))
        try await fixture.administration.refresh()
        for path in ["\(Self.path)/history", "/console/catalog-history"] {
            let page = try await browser.get(path)
            #expect(page.has("<bdi>Ada Kim</bdi>") && page.has("<bdi>editor</bdi>") && page.has("Withdrawn from sale"))
            #expect(page.has("Added: </span>+   &quot;displayPrice&quot; : &quot;1300&quot;"))
            #expect(page.has("Removed: </span>-   &quot;displayPrice&quot; : &quot;1200&quot;"))
            #expect(page.has("Lines added: 1, removed: 1."))
            // Lines far from the change are left out.
            #expect(!page.has("referenceName&quot; : "))
        }
        #expect(try await browser.get("\(Self.path)/history/1").has("<ins"))
        for number in ["0", "3", "x", "-1", "9223372036854775807"] {
            #expect(try await browser.get("\(Self.path)/history/\(number)").status == 404, "\(number)")
        }
        // A change belongs to its product.
        #expect(try await browser.get("/console/products/com.memolease.sesac1.sprout2/history/1").status == 404)
        let viewer = try await fixture.browser(.viewer)
        let page = try await viewer.get("\(Self.path)/history/1")
        #expect(page.status == 200 && !page.has("/undo"))
    }

    @Test func `a history has pages`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.catalog)
        for _ in 0..<11 {
            for action in ["withdrawal", "return"] {
                #expect(try await browser.post("\(Self.path)/\(action)", [:], from: Self.path).status == 303)
            }
        }
        for path in ["\(Self.path)/history", "/console/catalog-history"] {
            let first = try await browser.get(path)
            #expect(first.has(">Change 3<") && !first.has(">Change 2<"))
            let next = try #require(first.text.firstMatch(of: /href="([^"]*cursor=[^"]*)"/)).1
            let last = try await browser.get(String(next))
            #expect(last.has(">Change 2<") && last.has(">Change 1<") && !last.has(">Change 3<"))
        }
    }

    @Test func `a change of a definition is undone, also an older one`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.catalog, name: "Ada Kim")
        let app = fixture.administration.apps.first
        func price() -> Int64? { app.catalog.product(Self.sprout1)?.price.milliunits }
        for price in ["1300", "1400", "1500"] { try await setPrice(price, browser) }
        #expect(try await undo(3, browser).location == "\(Self.path)/history?done=restored")
        #expect(price() == 1_400_000)
        #expect(try await undo(1, browser).status == 303)
        #expect(price() == 1_200_000)
        // The product is as in the files again.
        #expect(!app.catalog.isAdministered(Self.sprout1))
        let changes = try await fixture.administration.changes(
            .of(product: Self.sprout1), in: app, before: nil, limit: 2)
        #expect(changes.map(\.content.kind) == [.reverted, .defined])
        #expect(changes.allSatisfy { $0.changedBy == "member Ada Kim" })
    }

    @Test func `a new product is removed by undo, and its removal is undone`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.catalog)
        let (app, path) = (fixture.administration.apps.first, "/console/products/moon")
        #expect(
            try await browser.post("/console/new-product", ProductForm.moon, from: "/console/new-product").status == 303
        )
        let definition = app.catalog.definition(of: "moon")
        #expect(try await undo(1, of: path, browser).status == 303)
        #expect(app.catalog.product("moon") == nil)
        #expect(try await browser.get(path).has("The product was removed from the catalog."))
        #expect(try await browser.get("\(path)/history").status == 200)
        #expect(try await undo(2, of: path, browser).status == 303)
        #expect(app.catalog.definition(of: "moon") == definition)
        #expect(
            try await browser.post("\(path)/reversion", [:], from: path).location == "/console/products?done=removed")
        #expect(app.catalog.product("moon") == nil)
    }

    @Test func `a withdrawal is undone, also one that a reversion ended`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.catalog)
        let catalog = fixture.administration.apps.first.current
        _ = try await browser.post("\(Self.path)/withdrawal", [:], from: Self.path)
        #expect(try await undo(1, browser).status == 303)
        #expect(!catalog.catalog.isWithdrawn(Self.sprout1))
        #expect(try await undo(2, browser).status == 303)
        #expect(catalog.catalog.isWithdrawn(Self.sprout1))
        try await setPrice("1300", browser)
        // The undo of a definition does not return the product to sale.
        #expect(try await undo(4, browser).status == 303)
        #expect(catalog.catalog.product(Self.sprout1)?.price.milliunits == 1_200_000)
        #expect(catalog.catalog.isWithdrawn(Self.sprout1))
        try await setPrice("1400", browser)
        #expect(try await browser.post("\(Self.path)/reversion", [:], from: Self.path).status == 303)
        #expect(!catalog.catalog.isWithdrawn(Self.sprout1) && !catalog.catalog.isAdministered(Self.sprout1))
        #expect(try await undo(7, browser).status == 303)
        #expect(catalog.catalog.product(Self.sprout1)?.price.milliunits == 1_400_000)
        #expect(catalog.catalog.isWithdrawn(Self.sprout1))
    }

    @Test func `an undo of an outdated page is refused, and pictures are not undone`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.catalog)
        try await setPrice("1300", browser)
        let page = "\(Self.path)/history/1"
        let version = ProductForm.fields(of: try await browser.get(page))["version"] ?? ""
        try await setPrice("1400", browser)
        let refused = try await browser.post("\(page)/undo", ["version": version], from: page)
        #expect(refused.status == 412 && refused.has("productChanged"))
        #expect(fixture.administration.apps.first.catalog.product(Self.sprout1)?.price.milliunits == 1_400_000)
        let svg = Array("<svg xmlns=\"http://www.w3.org/2000/svg\"/>".utf8)
        #expect(try await browser.upload("\(Self.path)/picture", "picture", svg, from: Self.path).status == 303)
        #expect(try await browser.get("\(Self.path)/history/3").has("Earlier pictures are not kept."))
        #expect(try await undo(3, browser).status == 409)
    }
}
