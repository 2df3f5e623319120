import Catalog
import Entitlements
import Foundation
import PlayStore
import Proofs
import TestSupport
import Testing

/// The page of the local Google Play.
@Suite struct LocalPlayTests {
    private static let page = "/console/play"

    let console: GardenConsole

    init() async throws {
        console = try await GardenConsole(play: { garden in
            let play = try GooglePlay(in: garden.folder, clock: garden.store.clock)
            try play.perform { books in
                let configuration = try StoreKitConfiguration(file: TestGarden.file.path)
                try books.add(PlayCatalog(configuration, bundleIdentifier: TestGarden.bundleIdentifier))
            }
            let file = garden.folder.file("more.play.json")
            try Data(Self.rentalAndPreorder(at: garden.store.clock.now()).utf8).write(to: file)
            let more = try PlayCatalog(file: file)
            try play.perform { try $0.add(more) }
            return play
        })
    }

    /// The gate, which is bought, rented for two days, and pre-ordered, and an offer of a subscription.
    private static func rentalAndPreorder(at now: Timestamp) -> String {
        let name = #""packageName":"\#(TestGarden.bundleIdentifier)","productId":"garden.gate""#
        let prices = #"[{"regionCode":"US","price":{"currencyCode":"USD","units":"2"},"availability":"AVAILABLE"}]"#
        let options = [("buy", #""buyOption":{}"#), ("rent", #""rentOption":{"rentalPeriod":"P2D"}"#)].map {
            #"{"purchaseOptionId":"\#($0)","state":"ACTIVE","regionalPricingAndAvailabilityConfigs":\#(prices),\#($1)}"#
        }.joined(separator: ",")
        let times = ([("startTime", 0), ("endTime", 9), ("releaseTime", 9)] as [(String, Int64)]).map { name, days in
            #""\#(name)":"\#(now.adding(days: days).rfc3339)""#
        }.joined(separator: ",")
        return """
            {"oneTimeProducts":[{\(name),"purchaseOptions":[\(options)],
            "listings":[{"languageCode":"en-US","title":"A gate"}]}],
            "oneTimeProductOffers":[{\(name),"purchaseOptionId":"buy","offerId":"early","state":"ACTIVE",
            "preOrderOffer":{\(times),"priceChangeBehavior":"PRE_ORDER_PRICE_CHANGE_BEHAVIOR_NEW_ORDERS_ONLY"},
            "regionalPricingAndAvailabilityConfigs":[{"regionCode":"US","availability":"AVAILABLE","noOverride":{}}]}],
            "subscriptionOffers":[{"packageName":"\(TestGarden.bundleIdentifier)","productId":"garden.basic.monthly",
            "basePlanId":"p1m","offerId":"back","state":"ACTIVE",
            "phases":[{"duration":"P1M","regionalConfigs":[{"regionCode":"US","free":{}}]}]}]}
            """
    }

    /// Buys a product, and returns the page of the purchase.
    private func buy(
        _ product: String, _ others: [String: String] = [:], in browser: Browser
    ) async throws -> (path: String, page: Browser.Page) {
        let fields = ["product": "\(TestGarden.bundleIdentifier) \(product)", "customer": "alice", "quantity": "1"]
        let answer = try await browser.post(Self.page + "/buy", fields.merging(others) { $1 }, from: Self.page)
        #expect(answer.status == 303)
        let path = try #require(answer.headers[.location])
        return (path, try await browser.get(path))
    }

    private func perform(_ action: String, on number: Int, in browser: Browser) async throws -> Browser.Page {
        let path = "\(Self.page)/purchases/\(number)/\(action)"
        return try await browser.post(path, [:], from: "\(Self.page)?purchase=\(number)")
    }

    @Test func `a customer buys, pays later, and gets the money back`() async throws {
        let browser = try await console.browser(.support)
        let empty = try await browser.get(Self.page)
        #expect(empty.has("The Play has sold nothing yet.") && empty.has("Local Google Play"))
        #expect(empty.has("<option value=\"\(TestGarden.bundleIdentifier) garden.gate\""))
        let pending = try await buy("garden.gate", ["pending": "yes"], in: browser).page
        #expect(pending.has("payment pending") && pending.has("/play/purchases/1/complete"))
        #expect(!pending.has("/play/purchases/1/refund"))
        #expect(try await perform("complete", on: 1, in: browser).status == 303)
        let paid = try await browser.get(Self.page + "?purchase=1")
        #expect(paid.has("GPA.") && paid.has("/play/purchases/1/refund") && paid.has(">owned</span>"))
        #expect(try await perform("refund", on: 1, in: browser).status == 303)
        let refunded = try await browser.get(Self.page + "?purchase=1&account=alice")
        #expect(refunded.has(">refunded</span>") && !refunded.has("/play/purchases/1/"))
        #expect(try await browser.get(Self.page + "?account=bob").has("The Play has sold nothing yet."))
    }

    @Test func `a customer rents, and pre-orders`() async throws {
        let browser = try await console.browser(.support)
        let page = try await browser.get(Self.page)
        for form in ["garden.gate rent", "garden.gate buy early"] {
            #expect(page.has("<option value=\"\(TestGarden.bundleIdentifier) \(form)\""), "\(form)")
        }
        #expect(!page.has("garden.gate buy\""))
        let ordered = try await buy("garden.gate buy early", in: browser).page
        #expect(ordered.has(">pre-ordered</span>") && ordered.has("Charged at the release"))
        #expect(!ordered.has("/play/purchases/1/complete"))
        #expect(try await perform("cancel", on: 1, in: browser).status == 303)
        let rented = try await buy("garden.gate rent", in: browser).page
        #expect(rented.has(">owned</span>") && rented.has("/play/purchases/2/refund"))
        #expect(try await browser.post(Self.page + "/clock", ["step": "2d"], from: Self.page).status == 303)
        #expect(try await buy("garden.gate rent", in: browser).page.has(">owned</span>"))
    }

    @Test func `a promotion code pays for a product, and two products are bought in one order`() async throws {
        let browser = try await console.browser(.support)
        let given = try await buy("garden.gate", ["code": "yes", "customer": "bob"], in: browser).page
        #expect(given.has(">owned</span>") && !given.has("GPA.") && !given.has("Other products"))
        let gate = "\(TestGarden.bundleIdentifier) garden.gate"
        #expect(try await browser.get(Self.page).words.contains("Together with"))
        let both = try await buy("garden.seeds", ["together": gate], in: browser).page
        #expect(both.has(">owned</span>") && both.words.contains("Other productsgarden.gate"))
        for (product, together, status) in [
            ("garden.seeds", "garden.gate", 422), ("garden.seeds", "com.example.other garden.gate", 422),
            ("garden.basic.monthly", gate, 422), ("garden.seeds", gate + " rent", 409), ("garden.gate", gate, 409),
        ] {
            let fields = [
                "product": "\(TestGarden.bundleIdentifier) \(product)", "customer": "carol", "quantity": "1",
                "together": together,
            ]
            let answer = try await browser.post(Self.page + "/buy", fields, from: Self.page)
            #expect(answer.status == status, "\(product) with \(together)")
        }
        #expect(try await browser.get(Self.page + "?account=carol").has("The Play has sold nothing yet."))
    }

    @Test func `a subscription is bought under an offer, and with an add-on`() async throws {
        let browser = try await console.browser(.support)
        let app = TestGarden.bundleIdentifier
        #expect(try await browser.get(Self.page).has("<option value=\"\(app) garden.basic.monthly p1m back\""))
        let premium = ["together": "\(app) garden.premium.monthly"]
        let bought = try await buy("garden.basic.monthly p1m back", premium, in: browser).page
        #expect(bought.has(">active</span>") && bought.words.contains("Add-ons"))
        #expect(bought.words.contains("Offerback"))
        for (product, status) in [("garden.gate", 422), ("garden.basic.monthly", 409)] {
            let fields = ["product": "\(app) \(product)", "customer": "alice", "quantity": "1"].merging(premium) { $1 }
            let answer = try await browser.post(Self.page + "/buy", fields, from: Self.page)
            #expect(answer.status == status, "\(product) with garden.premium.monthly")
        }
    }

    @Test func `a subscription is canceled, restored, and ends by the clock`() async throws {
        let browser = try await console.browser(.support)
        let bought = try await buy("garden.basic.monthly", in: browser).page
        #expect(bought.has(">active</span>") && bought.has("/play/purchases/1/cancel"))
        #expect(try await perform("cancel", on: 1, in: browser).status == 303)
        #expect(try await perform("resume", on: 1, in: browser).status == 409)
        let canceled = try await browser.get(Self.page + "?purchase=1")
        #expect(canceled.has(">canceled</span>") && canceled.has("/play/purchases/1/restore"))
        for _ in 1...2 {
            #expect(
                try await browser.post(Self.page + "/clock", ["step": "1mo"], from: Self.page).status == 303)
        }
        #expect(try await browser.get(Self.page + "?purchase=1").has(">expired</span>"))
        #expect(try await browser.post(Self.page + "/clock", ["step": "x"], from: Self.page).status == 422)
        #expect(try await perform("fly", on: 1, in: browser).status == 404)
    }

    @Test func `the bank disputes a payment once, and it is paid back after a day without an answer`() async throws {
        let browser = try await console.browser(.support)
        for (number, product) in [(1, "garden.gate"), (2, "garden.basic.monthly")] {
            let bought = try await buy(product, in: browser).page
            #expect(bought.has("/play/purchases/\(number)/dispute"))
            #expect(try await perform("dispute", on: number, in: browser).status == 303)
            let disputed = try await browser.get("\(Self.page)?purchase=\(number)")
            #expect(disputed.has(">open</span>") && !disputed.has("/play/purchases/\(number)/dispute"))
            #expect(try await perform("dispute", on: number, in: browser).status == 409)
        }
        #expect(try await browser.post(Self.page + "/clock", ["step": "2d"], from: Self.page).status == 303)
        for number in 1...2 {
            let refunded = try await browser.get("\(Self.page)?purchase=\(number)")
            #expect(refunded.has(">refunded</span>") && !refunded.has("/play/purchases/\(number)/dispute"))
        }
        let given = try await buy("garden.gate", ["code": "yes", "customer": "bob"], in: browser).page
        #expect(!given.has("/play/purchases/3/dispute"))
        #expect(try await perform("dispute", on: 3, in: browser).status == 404)
    }

    @Test func `only those who may control the stores see the page`() async throws {
        #expect(try await console.browser(.viewer).get(Self.page).status == 403)
        let other = try await GardenConsole()
        let browser = try await other.browser(.support)
        #expect(try await browser.get(Self.page).status == 404)
        #expect(try await !browser.get("/console").has("Local Google Play"))
    }
}
