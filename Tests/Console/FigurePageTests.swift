import Catalog
import Console
import Entitlements
import Features
import Foundation
import Proofs
import TestSupport
import Testing

/// The pages of the figures.
@Suite struct FigurePageTests {
    private func sell(_ fixture: ConsoleFixture) async throws {
        try await fixture.buy("sprout1", for: "alice")
        try await fixture.buy("sprout2", for: "bob", account: "bob")
        try await fixture.figures.rollUp()
    }

    @Test(arguments: Figure.allCases)
    func `each figure has its definition, and a chart with a table`(figure: Figure) async throws {
        let fixture = try await ConsoleFixture()
        try await sell(fixture)
        let browser = try await fixture.browser(.viewer)
        let list = try await browser.get("/console/figures?environment=production")
        #expect(list.has(figure.definition.escaped))
        #expect(list.has("href=\"/console/figures/\(figure.rawValue)?environment=production\""))
        let page = try await browser.get("/console/figures/\(figure.rawValue)?environment=sandbox")
        #expect(page.status == 200)
        #expect(page.has(figure.definition.escaped))
        // Refunds and subscriptions that are money have no currency here.
        let hasSeries = !figure.isMoney || [.revenue, .revenuePerPayer, .lifetimeValue].contains(figure)
        #expect(page.has("<svg class=\"chart\" role=\"img\"") == (hasSeries && figure != .retention))
        #expect(page.has("<th scope=\"row\">") == hasSeries)
        #expect(page.has("Nothing was sold in this time.") == !hasSeries)
        let korean = try await browser.get("/console/figures/\(figure.rawValue)", headers: [.acceptLanguage: "ko"])
        #expect(korean.status == 200)
        #expect(!korean.has(figure.definition.escaped))
    }

    @Test func `revenue has a chart for each currency, and its exact amounts in the table`() async throws {
        let fixture = try await ConsoleFixture()
        try await sell(fixture)
        let browser = try await fixture.browser(.viewer)
        let answer = try await fixture.figures.answer(
            try FigureQuery(.revenue, in: .sandbox, from: fixture.figures.today, to: fixture.figures.today))
        let series = try #require(answer.series.first)
        let amount = Price(
            milliunits: try #require(series.points.first?.value), currency: try #require(series.currency)
        ).formatted
        let page = try await browser.get("/console/figures/revenue?environment=sandbox")
        #expect(page.has("<td class=\"number\">\(amount)</td>"))
        #expect(page.has("not over"))
        #expect(page.has("class=\"shade\""))
        #expect(try await browser.get("/console/figures/revenue?environment=production").has("Nothing was sold"))
    }

    @Test func `a page has the charts of some currencies, and links to the others`() async throws {
        let fixture = try await ConsoleFixture()
        let storefronts = [
            "BRA": "BRL", "CHE": "CHF", "GBR": "GBP", "FRA": "EUR", "HKG": "HKD", "JPN": "JPY", "KOR": "KRW",
            "MEX": "MXN", "USA": "USD",
        ]
        for (number, storefront) in storefronts.keys.sorted().enumerated() {
            _ = try fixture.shop.store.update { $0.storefront = storefront }
            try await fixture.buy("sprout1", for: "user\(number)", account: "user\(number)")
        }
        try await fixture.figures.rollUp()
        let browser = try await fixture.browser(.viewer)
        let page = try await browser.get("/console/figures/revenue?environment=sandbox")
        // The largest amounts come first.
        let headings = page.text.matches(of: /<h2>([A-Z]{3})<\/h2>/).map { String($0.1) }
        #expect(headings.count == 8 && Set(headings).isSubset(of: storefronts.values))
        let answer = try await fixture.figures.answer(
            try FigureQuery(.revenue, in: .sandbox, from: fixture.figures.today, to: fixture.figures.today))
        let sums = answer.series.map { ($0.currency ?? "", $0.points.first?.value ?? 0) }
        #expect(headings == sums.sorted { ($1.1, $0.0) < ($0.1, $1.0) }.prefix(8).map(\.0))
        #expect(page.has("&amp;currency=USD\">USD</a>"))
        let dollars = try await browser.get("/console/figures/revenue?environment=sandbox&currency=USD")
        #expect(dollars.has("<h2>USD</h2>") && !dollars.has("<h2>BRL</h2>"))
        #expect(dollars.has("aria-current=\"page\">USD</a>"))
        #expect(dollars.has("name=\"currency\" value=\"USD\""))
        let none = try await browser.get("/console/figures/revenue?environment=sandbox&currency=XXX")
        #expect(none.has("Nothing was sold in XXX") && none.has(">USD</a>"))
    }

    @Test func `currencies are added up at the rates of the operator, whose day is stated`() async throws {
        let garden = try TestGarden(bundleIdentifier: "com.example.other")
        let folder = garden.folder.folder("catalog")
        try Data(#"{"date": "2026-10-01", "currency": "KRW", "rates": {"USD": "1400"}}"#.utf8).write(
            to: folder.appending(path: ExchangeRates.file))
        let fixture = try await ConsoleFixture(others: [try Catalog(folder: folder)])
        for (storefront, user) in [("KOR", "alice"), ("USA", "bob"), ("FRA", "carol")] {
            _ = try fixture.shop.store.update { $0.storefront = storefront }
            try await fixture.buy("sprout1", for: user, account: user)
        }
        try await fixture.figures.rollUp()
        let browser = try await fixture.browser(.viewer)
        for path in ["/console?environment=sandbox", "/console/figures/revenue?environment=sandbox"] {
            let page = try await browser.get(path)
            #expect(page.has("Together KRW ") && page.has(" without EUR, at the rates of 2026-10-01"))
        }
    }

    @Test func `groups, filters and periods are those of the address`() async throws {
        let fixture = try await ConsoleFixture()
        try await sell(fixture)
        let browser = try await fixture.browser(.viewer)
        let page = try await browser.get("/console/figures/units?environment=sandbox&group=product&by=month")
        #expect(page.has("<bdi>Sturdy Sprout</bdi>"))
        #expect(page.has("<bdi>Mint Sprout</bdi>"))
        #expect(page.has(">Sturdy Sprout (com.memolease.sesac1.sprout1)</option>"))
        #expect(page.has("<option value=\"KOR\">South Korea (KOR)</option>"))
        #expect(page.has("<option value=\"month\" selected>"))
        #expect(page.has("csv?environment=sandbox&amp;by=month&amp;group=product"))
        let one = try await browser.get(
            "/console/figures/units?environment=sandbox&product=com.memolease.sesac1.sprout1&group=&storefront=&app=")
        #expect(one.status == 200)
        #expect(one.has("value=\"com.memolease.sesac1.sprout1\""))
    }

    @Test(arguments: [
        ("none", 404), ("units?by=year", 400), ("units?from=yesterday", 400), ("units?group=user", 400),
        ("units?environment=apple", 400), ("units?from=2026-02-01&to=2026-01-01", 400),
        ("units?from=9999-01-01&to=9999-01-02", 400), ("units?from=1970-01-01", 400),
        ("units?from=2025-01-01&to=2026-09-01", 400), ("units?group=storefront&product=p", 400),
        ("revenue?currency=euro", 400), ("units/csv?by=year", 400), ("none/csv", 404),
    ])
    func `an address that makes no sense is refused`(path: String, status: Int) async throws {
        let browser = try await ConsoleFixture().browser(.viewer)
        #expect(try await browser.get("/console/figures/\(path)").status == status)
    }

    @Test func `a wrong date keeps the form, and says what is wrong`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.viewer)
        let path = "/console/figures/units?from=yesterday&by=month&product=com.memolease.sesac1.sprout2"
        let page = try await browser.get(path)
        #expect(page.status == 400 && page.has("id=\"problem\"") && page.has("parameterInvalid"))
        #expect(page.has("<details class=\"action\" open>"))
        #expect(page.has("<option value=\"month\" selected>"))
        #expect(page.has("<option value=\"com.memolease.sesac1.sprout2\" selected>"))
        let reversed = try await browser.get("/console/figures/units?from=2026-02-01&to=2026-01-01")
        #expect(reversed.has("value=\"2026-02-01\"") && reversed.has("value=\"2026-01-01\""))
    }

    @Test func `a figure leads with its total, and its change against the time before`() async throws {
        let fixture = try await ConsoleFixture()
        try await fixture.buy("sprout1", for: "alice")
        fixture.shop.clock.advance(milliseconds: 28 * 86_400_000)
        for number in 1...3 { try await fixture.buy("sprout2", for: "user\(number)", account: "user\(number)") }
        fixture.shop.clock.advance(milliseconds: 86_400_000)
        try await fixture.buy("sprout2", for: "bob", account: "bob")
        try await fixture.figures.rollUp()
        let browser = try await fixture.browser(.viewer)
        let page = try await browser.get("/console/figures/units?environment=sandbox")
        // Today's sale is in the total, and not in the change: three units after one.
        #expect(page.has("<p class=\"figure\">4</p><p class=\"change\">+200.0%</p>"))
        #expect(page.has("Today is not over.") && page.has(" compared with "))
        #expect(page.has("<bdi>Previous period</bdi>") && page.has("class=\"line other\""))
        let card = try await browser.get("/console?environment=sandbox")
        #expect(card.has("<p class=\"figure\">4</p><p class=\"change\">+200.0%</p>"))
        let month = try await browser.get("/console?environment=sandbox&range=this-month")
        #expect(month.status == 200 && month.has("aria-current=\"page\">This month</a>"))
        #expect(try await browser.get("/console?range=today").status == 400)
    }

    @Test func `retention is a table of cohorts, and an average is an amount`() async throws {
        let fixture = try await ConsoleFixture()
        try await sell(fixture)
        let browser = try await fixture.browser(.viewer)
        let table = try await browser.get("/console/figures/retention?environment=sandbox")
        #expect(table.has("<td class=\"number stayed-5\">100.0%</td>"))
        let average = try await browser.get("/console/figures/arppu?environment=sandbox")
        #expect(average.has(" (2 customers)</td>"))
        let file = try await browser.get("/console/figures/retention/csv?environment=sandbox")
        #expect(file.text.hasPrefix("from,to,is_complete,months_after,value,denominator\r\n"))
        #expect(file.text.contains(",false,0,2,2\r\n"))
    }

    @Test func `a movement has its net as a line and a column`() async throws {
        let fixture = try await ConsoleFixture()
        try await sell(fixture)
        let browser = try await fixture.browser(.viewer)
        let page = try await browser.get("/console/figures/subscription-movement?environment=sandbox")
        #expect(page.has("<th scope=\"col\" class=\"number\"><bdi>net</bdi></th>"))
        #expect(page.has("class=\"line other\"") && !page.has("Previous period"))
    }

    @Test func `the CSV file has the values of the answer`() async throws {
        let fixture = try await ConsoleFixture()
        try await sell(fixture)
        let browser = try await fixture.browser(.viewer)
        let today = fixture.figures.today
        let day = "environment=sandbox&from=\(today)&to=\(today)"
        let file = try await browser.get("/console/figures/units/csv?\(day)&group=product")
        #expect(file.headers[.contentType] == "text/csv; charset=utf-8")
        #expect(file.headers[.contentDisposition] == "attachment; filename=\"units-\(today)-\(today).csv\"")
        #expect(
            file.text == """
                from,to,is_complete,product,value\r
                \(today),\(today),false,com.memolease.sesac1.sprout1,1\r
                \(today),\(today),false,com.memolease.sesac1.sprout2,1\r\n
                """)
        let rate = try await browser.get("/console/figures/refund-rate/csv?\(day)")
        #expect(rate.text == "from,to,is_complete,value,denominator\r\n\(today),\(today),false,0,2\r\n")
        let movement = try await browser.get("/console/figures/subscription-movement/csv?\(day)")
        #expect(
            movement.text
                == "from,to,is_complete,value,new,resubscribed,changed,churned\r\n\(today),\(today),false,0,0,0,0,0\r\n"
        )
        let money = try await browser.get("/console/figures/revenue/csv?\(day)").text
        let amount = try #require(money.split(separator: "\r\n").last?.split(separator: ",").last)
        let answer = try await fixture.figures.answer(
            try FigureQuery(.revenue, in: .sandbox, from: today, to: today))
        #expect(Double(amount).map { Int64(($0 * 1000).rounded()) } == answer.series.first?.points.first?.value)
    }

    @Test func `users that the sums do not include yet are mentioned`() async throws {
        let fixture = try await ConsoleFixture()
        try await fixture.buy("sprout1", for: "alice")
        let browser = try await fixture.browser(.viewer)
        #expect(try await browser.get("/console/figures/units").has("New purchases of 1 customer are"))
        try await fixture.figures.sweep()
        try await fixture.figures.rollUp()
        let page = try await browser.get("/console/figures/units")
        #expect(!page.has("New purchases of") && !page.has("still being added"))
    }

    @Test func `a visitor is asked to log in`() async throws {
        let fixture = try await ConsoleFixture()
        for path in ["", "/units", "/units/csv"] {
            #expect(try await Browser(routes: fixture.routes).get("/console/figures\(path)").status == 303)
        }
    }
}

extension String {
    fileprivate var escaped: String { replacing("'", with: "&#39;") }
}
