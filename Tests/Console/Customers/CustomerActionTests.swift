import AppStore
import Entitlements
import Features
import Foundation
import HTTPSupport
import HTTPTypes
import Ledger
import Proofs
import Testing
import Vocabulary

/// The actions on a customer: their effect, their record, and their refusals.
@Suite struct CustomerActionTests {
    private static let path = "/console/customers/-/alice"
    private static let gate = Item(collection: "gate", number: 1)

    private let console: GardenConsole
    private let alice: User

    init() async throws {
        console = try await GardenConsole()
        alice = try console.user()
        _ = try await console.entitlements.appAccountToken(of: alice)
    }

    /// The fields of a form on the customer's page, with its key.
    private func fields(_ browser: Browser, _ action: String, _ fields: [String: String]) async throws -> [String:
        String]
    {
        let page = try await browser.get(Self.path)
        let key = try #require(page.value(of: "submission", inFormTo: Self.path + action))
        return fields.merging(["submission": key]) { first, _ in first }
    }

    private func items() async throws -> [Item] { try await console.entitlements.items(of: alice).map(\.item) }

    @Test func `support gives an item until a day, under its own name`() async throws {
        let browser = try await console.browser(.support)
        let fields = try await fields(
            browser, "/grants", ["give-item": "gate 1", "give-until": "2026-11-30", "give-reason": "an apology"])
        let answer = try await browser.post(Self.path + "/grants", fields, from: Self.path)
        #expect(answer.location == Self.path + "?done=given")
        let grant = try #require(try await console.entitlements.grants(of: alice, before: nil, limit: 9).first)
        #expect(grant.item == Self.gate && grant.endsAt?.rfc3339 == "2026-12-01T00:00:00Z")
        #expect(try await console.audit(of: alice) == ["member support itemGiven gate 1 an apology"])
        let page = try await browser.get(Self.path + "?done=given")
        #expect(page.has("The item was given.") && page.words.contains("an apology"))
    }

    @Test func `a gift ends with the day of the giver's time zone, and the page shows that day`() async throws {
        let browser = try await console.browser(.support)
        let gift = ["give-item": "gate 1", "give-until": "2026-12-31", "give-reason": "a prize"]
        let seoul = try await fields(browser, "/grants", gift.merging(["zone": "540"]) { $1 })
        #expect(try await browser.post(Self.path + "/grants", seoul, from: Self.path).status == 303)
        let grant = try #require(try await console.entitlements.grants(of: alice, before: nil, limit: 9).first)
        #expect(grant.endsAt?.rfc3339 == "2026-12-31T15:00:00Z")
        let words = try await browser.get(Self.path).words
        #expect(words.contains("2026-12-31") && !words.contains("2027-01-01"))
        let invalid = try await fields(browser, "/grants", gift.merging(["zone": "1441"]) { $1 })
        #expect(try await browser.post(Self.path + "/grants", invalid, from: Self.path).status == 422)
    }

    @Test func `a form that is sent twice takes effect once`() async throws {
        let browser = try await console.browser(.support)
        let give = try await fields(browser, "/grants", ["give-item": "gate 1", "give-reason": "a prize"])
        let add = try await fields(
            browser, "/balances", ["balance": "seeds", "amount": "5", "balance-reason": "a prize"])
        for _ in 0..<2 {
            #expect(try await browser.post(Self.path + "/grants", give, from: Self.path).status == 303)
            #expect(try await browser.post(Self.path + "/balances", add, from: Self.path).status == 303)
        }
        #expect(try await console.entitlements.grants(of: alice, before: nil, limit: 9).count == 1)
        #expect(try await console.entitlements.balances(of: alice) == [Credit(balance: "seeds", amount: 5)])
        let other = give.merging(["give-reason": "another prize"]) { $1 }
        let refused = try await browser.post(Self.path + "/grants", other, from: Self.path)
        #expect(refused.status == 409 && refused.has("formSentBefore"))
    }

    @Test(
        arguments: [
            ["give-item": "hat 9", "give-reason": "x"], ["give-item": "gate", "give-reason": "x"],
            ["give-item": "gate 1", "give-reason": ""], ["give-item": "gate 1", "give-reason": "a\u{202E}b"],
            ["give-item": "gate 1", "give-reason": "x", "give-until": "2026-10-30"],
            ["give-item": "gate 1", "give-reason": "x", "give-until": "tomorrow"],
            ["give-item": "gate 1", "give-reason": "x", "submission": "x"],
            ["give-item": "gate 1", "give-reason": String(repeating: "a", count: 501)],
        ])
    func `an invalid gift is refused, and changes nothing`(invalid: [String: String]) async throws {
        let browser = try await console.browser(.support)
        let fields = try await fields(browser, "/grants", invalid)
        #expect(try await browser.post(Self.path + "/grants", fields, from: Self.path).status == 422)
        #expect(try await console.audit(of: alice) == [])
    }

    @Test(arguments: [("seeds", "0"), ("seeds", "x"), ("seeds", ""), ("seeds", "1000000001"), ("coins", "1")])
    func `an invalid addition is refused, and changes nothing`(balance: String, amount: String) async throws {
        let browser = try await console.browser(.support)
        let fields = try await fields(
            browser, "/balances", ["balance": balance, "amount": amount, "balance-reason": "x"])
        #expect([404, 422].contains(try await browser.post(Self.path + "/balances", fields, from: Self.path).status))
        #expect(try await console.audit(of: alice) == [])
    }

    @Test func `a gift is revoked with a reason`() async throws {
        let grant = try console.entitlements.newGrant(
            of: Self.gate, reason: "a prize", endsAt: nil, by: "member Ada")
        _ = try await console.entitlements.give(grant, to: alice)
        let browser = try await console.browser(.support)
        let path = Self.path + "/grants/\(grant.identifier)/revocation"
        #expect(try await browser.get(Self.path).has("action=\"\(path)\""))
        let field = "reason-" + grant.identifier
        #expect(try await browser.post(path, [:], from: Self.path).status == 422)
        for _ in 0..<2 {
            #expect(try await browser.post(path, [field: "a mistake"], from: Self.path).status == 303)
        }
        #expect(try await !items().contains(Self.gate))
        #expect(
            try await console.audit(of: alice) == [
                "member Ada itemGiven gate 1 a prize", "member support itemTakenBack gate 1 a mistake",
            ])
        #expect(try await !browser.get(Self.path).has("action=\"\(path)\""))
        let unknown = Self.path + "/grants/x/revocation"
        #expect(try await browser.post(unknown, ["reason-x": "x"], from: Self.path).status == 404)
    }

    @Test func `a purchase is revoked and reinstated with reasons`() async throws {
        let transaction = try await console.buy("garden.gate", for: alice)
        _ = try console.store.advance(seconds: 1)
        let browser = try await console.browser(.support)
        let page = Self.path + "/transactions/\(transaction)"
        let query = "?origin=local%2FSandbox&app=com.example.garden"
        let revoked = try await browser.post(
            page + "/revocation" + query, ["reason": "chargeback"], from: page)
        #expect(revoked.location == page + query + "&done=revoked")
        #expect(try await !items().contains(Self.gate))
        let shown = try await browser.get(page + query)
        #expect(shown.words.contains("chargeback") && !shown.has("/revocation?"))
        #expect(
            try await browser.post(page + "/reinstatement" + query, ["reason": "settled"], from: page).status == 303)
        #expect(try await items().contains(Self.gate))
        #expect(
            try await console.audit(of: alice) == [
                "user granted garden.gate", "member support revoked garden.gate chargeback",
                "member support granted garden.gate settled",
            ])
        let words = try await browser.get(Self.path).words
        #expect(
            words.contains("Revoked by the team: garden.gate") && words.contains("Reinstated by the team: garden.gate"))
        #expect(words.contains("Purchase: garden.gate") && words.contains("settled"))
        #expect(try await browser.post(page + "/revocation", [:], from: page).status == 422)
    }

    @Test func `who wants money back is sent to Apple, and the team takes the purchase or gives something`()
        async throws
    {
        let transaction = try await console.buy("garden.gate", for: alice)
        _ = try console.store.advance(seconds: 1)
        let page = Self.path + "/transactions/\(transaction)/money-back?origin=local%2FSandbox&app=com.example.garden"
        let shown = try await console.browser(.viewer).get(page)
        #expect(shown.words.contains("Only Apple returns money.") && shown.has("https://reportaproblem.apple.com"))
        #expect(shown.words.contains("garden.gate") && !shown.has("/revocation?") && !shown.has("give-item"))
        let browser = try await console.browser(.support)
        #expect(try await browser.get(Self.path).has(page.forHTML))
        let offered = try await browser.get(page)
        #expect(offered.has("/revocation?") && offered.has("name=\"give-item\""))
        let revocation = page.replacing("/money-back?", with: "/revocation?")
        #expect(try await browser.post(revocation, ["reason": "too expensive"], from: page).status == 303)
        #expect(try await !items().contains(Self.gate))
        let submission = try #require(offered.value(of: "submission", inFormTo: Self.path + "/grants"))
        let gift = try await browser.post(
            Self.path + "/grants",
            [
                "submission": submission, "give-item": "gate 1", "give-until": "2026-12-31",
                "give-reason": "for the trouble",
            ],
            from: page)
        #expect(gift.status == 303)
        #expect(try await items().contains(Self.gate))
        #expect(try await !browser.get(page).has("/revocation?"))
        let why = Self.path + "/explanation?item=gate%201"
        let explained = try await browser.get(why)
        #expect(explained.words.contains("The team has granted the item, until 2026-12-31."))
        #expect(explained.has("class=\"day\">2026-12-31</time>"))
        #expect(try await browser.get(why, headers: [.acceptLanguage: "ko"]).words.contains("2026-12-31까지"))
        let unknown = Self.path + "/transactions/1/money-back"
        #expect(try await browser.get(unknown).status == 404)
    }

    @Test func `a purchase is moved to another customer, with its renewals and a reason for both`() async throws {
        let bob = try console.user("bob")
        _ = try await console.entitlements.appAccountToken(of: bob)
        let transaction = try await console.buy("garden.premium.monthly", for: alice)
        try await console.buy("garden.seeds", for: alice)
        let browser = try await console.browser(.support)
        let page = try await browser.get(Self.path)
        let purchase = "local/Sandbox com.example.garden \(transaction)"
        #expect(page.has("value=\"\(purchase)\"") && page.words.contains("Renewals follow."))
        #expect(page.text.matches(of: /value="local\/Sandbox com/).count == 1)
        let fields = ["move-purchase": purchase, "user": "bob", "issuer": "", "move-reason": "a new phone"]
        func move(_ changes: [String: String]) async throws -> Browser.Page {
            try await browser.post(Self.path + "/move", fields.merging(changes) { $1 }, from: Self.path)
        }
        #expect(try await move(["user": "bop"]).has("userNotFound"))
        #expect(try await move(["move-reason": ""]).status == 422)
        #expect(try await move(["move-purchase": transaction]).status == 422)
        #expect(try await move(["move-purchase": "local/Sandbox com.example.garden 7"]).status == 404)
        #expect(try await move([:]).location == "/console/customers/-/bob?done=moved")
        #expect(try await !items().contains(Item(collection: "plus", number: 2)))
        try console.garden.advance(to: "2026-12-05T00:00:00Z")
        try await console.notify()
        let subscription = try #require(try await console.entitlements.subscriptions(of: bob).first)
        #expect(subscription.state == .active)
        for (path, word) in [
            (Self.path, "Went to another customer"), ("/console/customers/-/bob", "Came from another customer"),
        ] {
            let words = try await browser.get(path).words
            #expect(words.contains("Purchase moved: garden.premium.monthly") && words.contains("a new phone"))
            #expect(words.contains(word))
        }
        #expect(try await move([:]).status == 404)
    }

    @Test func `a purchase with an account token stays, and the page says why`() async throws {
        let bob = try console.user("bob")
        _ = try await console.entitlements.appAccountToken(of: bob)
        let token = try await console.entitlements.appAccountToken(of: alice)
        _ = try console.store.add(
            Payment(productIdentifier: "garden.gate", appAccountToken: token), account: "alice")
        let bought = try #require(try console.store.process(account: "alice").first?.purchase)
        try await console.notify()
        let purchase = "local/Sandbox com.example.garden \(bought.transactionIdentifier)"
        let browser = try await console.browser(.support)
        let answer = try await browser.post(
            Self.path + "/move", ["move-purchase": purchase, "user": "bob", "issuer": "", "move-reason": "x"],
            from: Self.path)
        #expect(answer.status == 409 && answer.has("appAccountTokenMismatch") && answer.has("It cannot be moved."))
        #expect(try await items().contains(Self.gate))
    }

    @Test func `the messages about a customer are sent again`() async throws {
        let endpoint = try await console.webhooks.add(
            WebhookURL("https://example.com/hooks", allowsPlain: false), by: "K")
        try await console.buy("garden.gate", for: alice)
        try await console.buy("garden.seeds", for: console.user("bob"))
        let due = try await console.webhooks.due(for: endpoint, limit: 9) ?? []
        #expect(due.count == 2)
        let results = try await console.webhooks.lease(due).map {
            console.webhooks.result(of: $0, .answered(status: 200))
        }
        try await console.webhooks.record(results)
        let browser = try await console.browser(.support)
        let answer = try await browser.post(Self.path + "/webhooks", [:], from: Self.path)
        #expect(answer.location == Self.path + "?done=queued")
        let pending = try await console.webhooks.deliveries(
            to: endpoint.identifier, in: .pending, before: nil, limit: 9)
        #expect(pending.map(\.name) == ["alice"])
        // Both changes are of the same millisecond.
        let changes = try await console.webhooks.changes(of: endpoint.identifier, limit: 9)
        let change = changes.first { $0.event == .messagesReplayed }
        #expect(change?.changedBy == "member support" && change?.detail == "1")
        // Nothing ended is left to send.
        _ = try await browser.post(Self.path + "/webhooks", [:], from: Self.path)
        #expect(try await console.webhooks.changes(of: endpoint.identifier, limit: 9).count == 2)
    }

    @Test func `support exports the same archive as the API`() async throws {
        try await console.buy("garden.gate", for: alice)
        let browser = try await console.browser(.support)
        let answer = try await browser.get(Self.path + "/export")
        #expect(answer.headers[.contentType] == "application/json" && answer.headers[.cacheControl] == "no-store")
        #expect(answer.headers[.contentDisposition] == "attachment; filename=\"customer.json\"")
        let archive = try #require(
            try JSONSerialization.jsonObject(with: Data(answer.text.utf8)) as? [String: Any])
        #expect((archive["transactions"] as? [Any])?.count == 1)
        #expect(try await browser.get("/console/customers/-/zoe/export").status == 404)
    }

    @Test func `an administrator erases a customer by typing the name`() async throws {
        let transaction = try await console.buy("garden.gate", for: alice)
        let browser = try await console.browser(.admin)
        for name in ["", "Alice", "alic", "bob"] {
            let answer = try await browser.post(Self.path + "/erasure", ["erase-name": name], from: Self.path)
            #expect(answer.status == 422)
        }
        #expect(try await console.entitlements.ledger.read { try $0.customer(alice) } != nil)
        let answer = try await browser.post(Self.path + "/erasure", ["erase-name": "alice"], from: Self.path)
        #expect(answer.location == "/console/customers?done=erased")
        #expect(try await browser.get(Self.path).status == 404)
        #expect(try await browser.post(Self.path + "/erasure", ["erase-name": "alice"], from: "/console").status == 404)
        let erasures = try await console.ledger.read { transaction in
            try transaction.database.rows("SELECT actor FROM audit WHERE event = 'erased'") {
                try $0.next() as String
            }
        }
        #expect(erasures == ["member admin"])
        // The search for the purchase says by whom the customer was erased, and when.
        let found = try await browser.get("/console/customers?search=\(transaction)").words
        #expect(found.contains("An erased customer") && found.contains("admin · 2026-10-31"))
    }

    @Test(arguments: TeamRole.allCases)
    func `a role sees and may do only what it is for`(role: TeamRole) async throws {
        let transaction = try await console.buy("garden.gate", for: alice)
        let browser = try await console.browser(role)
        let page = try await browser.get(Self.path)
        let (supports, administers) = (
            role.permissions.contains(.support), role.permissions.contains(.administer)
        )
        #expect(page.has("Give the item") == supports && page.has("/export\"") == supports)
        #expect(page.has("Erase the customer") == administers)
        let before = try await console.audit(of: alice)
        for path in [
            "/grants", "/balances", "/grants/x/revocation", "/webhooks", "/transactions/\(transaction)/revocation",
            "/transactions/\(transaction)/reinstatement",
        ] where !supports {
            #expect(try await browser.post(Self.path + path, ["reason": "x"], from: Self.path).status == 403, "\(path)")
        }
        if !supports { #expect(try await browser.get(Self.path + "/export").status == 403) }
        if !administers {
            let answer = try await browser.post(Self.path + "/erasure", ["erase-name": "alice"], from: Self.path)
            #expect(answer.status == 403)
        }
        let transactionPage = try await browser.get(Self.path + "/transactions/\(transaction)")
        #expect(transactionPage.has("Revoke the purchase") == supports)
        #expect(try await console.audit(of: alice) == before)
    }

    @Test func `reasons are shown as text`() async throws {
        let browser = try await console.browser(.support)
        for reason in [
            "<script>alert(1)</script>", "\"'><img src=x>", "שלום & <b>", String(repeating: "가", count: 500),
        ] {
            let fields = try await fields(browser, "/grants", ["give-item": "gate 1", "give-reason": reason])
            #expect(try await browser.post(Self.path + "/grants", fields, from: Self.path).status == 303)
            let page = try await browser.get(Self.path)
            #expect(page.has(reason.forHTML) && !page.has("<script>alert") && !page.has("<img src=x"))
        }
    }
}
