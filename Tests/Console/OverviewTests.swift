import Console
import Entitlements
import Features
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The overview and its live activity.
@Suite struct OverviewTests {
    private static let sandbox = "/console?environment=sandbox"

    @Test func `the cards have the sales of one environment`() async throws {
        let fixture = try await ConsoleFixture()
        try await fixture.buy("sprout1", for: "alice")
        try await fixture.figures.rollUp()
        let browser = try await fixture.browser(.viewer)
        let sandbox = try await browser.get(Self.sandbox)
        #expect(sandbox.status == 200)
        for figure in ["revenue", "mrr", "active-subscriptions", "active-trials", "new-customers", "refund-rate"] {
            #expect(sandbox.has("/console/figures/\(figure)?environment=sandbox"), "\(figure)")
        }
        let revenue = try await revenue(fixture)
        #expect(sandbox.has("<p class=\"figure\">\(revenue)</p>"))
        #expect(sandbox.has(Self.card("New customers", "figures/new-customers?environment=sandbox", "1")))
        #expect(sandbox.has(Self.card("Redemptions today", "figures/transactions?environment=sandbox", "1")))
        let production = try await browser.get("/console?environment=production")
        #expect(!production.has(revenue))
        #expect(production.has(Self.card("New customers", "figures/new-customers?environment=production", "0")))
        #expect(production.has(Self.card("Redemptions today", "figures/transactions?environment=production", "0")))
    }

    @Test func `each entry of the navigation has a drawing of its own`() async throws {
        let browser = try await ConsoleFixture().browser(.admin)
        let names = try await browser.get("/console").text.matches(of: /icons\.svg#([A-Za-z]+)/).map { String($0.1) }
        let drawings = try await browser.get("/console/assets/icons.svg").text
        #expect(names.first == "menu" && names.last == "team" && Set(names).count == names.count)
        for name in names { #expect(drawings.contains("<symbol id=\"\(name)\""), "\(name)") }
    }

    /// Today's revenue in the sandbox.
    private func revenue(_ fixture: ConsoleFixture) async throws -> String {
        let today = fixture.figures.today
        let answer = try await fixture.figures.answer(try FigureQuery(.revenue, in: .sandbox, from: today, to: today))
        let series = try #require(answer.series.first)
        return Price(
            milliunits: try #require(series.points.first?.value), currency: try #require(series.currency)
        ).formatted
    }

    /// The beginning of a card.
    private static func card(_ title: String, _ path: String, _ value: String) -> String {
        "<h2><a href=\"/console/\(path)\">\(title)</a></h2><p class=\"figure\">\(value)</p>"
    }

    @Test func `refusals of today are counted, and those of yesterday are not`() async throws {
        let fixture = try await ConsoleFixture()
        let bought = try await fixture.buy("sprout1", for: "alice")
        let proof = Array(try fixture.shop.store.signedTransaction(bought.identifier).utf8)
        let bob = try #require(User(name: "bob"))
        _ = try? await fixture.entitlements.redeem(proof, for: bob, by: .user)
        let browser = try await fixture.browser(.viewer)
        let card = Self.card("Refusals today", "refusals", "1")
        #expect(try await browser.get(Self.sandbox).has(card))
        fixture.shop.clock.advance(milliseconds: 86_400_000)
        #expect(
            try await fixture.browser(.viewer, name: "later").get(Self.sandbox).has(
                Self.card("Refusals today", "refusals", "0")))
    }

    /// Gives an item to alice.
    private func give(_ reason: String, in fixture: ConsoleFixture) async throws {
        let grant = try fixture.entitlements.newGrant(
            of: Item(collection: "sprout", number: 2), reason: reason, endsAt: nil, by: "member Kim")
        _ = try await fixture.entitlements.give(
            grant, to: try #require(User(name: "alice")))
    }

    @Test func `the activity names the customer, the product and the actor`() async throws {
        let fixture = try await ConsoleFixture()
        try await fixture.buy("sprout1", for: "<b>a&b/c")
        try await give("\"<i>sorry", in: fixture)
        let browser = try await fixture.browser(.viewer)
        let page = try await browser.get(Self.sandbox)
        #expect(page.has("href=\"/console/customers/-/%3Cb%3Ea%26b%2Fc\""))
        #expect(page.has("<bdi>&lt;b&gt;a&amp;b/c</bdi>"))
        #expect(page.has("<bdi>com.memolease.sesac1.sprout1</bdi>"))
        #expect(page.has("by <bdi>Kim</bdi>"))
        #expect(page.has("<bdi>&quot;&lt;i&gt;sorry</bdi>"))
        #expect(!page.has("<i>") && !page.has("<b>"))
        // What the team gives is no sale of the other environment.
        let production = try await browser.get("/console?environment=production")
        #expect(!production.has("Item given") && !production.has("Redeemed"))
        #expect(try await browser.get(Self.sandbox, headers: [.acceptLanguage: "ko"]).has("아이템 지급"))
    }

    @Test func `a service without figures says how to turn them on`() async throws {
        let fixture = try await ConsoleFixture(hasFigures: false)
        try await fixture.buy("sprout1", for: "alice")
        let browser = try await fixture.browser(.viewer)
        let page = try await browser.get(Self.sandbox)
        #expect(page.has("till serve --figures"))
        #expect(page.has("Redemptions today") && page.has("Live activity"))
        #expect(try await browser.get("/console/figures").has("till serve --figures"))
        #expect(try await browser.get("/console/figures/revenue").has("till serve --figures"))
    }

    @Test(arguments: ["/console?environment=apple", "/console/activity?environment=apple"])
    func `an unknown environment is refused`(path: String) async throws {
        let browser = try await ConsoleFixture().browser(.viewer)
        #expect(try await browser.get(path).status == 400)
    }

    @Test func `the feed has each new entry once`() async throws {
        let fixture = try await ConsoleFixture()
        try await fixture.buy("sprout1", for: "alice")
        let origins = FigureQuery.Environment.sandbox.origins()
        let shown = ActivityFeed.newest(
            try await fixture.entitlements.ledger.read { try $0.latestActivity(from: origins, limit: 1) })
        var feed = ActivityFeed(fixture.ledger, FigureQuery.Environment.sandbox.origins(), shown: shown)
        #expect(try await feed.events().isEmpty)
        try await fixture.buy("sprout2", for: "bob", account: "bob")
        let texts = try await feed.events().map { $0.text(in: .english) }
        #expect(texts.count == 1)
        #expect(texts.first?.hasPrefix("event: row\ndata: <li class=\"good\">") == true)
        #expect(texts.first?.hasSuffix("\n\n") == true)
        #expect(texts.first?.contains("com.memolease.sesac1.sprout2") == true)
        #expect(try await feed.events().isEmpty)
        var outdated = ActivityFeed(fixture.ledger, FigureQuery.Environment.sandbox.origins(), shown: shown)
        #expect(try await outdated.events().map { $0.text(in: .english) } == ["event: change\ndata: {}\n\n"])
        #expect(try await outdated.events().isEmpty)
        var production = ActivityFeed(fixture.ledger, FigureQuery.Environment.production.origins(), shown: "")
        #expect(try await production.events().isEmpty)
    }

    @Test func `a row with several lines is one event`() async throws {
        let fixture = try await ConsoleFixture()
        var feed = ActivityFeed(fixture.ledger, FigureQuery.Environment.sandbox.origins(), shown: "")
        #expect(try await feed.events().isEmpty)
        try await give("one\ntwo\r\n\r\nevent: change", in: fixture)
        let text = try #require(try await feed.events().first?.text(in: .english))
        #expect(text.split(separator: "\n").dropFirst().allSatisfy { $0.hasPrefix("data: ") })
        #expect(!text.dropLast(2).contains("\n\n"))
    }

    @Test func `the stream ends with the service`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.viewer)
        async let streamed = browser.get("/console/activity?environment=sandbox")
        await expectEventually { fixture.streams.open.count == 1 }
        try await fixture.buy("sprout1", for: "alice")
        fixture.streams.close()
        let answer = try await streamed
        #expect(answer.status == 200)
        #expect(answer.headers[.contentType] == "text/event-stream")
        #expect(answer.text.hasPrefix("retry: "))
        // The purchase was recorded before the first reading or after it.
        #expect(answer.has("event: row") || answer.has("event: change"))
        await expectEventually { fixture.streams.open.count == 0 }
        // A later stream ends at once.
        #expect(try await browser.get("/console/activity?environment=sandbox").status == 200)
    }

    @Test func `the stream ends with the session, and sends nothing after it`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.viewer)
        async let streamed = browser.get("/console/activity?environment=sandbox")
        await expectEventually { fixture.streams.open.count == 1 }
        try await fixture.team.remove("viewer")
        try await fixture.buy("sprout1", for: "alice")
        #expect(try await !streamed.has("sprout1"))
    }

    @Test func `a visitor gets no stream`() async throws {
        let fixture = try await ConsoleFixture()
        #expect(try await Browser(routes: fixture.routes).get("/console/activity").status == 303)
        #expect(fixture.streams.open.count == 0)
    }

    @Test func `streams are limited for each member and in total`() async {
        let streams = LiveStreams(maximum: 3, maximumPerMember: 2)
        var open = (["a", "b", "a", "a"] as [ByteKey]).map { LiveStreams.Listener(to: $0, in: streams.open) }
        for await _ in open[0].wakes {}
        #expect(streams.open.count == 3)
        open.append(LiveStreams.Listener(to: "c", in: streams.open))
        for await _ in open[1].wakes {}
        #expect(streams.open.count == 3)
        withExtendedLifetime(open) {}
    }
}
