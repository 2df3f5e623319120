import Catalog
import Entitlements
import Features
import Foundation
import Proofs
import TestSupport
import Testing

/// The list of products, the page of a product, and the actions on it.
@Suite struct ProductPageTests {
    static let sprout1 = "com.memolease.sesac1.sprout1"
    private static let path = "/console/products/\(sprout1)"
    /// A picture with bytes that begin a boundary.
    private let png = TestPicture.png(rest: [0x0D, 0x0A, 0x2D, 0x2D])

    @Test func `the list shows each product with its names, price and item`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.viewer)
        let page = try await browser.get("/console/products?pageSize=100")
        #expect(page.status == 200)
        for product in fixture.shop.catalog.products {
            #expect(page.has("href=\"/console/products/\(product.productIdentifier)\""))
            for localization in product.localizations { #expect(page.has("<bdi>\(localization.displayName)</bdi>")) }
        }
        #expect(page.has("KRW 1,200") && page.has("sprout 1 for good") && page.has("Non-consumable"))
        let korean = try await browser.get("/console/products?pageSize=100", headers: [.acceptLanguage: "ko"])
        #expect(korean.has("₩1,200"))
        #expect(page.has("src=\"\(Self.path)/picture\""))
        #expect(!page.has("new-product"))
        #expect(try await fixture.browser(.catalog).get("/console/products").has("/console/new-product"))
    }

    @Test func `the list is filtered by text and type`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.viewer)
        for text in ["sturdy", "%ED%8A%BC%ED%8A%BC", "sprout1", "sprout%201"] {
            let page = try await browser.get("/console/products?text=\(text)")
            #expect(page.has(">\(Self.sprout1)<"), "\(text)")
            #expect(!page.has("sprout2<"), "\(text)")
        }
        #expect(try await browser.get("/console/products?type=Consumable").has("No product matches."))
        #expect(try await browser.get("/console/products?type=Non-Consumable").has(Self.sprout1))
        #expect(try await browser.get("/console/products?type=Toy").status == 400)
        #expect(try await browser.get("/console/products?app=com.example.none").status == 400)
    }

    @Test func `a long list has pages`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.viewer)
        let identifiers = fixture.shop.catalog.products.map(\.productIdentifier)
        // The next page keeps the filter.
        var path: String? = "/console/products?text=sesac1&pageSize=4"
        var found: [String] = []
        while let present = path {
            let page = try await browser.get(present)
            found += page.text.matches(of: /<code[^>]*><bdi>([^<]+)<\/bdi><\/code>/).map { String($0.1) }
            path = page.text.firstMatch(of: /href="(\/console\/products\?text=sesac1[^"]*cursor=[^"]+)"/)
                .map { $0.1.replacing("&amp;", with: "&") + "&pageSize=4" }
        }
        #expect(found == identifiers)
        #expect(try await browser.get("/console/products?cursor=bm9uZQ").status == 400)
    }

    @Test func `a product's page shows its texts and the entries of App Store Connect`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.viewer)
        let page = try await browser.get(Self.path)
        for text in [
            "튼튼 새싹", "Sturdy Sprout", "A sturdier sprout with one more leaf to show for it.", "sprout 1 for good",
            "Display name (en-US)", "Review screenshot", "Family Sharing", "5E5AC1A1",
            "href=\"/console/customers?product=\(Self.sprout1)\"",
        ] { #expect(page.has(text), "\(text)") }
        // The description has 52 characters.
        #expect(!page.has("Longer than 55"))
        #expect(!page.has("\(Self.path)/edit") && !page.has("\(Self.path)/withdrawal"))
        browser.cookies["till_language"] = "ko"
        let korean = try await browser.get(Self.path)
        #expect(korean.has("sprout 1 영구 소유") && korean.has("심사용 스크린샷") && korean.has("비소모품"))
        #expect(try await browser.get("/console/products/none").status == 404)
    }

    @Test func `a subscription's page shows its group, period and offers`() async throws {
        let garden = try TestGarden()
        let fixture = try await ConsoleFixture(others: [garden.catalog])
        let browser = try await fixture.browser(.admin)
        let list = try await browser.get("/console/products?app=\(TestGarden.bundleIdentifier)")
        #expect(list.has("garden.gate?app=com.example.garden") && !list.has(Self.sprout1))
        #expect(try await browser.get("/console/products").has(Self.sprout1))
        let page = try await browser.get("/console/products/garden.basic.monthly")
        for text in ["Introductory offer", "Promotional offer", "Offer code", "Win-back offer", "1 month", "Plus"] {
            #expect(page.has(text), "\(text)")
        }
        #expect(page.has("plus 1 while it is paid"))
        #expect(page.has("/console/products/garden.basic.monthly/edit?app=com.example.garden"))
        #expect(try await browser.get("/console/products/garden.seeds").has("10 of the balance seeds"))
        let form = try await browser.get("/console/products/garden.basic.monthly/edit?app=com.example.garden")
        #expect(form.has("name=\"groupNumber\"") && form.has("&quot;introductoryOffer&quot;"))
        #expect(!form.has("name=\"balance\""))
    }

    private static let message = "c2d9e0a6-1f57-4d3c-b7a4-8e6f5a3b9d02"

    /// - Parameter start: The members before the rules.
    private static func retentionRules(_ start: String = "") -> String {
        let message = #""messageIdentifier": "\#(message)""#
        return """
            {\(start)"rules": [
              {"name": "german", "locales": ["de"], "answer": {"message": {\(message)}}},
              {"name": "new", "isTrial": true, "answer": {"promotionalOffer": {\(message), "offerIdentifier": "spring"}}},
              {"name": "rest", "isRedeemed": true,
               "answer": {"alternateProduct": {\(message), "productId": "garden.premium.monthly"}}}
            ]}
            """
    }

    @Test func `a page shows the retention message that the rules choose for a customer`() async throws {
        let console = try await GardenConsole(of: try TestGarden(retentionRules: Self.retentionRules()))
        let alice = try console.user()
        let transaction = try await console.buy("garden.basic.monthly", for: alice)
        let gate = try await console.buy("garden.gate", for: alice)
        let browser = try await console.browser(.viewer)
        let product = "/console/products/garden.basic.monthly"
        let path = "\(product)/retention?transaction=\(transaction)"
        let customer = "/console/customers/-/alice/transactions/"
        #expect(try await browser.get(customer + transaction).has("href=\"\(path)\""))
        #expect(try await browser.get(product).has("href=\"\(product)/retention\""))

        let trial = try await browser.get(path).words
        for text in [
            "Free trialYes", "The customer seesA message with an offer", "Rulenew", "Offerspring", Self.message,
        ] {
            #expect(trial.contains(text), "\(text)")
        }
        #expect(trial.contains("The service signs it with app-store-key."))
        let korean = try await browser.get(path, headers: [.acceptLanguage: "ko"]).words
        #expect(korean.contains("무료 체험예") && korean.contains("메시지와 혜택"))

        try console.garden.advance(to: "2026-11-12T12:00:00Z")
        try await console.notify()
        let paying = try await browser.get(path)
        #expect(paying.words.contains("Free trialNo") && paying.words.contains("Rulerest"))
        #expect(paying.words.contains("A message with another product of the group"))
        #expect(paying.has("href=\"/console/products/garden.premium.monthly\""))
        // The product of the present period leads to its own answer.
        #expect(paying.has("href=\"\(path)\""))
        // The language decides without the ledger.
        #expect(try await browser.get(path + "&locale=de-AT").words.contains("Rulegerman"))
        let stranger = try await browser.get(product + "/retention").words
        #expect(stranger.contains("RedeemedNo") && stranger.contains("No rule matches."))

        // What is no subscription has no page.
        for page in ["/console/products/garden.gate", customer + gate] {
            #expect(try await !browser.get(page).has("/retention"), "\(page)")
        }
        #expect(try await browser.get("/console/products/garden.gate/retention").status == 404)
    }

    @Test(
        arguments: [
            (nil, "The app has no RetentionRules.json"),
            (retentionRules(#""dryRun": true, "#), "The rules are only tried"),
        ] as [(String?, String)])
    func `the page of a retention message says why customers see the default one`(
        rules: String?, reason: String
    ) async throws {
        let console = try await GardenConsole(of: try TestGarden(retentionRules: rules))
        let browser = try await console.browser(.viewer)
        let page = try await browser.get("/console/products/garden.basic.monthly/retention?locale=de")
        #expect(page.status == 200 && page.words.contains(reason))
    }

    @Test func `without administration the pages say how to turn it on`() async throws {
        let fixture = try await ConsoleFixture(isAdministered: false)
        let browser = try await fixture.browser(.admin)
        for path in ["/console/products", Self.path] {
            let page = try await browser.get(path)
            #expect(page.has("till serve --catalog-administration"))
            #expect(!page.has("new-product") && !page.has("/edit") && !page.has("history"))
        }
        for path in ["\(Self.path)/edit", "/console/new-product", "/console/catalog-history"] {
            #expect(try await browser.get(path).status == 404)
        }
        let answer = try await browser.post("\(Self.path)/withdrawal", [:], from: "/console/products")
        #expect([404, 405].contains(answer.status))
        #expect(fixture.administration.apps.first.catalog.withdrawn == [])
    }

    @Test(arguments: [TeamRole.viewer, .support])
    func `other roles change no product`(role: TeamRole) async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(role)
        for path in ["/console/new-product", "\(Self.path)/edit"] {
            #expect(try await browser.get(path).status == 403, "\(path)")
        }
        let fields = ProductForm.moon
        for path in [
            "/console/new-product", "/console/new-product/preview", "\(Self.path)/preview", "\(Self.path)/definition",
            "\(Self.path)/picture", "\(Self.path)/withdrawal", "\(Self.path)/return", "\(Self.path)/reversion",
            "\(Self.path)/history/1/undo",
        ] {
            #expect(try await browser.post(path, fields, from: "/console/products").status == 403, "\(path)")
        }
        #expect(try await fixture.ledger.read { try $0.catalogRevision() } == 0)
    }

    @Test func `a product is withdrawn and returns to sale`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.catalog, name: "Ada Kim")
        let app = fixture.administration.apps.first
        let withdrawn = try await browser.post("\(Self.path)/withdrawal", [:], from: Self.path)
        #expect(withdrawn.location == "\(Self.path)?done=withdrawn")
        #expect(app.catalog.isWithdrawn(Self.sprout1))
        #expect(try await browser.get(Self.path).has("Withdrawn"))
        #expect(try await browser.post("\(Self.path)/return", [:], from: Self.path).status == 303)
        #expect(!app.catalog.isWithdrawn(Self.sprout1))
        let changes = try await fixture.administration.changes(
            .of(product: Self.sprout1), in: app, before: nil, limit: 9)
        #expect(changes.map(\.content) == [.restoration, .withdrawal])
        #expect(changes.allSatisfy { $0.changedBy == "member Ada Kim" })
        let unknown = try await browser.post("/console/products/none/withdrawal", [:], from: Self.path)
        #expect(unknown.status == 404)
    }

    @Test func `an uploaded picture is shown and runs no scripts`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.catalog)
        let before = try await browser.get("\(Self.path)/picture")
        #expect(before.headers[.contentType] == "image/svg+xml")
        let answer = try await browser.upload("\(Self.path)/picture", "picture", png, from: Self.path)
        #expect(answer.location == "\(Self.path)?done=saved")
        let picture = try await browser.get("\(Self.path)/picture")
        #expect(picture.headers[.contentType] == "image/png")
        #expect(picture.headers[.contentSecurityPolicy]?.hasSuffix("sandbox") == true)
        #expect(picture.headers[.xContentTypeOptions] == "nosniff")
        let known = try await browser.get(
            "\(Self.path)/picture", headers: [.ifNoneMatch: try #require(picture.headers[.eTag])])
        #expect(known.status == 304)
        for bytes in [
            Array("GIF89a".utf8), [], [UInt8](repeating: 0x89, count: Picture.maximumSize + 1),
            TestPicture.png(60_000, 60_000),
        ] {
            let refused = try await browser.upload("\(Self.path)/picture", "picture", bytes, from: Self.path)
            #expect(refused.status == 422 && refused.has("pictureInvalid"))
        }
        #expect(try await browser.get("/console/products/none/picture").status == 404)
        #expect(try await fixture.administration.ledger.read { try $0.catalogRevision() } == 1)
    }

    @Test func `a product of a balance has no picture`() async throws {
        let fixture = try await ConsoleFixture(others: [try TestGarden().catalog])
        let browser = try await fixture.browser(.catalog)
        let path = "/console/products/garden.seeds"
        #expect(try await !browser.get(path).has("type=\"file\""))
        let answer = try await browser.upload("\(path)/picture", "picture", png, from: path)
        #expect(answer.status == 422 && answer.has("pictureOfNoItem"))
        #expect(try await browser.get("\(path)/picture").status == 404)
    }
}
