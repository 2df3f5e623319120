import Entitlements
import Features
import Foundation
import HTTPTypes
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// The search for customers.
@Suite struct CustomerSearchTests {
    private func search(_ browser: Browser, _ text: String, headers: HTTPFields = [:]) async throws -> Browser.Page {
        let allowed = CharacterSet.alphanumerics.intersection(CharacterSet(charactersIn: "\0"..."~"))
        let value = text.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
        return try await browser.get("/console/customers?search=\(value)", headers: headers)
    }

    @Test func `customers are found by a part of their name, page by page, the newest first`() async throws {
        let console = try await GardenConsole()
        for name in ["alba", "alice", "bob"] {
            _ = try await console.entitlements.appAccountToken(of: console.user(name))
        }
        let browser = try await console.browser(.viewer)
        let found = try await search(browser, "AL")
        #expect(found.has("/console/customers/-/alba\"") && found.has("/console/customers/-/alice\""))
        #expect(!found.has("/console/customers/-/bob\"") && !found.has("Open customer"))
        let first = try await browser.get("/console/customers?search=al&pageSize=1")
        #expect(first.has("/-/alice\"") && !first.has("/-/alba\""))
        let next = try #require(first.text.firstMatch(of: /cursor=([A-Za-z0-9_-]+)/)).1
        let second = try await browser.get("/console/customers?search=al&pageSize=1&cursor=\(next)")
        #expect(second.has("/-/alba\"") && !second.has("/-/alice\""))
        #expect(try await search(browser, "zoe").has("Nothing found."))
        #expect(try await browser.get("/console/customers").has("/-/bob\""))
    }

    @Test func `a part of a name finds the customer at once, in any case and script`() async throws {
        let console = try await GardenConsole()
        let browser = try await console.browser(.viewer)
        #expect(try await search(browser, "una1").has("Nothing found."))
        for name in ["yuna16", "김민지"] {
            _ = try await console.entitlements.appAccountToken(of: console.user(name))
        }
        for text in ["una1", "YUNA16", "ＹＵＮＡ"] {
            let found = try await search(browser, text)
            #expect(found.has("/console/customers/-/yuna16\"") && !found.has("Nothing found."), "\(text)")
        }
        #expect(try await browser.get("/console/customers?search=%EB%AF%BC%EC%A7%80").words.contains("김민지"))
        #expect(try await search(browser, "YUNA16").has("Open customer"))
        let first = try await search(browser, "yuna")
        #expect(first.text.matches(of: /customers\/-\/yuna16"/).count == 1)
    }

    @Test func `the lists of customers have what each has paid, and a file`() async throws {
        let console = try await GardenConsole()
        try await console.buy("garden.gate", for: console.user("alice"))
        _ = try console.store.advance(seconds: 60)
        _ = try await console.entitlements.appAccountToken(of: console.user("bob"))
        let browser = try await console.browser(.viewer)
        let all = try await browser.get("/console/customers")
        #expect(all.has("Total spent") && all.has("Customers: 2.") && all.has("/console/customers/csv"))
        try await console.ledger.figures(clock: console.store.clock).rollUp()
        for list in ["lastPurchase", "spent"] {
            let sorted = try await browser.get("/console/customers?list=\(list)")
            #expect(sorted.has("/-/alice\"") && !sorted.has("/-/bob\"") && sorted.has("Customers: 1."), "\(list)")
        }
        let newest = try await browser.get("/console/customers?list=newest&pageSize=1")
        #expect(newest.has("/-/bob\"") && !newest.has("/-/alice\""))
        let next = try #require(newest.text.firstMatch(of: /customers\?list=newest&amp;cursor=([A-Za-z0-9_-]+)/)).1
        let second = try await browser.get("/console/customers?list=newest&pageSize=1&cursor=\(next)")
        #expect(second.has("/-/alice\"") && !second.has("/-/bob\""))
        for list in ["notPaid", "ended"] {
            #expect(try await browser.get("/console/customers?list=\(list)").has("No customers."))
        }
        let file = try await browser.get("/console/customers/csv?list=newest")
        #expect(file.status == 200 && file.text.hasPrefix("name,issuer,") && file.text.contains("\r\nalice,"))
    }

    @Test func `a search that finds nothing says why`() async throws {
        let browser = try await GardenConsole().browser(.viewer)
        #expect(try await search(browser, "MK5TTTVWJH").has("cannot ask the App Store for one without its key"))
        #expect(try await search(browser, "2000000000000001").has("has stated a transaction of this number"))
        #expect(try await search(browser, "zoe").has("Search for a part of a customer"))
    }

    @Test func `an exact name, a token and a transaction lead to the customer`() async throws {
        let console = try await GardenConsole()
        let alice = try console.user()
        let transaction = try await console.buy("garden.gate", for: alice)
        let token = try await console.entitlements.appAccountToken(of: alice).lowercasedString
        let browser = try await console.browser(.viewer)
        for text in ["alice", token, token.uppercased(), transaction] {
            let found = try await search(browser, text)
            #expect(found.text.contains("class=\"button primary\" href=\"/console/customers/-/alice\""), "\(text)")
        }
        #expect(!(try await search(browser, "alic").has("button primary\" href")))
    }

    @Test func `an order leads to its purchase, and the App Store is not asked while a person types`() async throws {
        let asked = Counter()
        let console = try await GardenConsole { order in
            asked.add()
            if order == "MKDOWN0000" { throw ReconciliationError.answerInvalid }
            return order == "MK5TTTVWJH"
                ? ["2000000000000001", "1000000000000000"].map { ($0, $0) } : []
        }
        let alice = try console.user()
        try await console.buy("garden.gate", for: alice)
        let browser = try await console.browser(.viewer)
        let typing: HTTPFields = [try #require(.init("Sec-Fetch-Dest")): "empty"]
        #expect(try await search(browser, "MK5TTTVWJH", headers: typing).has("Press Enter to ask the App Store"))
        #expect(try await search(browser, "MK5").has("Nothing found."))
        #expect(asked.count == 0)
        #expect(try await search(browser, "MKOTHER000").has("knows no order"))
        #expect(try await search(browser, "MKDOWN0000").has("did not answer"))
        #expect(asked.count == 2)
    }

    @Test func `an order that the App Store knows shows the owner of its transactions`() async throws {
        let known = Box("")
        let console = try await GardenConsole { order in
            order == "MK5TTTVWJH" ? [(known.value, known.value)] : []
        }
        known.value = try await console.buy("garden.gate", for: console.user())
        let browser = try await console.browser(.viewer)
        let page = try await search(browser, "MK5TTTVWJH")
        #expect(page.has("Purchases of this order") && page.has("href=\"/console/customers/-/alice\""))
        for text in ["#mk5tttvwjh", "MK5T TTVW JH", "mk5-tttvwjh"] {
            let other = try await search(browser, text)
            #expect(other.has("Purchases of this order"), "\(text)")
        }
    }

    @Test func `a renewal leads to its purchase, with the charge of the order and no other`() async throws {
        let charge = Box("")
        let original = Box("")
        let console = try await GardenConsole { order in
            order == "MK5TTTVWJH" ? [(charge.value, original.value), (charge.value, original.value)] : []
        }
        original.value = try await console.buy("garden.basic.monthly", for: console.user())
        let bought = try #require(console.store.history(of: "alice").last).purchaseDate
        let browser = try await console.browser(.viewer)
        charge.value = original.value
        let first = try await search(browser, "MK5TTTVWJH")
        #expect(first.has("datetime=\"\(bought.rfc3339)\"") && first.has("/transactions/\(original.value)?"))
        #expect(first.has("class=\"money\"") && first.text.matches(of: /customers\/-\/alice\/transactions/).count == 1)
        // The ledger does not have this renewal. The price of another charge would be a wrong answer.
        charge.value = "2000000000999999"
        let missing = try await search(browser, "MK5TTTVWJH")
        #expect(missing.has("/console/customers/-/alice\"") && !missing.has("class=\"money\""))
        // The transaction of the purchase itself is a charge, and so is shown.
        #expect(try await search(browser, original.value).has("class=\"money\""))
    }

    @Test func `an order at Google Play is found in the forms in which people type it`() async throws {
        let console = try await GardenConsole()
        let (order, now) = ("GPA.3345-1234-5678-90123", console.garden.clock.now())
        let claim = Claim(
            app: TestGarden.bundleIdentifier, origin: .localPlayProduction, transactionIdentifier: order,
            originalTransactionIdentifier: "subscription", productIdentifier: "garden.basic.monthly", quantity: 1,
            purchaseDate: now, revocationDate: nil, signedAt: now, proofDigest: [UInt8](repeating: 1, count: 32),
            item: Item(collection: "plus", number: 1), credit: nil, expiresAt: now.adding(days: 30),
            facts: TransactionFacts([.orderId: .text(order)]))
        let alice = try console.user()
        _ = try await console.ledger.write { try $0.redeem([claim], for: alice, at: now) }
        let browser = try await console.browser(.viewer)
        for text in [order, "gpa 3345 1234 5678 90123", "#33451234567890123", "\(order)..4", "3345–1234–5678–90123"] {
            #expect(try await search(browser, text).has("class=\"button primary\" href=\"/console/customers/-/alice"))
        }
        #expect(try await search(browser, "3345-1234-5678-90124").has("Nothing found."))
    }

    @Test func `a transaction that nobody has redeemed leads to the unclaimed purchases`() async throws {
        let console = try await GardenConsole()
        let bought = try console.garden.buy("garden.gate", account: "carol")
        let transaction = try #require(bought.purchase).transactionIdentifier
        _ = try await console.entitlements.receive(
            statement: Array(try console.store.signedTransaction(bought.identifier).utf8))
        let page = try await search(try await console.browser(.viewer), transaction)
        let match = try #require(page.text.firstMatch(of: /href="(\/console\/unclaimed\/[^"]+)"/))
        let path = String(match.1).replacing("&amp;", with: "&")
        #expect(path.hasPrefix("/console/unclaimed/\(transaction)?"))
        #expect(try await console.browser(.support).get(path).has("Unclaimed purchase \(transaction)"))
    }

    @Test func `support finds a customer by an e-mail address, and who only looks does not`() async throws {
        let console = try await GardenConsole()
        let (alice, now) = (try console.user(), console.garden.clock.now())
        let email = try Attribute(name: "$email", value: "mina@example.com", statedAt: now)
        try await console.ledger.write { try $0.state([email], of: alice, at: now) }
        let support = try await console.browser(.support)
        let found = try await search(support, "MINA@example.com")
        #expect(found.has("/console/customers/-/alice\"") && found.has("Nobody may have verified it."))
        // An address may be another person's, so it leads nowhere by itself.
        #expect(!found.has("Open customer"))
        #expect(!(try await search(support, "alice").has("Nobody may have verified it.")))
        #expect(try await search(try await console.browser(.viewer), "mina@example.com").has("Nothing found."))
    }

    @Test func `a day with a product leads support to the customers who bought it, and nobody else`() async throws {
        let console = try await GardenConsole()
        try await console.buy("garden.gate", for: console.user())
        let text = "\(CalendarDay(console.garden.clock.now())) garden.gate"
        let found = try await search(try await console.browser(.support), text)
        #expect(found.has("/console/customers/-/alice\"") && found.has("the day before or the day after (UTC)"))
        #expect(try await search(try await console.browser(.viewer), text).has("Nothing found."))
    }

    @Test func `a product leads to its latest customers, each once`() async throws {
        let console = try await GardenConsole()
        for name in ["alice", "bob", "carol"] {
            let user = try console.user(name)
            try await console.buy("garden.seeds", for: user)
            _ = try console.store.advance(seconds: 60)
            try await console.buy("garden.seeds", for: user)
            _ = try console.store.advance(seconds: 60)
        }
        try await console.buy("garden.gate", for: console.user("dora"))
        let browser = try await console.browser(.viewer)
        let found = try await search(browser, "SEEDS")
        #expect(found.has("/console/customers?product=garden.seeds") && found.has("/console/customers/-/carol\""))
        let first = try await browser.get("/console/customers?product=garden.seeds&pageSize=2")
        let owners = first.text.matches(of: /customers\/-\/(\w+)"/).map { String($0.1) }
        #expect(owners == ["carol", "bob"])
        let next = try #require(first.text.firstMatch(of: /cursor=([A-Za-z0-9_-]+)/)).1
        let second = try await browser.get("/console/customers?product=garden.seeds&pageSize=2&cursor=\(next)")
        #expect(second.text.matches(of: /customers\/-\/(\w+)"/).map { String($0.1) } == ["alice"])
        #expect(try await browser.get("/console/customers?product=garden.season").has("Nobody has redeemed"))
        #expect(try await browser.get("/console/customers?product=garden.seeds&cursor=eA").status == 400)
    }

    @Test func `what a person searches for is shown as text`() async throws {
        let browser = try await GardenConsole().browser(.viewer)
        let page = try await search(browser, "\"><script>alert(1)</script>")
        #expect(page.status == 200 && !page.has("<script>alert"))
        #expect(page.has("&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"))
        #expect(try await browser.get("/console/customers?search=" + String(repeating: "a", count: 257)).status == 400)
    }

    @Test(
        arguments: [
            ("", "alice"), ("-", "alice"), ("--", "-"), ("till", "."), (".", ".."),
            ("https://id.example.com/a b", "a/b?c#d%41"),
            ("", "-."), ("", "가나다"), ("", "<b>\"'&"),
        ])
    func `each customer has an address of its own`(issuer: String, name: String) async throws {
        let console = try await GardenConsole(hasFeatures: false)
        let user = try #require(User(issuer: issuer, name: name))
        let other = try #require(User(issuer: issuer + "-", name: name + "-"))
        try await console.ledger.write { transaction in
            _ = try transaction.users.insert([user, other], at: console.garden.clock.now())
        }
        let browser = try await console.browser(.viewer)
        let list = try await browser.get("/console/customers")
        let paths = list.text.matches(of: /<a href="(\/console\/customers\/[^"]+)"/).map { String($0.1) }
        #expect(Set(paths).count == 2)
        for path in paths {
            let page = try await browser.get(path)
            #expect(page.status == 200, "\(path)")
            #expect(!path.split(separator: "/").contains { [".", ".."].contains($0.removingPercentEncoding ?? "") })
        }
        var names: Set<String> = []
        for path in paths {
            names.insert(
                String(try #require(try await browser.get(path).text.firstMatch(of: /<h1><bdi>(.*?)<\/bdi><\/h1>/)).1))
        }
        #expect(names == [name.forHTML, (name + "-").forHTML])
    }

    @Test func `an unknown customer is not found`() async throws {
        let browser = try await GardenConsole().browser(.viewer)
        for path in ["/-/zoe", "/-/zoe/timeline", "/-/zoe/explanation", "/erased/x", "/-/zoe/events/1", "/-/a%20b"] {
            #expect(try await browser.get("/console/customers" + path).status == 404, "\(path)")
        }
    }
}
