import Entitlements
import Features
import Foundation
import HTTPSupport
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The pages of purchases that nobody has redeemed.
@Suite struct UnclaimedPagesTests {
    let fixture: ConsoleFixture
    let alice: User

    init() async throws {
        fixture = try await ConsoleFixture()
        alice = try #require(User(name: "alice"))
        _ = try await fixture.entitlements.appAccountToken(of: alice)
    }

    /// Buys a product that the App Store notifies of, and that nobody redeems.
    ///
    /// - Returns: The identifier of the transaction.
    private func park(
        _ product: String = "sprout2", naming token: UUID? = nil, account: String = "stranger"
    ) async throws -> String {
        _ = try fixture.shop.store.add(
            Payment(productIdentifier: "com.memolease.sesac1.\(product)", appAccountToken: token), account: account)
        let transaction = try #require(try fixture.shop.store.process(account: account).first)
        try await fixture.notify()
        return try #require(transaction.purchase).transactionIdentifier
    }

    private func path(_ transaction: String) -> String { "/console/unclaimed/\(transaction)" }

    private func fields(_ changes: [String: String] = [:]) -> [String: String] {
        [
            "origin": "local/Sandbox", "app": fixture.shop.catalog.bundleIdentifier, "user": "alice", "issuer": "",
            "reason": "Invoice 7",
        ].merging(changes) { $1 }
    }

    private func assign(
        _ transaction: String, _ changes: [String: String] = [:], by browser: Browser
    ) async throws -> Browser.Page {
        try await browser.post(path(transaction) + "/assignment", fields(changes), from: path(transaction))
    }

    @Test func `unclaimed purchases are listed, searched and paged`() async throws {
        let browser = try await fixture.browser(.viewer)
        #expect(try await browser.get("/console/unclaimed").has("No unclaimed purchases."))
        let first = try await park("sprout2", account: "one")
        let second = try await park("sprout3", account: "two")
        let all = try await browser.get("/console/unclaimed")
        #expect(all.status == 200 && all.has(first) && all.has(second))
        #expect(all.has("com.memolease.sesac1.sprout3"))
        let found = try await browser.get("/console/unclaimed?transaction=\(first)&app=")
        #expect(found.has("/console/unclaimed/\(first)") && !found.has("/console/unclaimed/\(second)"))
        let page = try await browser.get("/console/unclaimed?pageSize=1")
        let next = try #require(page.text.firstMatch(of: /href="(\/console\/unclaimed\?cursor=[^"]+)"/)).1
        #expect(try await browser.get(String(next)).text != page.text)
        #expect(try await browser.get("/console/unclaimed?cursor=AAAA").status == 400)
        #expect(try await browser.get("/console/unclaimed?app=com.example.other").has("No unclaimed purchases."))
    }

    @Test func `the newest statements come first, of a product and of a day`() async throws {
        let first = try await park("sprout2", account: "one")
        fixture.shop.clock.advance(milliseconds: 2 * 86_400_000)
        let second = try await park("sprout3", account: "two")
        let browser = try await fixture.browser(.viewer)
        let all = try await browser.get("/console/unclaimed").text
        let places = [second, first].compactMap { all.firstRange(of: "/console/unclaimed/\($0)")?.lowerBound }
        #expect(places.count == 2 && places == places.sorted())
        func shows(_ query: String) async throws -> [Bool] {
            let page = try await browser.get("/console/unclaimed?" + query)
            return [first, second].map { page.has("/console/unclaimed/\($0)") }
        }
        #expect(try await shows("product=com.memolease.sesac1.sprout2") == [true, false])
        let today = CalendarDay(fixture.shop.clock.now())
        #expect(try await shows("day=\(today)&product=&transaction=") == [false, true])
        #expect(try await shows("day=\(today.adding(days: -2))") == [true, false])
        #expect(try await shows("day=\(today)&product=com.memolease.sesac1.sprout2") == [false, false])
        #expect(try await browser.get("/console/unclaimed?day=today").status == 400)
        let page = try await browser.get("/console/unclaimed?pageSize=1&day=\(today.adding(days: -2))")
        #expect(!page.has("cursor="))
    }

    @Test func `an explanation offers nobody's purchase, and leads to the search by order number`() async throws {
        let transaction = try await park()
        let browser = try await fixture.browser(.support)
        let why = try await browser.get("/console/customers/-/alice/explanation?item=sprout+2")
        #expect(why.has("may be anybody") && why.has("Search by order number"))
        #expect(!why.has(transaction) && !why.has("/console/unclaimed/") && !why.has("/v1/"))
    }

    @Test func `an unclaimed purchase has its product by name, its price, its storefront and its date`() async throws {
        let transaction = try await park()
        let browser = try await fixture.browser(.viewer)
        for page in [path(transaction), "/console/unclaimed"] {
            let words = try await browser.get(page).words
            #expect(words.contains("Mint Sprout"), "\(page)")
            #expect(words.contains("KRW") && words.contains("South Korea (KOR)"), "\(page)")
            #expect(words.contains("\(CalendarDay(fixture.shop.clock.now()))"), "\(page)")
        }
    }

    @Test func `the purchases that imports expect are counted`() async throws {
        let browser = try await fixture.browser(.viewer)
        #expect(try await !browser.get("/console/unclaimed").has("Imports also expect"))
        let purchases = ["1", "2"].map {
            ExpectedPurchase(
                app: fixture.shop.catalog.bundleIdentifier, origin: .localSandbox, originalTransactionIdentifier: $0,
                productIdentifier: "com.memolease.sesac1.sprout1", purchaseDate: fixture.shop.clock.now(),
                expiresAt: nil)
        }
        _ = try await fixture.ledger.write {
            try $0.add(imported: alice, purchases: purchases, by: "process", at: purchases[0].purchaseDate)
        }
        let page = try await browser.get("/console/unclaimed")
        #expect(page.has("Imports also expect 2 purchases") && page.has("No unclaimed purchases."))
        let korean = try await browser.get("/console/unclaimed", headers: [.acceptLanguage: "ko"])
        #expect(korean.has("가져온 구매 2건도 증명을 기다리며"))
    }

    @Test func `support assigns a purchase to a user under the member's name`() async throws {
        let transaction = try await park()
        let browser = try await fixture.browser(.support, name: "Ada Kim")
        let page = try await browser.get(path(transaction))
        #expect(page.has("sprout 2") && page.has("Assign"))
        let answer = try await assign(transaction, by: browser)
        #expect(answer.location == "/console/customers/-/alice?done=assigned")
        #expect(
            try await fixture.entitlements.items(of: alice).contains {
                $0.item == Item(collection: "sprout", number: 2)
            })
        let entries = try fixture.ledger.readNow { try $0.audit(of: alice) }.map(\.entry)
        let entry = try #require(entries.first { $0.event == .assigned })
        #expect(entry.reason == "Invoice 7" && entry.actor == .member("Ada Kim"))
        #expect(try await browser.get(path(transaction)).status == 404)
        #expect(try await assign(transaction, by: browser).status == 404)
    }

    @Test func `a user is named by the account token, too`() async throws {
        let transaction = try await park()
        let browser = try await fixture.browser(.support)
        let token = try await fixture.entitlements.appAccountToken(of: alice)
        #expect(try await assign(transaction, ["user": token.uuidString.lowercased()], by: browser).status == 303)
        #expect(try await fixture.entitlements.items(of: alice).count > 1)
    }

    @Test func `a misspelled user, a missing reason and another origin are refused`() async throws {
        let transaction = try await park()
        let browser = try await fixture.browser(.support)
        let unknown = try await assign(transaction, ["user": "alise"], by: browser)
        #expect(unknown.status == 404 && unknown.has("userNotFound"))
        #expect(try await assign(transaction, ["reason": ""], by: browser).status == 422)
        #expect(try await assign(transaction, ["reason": "a\u{202E}b"], by: browser).status == 422)
        #expect(
            try await assign(transaction, ["reason": String(repeating: "a", count: 501)], by: browser).status == 422)
        #expect(try await assign(transaction, ["origin": "apple"], by: browser).status == 422)
        #expect(try await assign(transaction, ["origin": "apple/Sandbox"], by: browser).status == 404)
        #expect(try await assign(transaction, ["app": "com.example.other"], by: browser).status == 404)
        #expect(try await fixture.entitlements.unclaimedPurchases(ofTransaction: nil, after: nil, limit: 9).count == 1)
        let users = try await fixture.entitlements.ledger.read { try $0.users(identifiedBy: "alise") }
        #expect(users.isEmpty)
    }

    @Test func `two users of one name need the issuer`() async throws {
        let other = try #require(User(issuer: "https://id.example.com", name: "alice"))
        _ = try await fixture.entitlements.appAccountToken(of: other)
        let transaction = try await park()
        let browser = try await fixture.browser(.support)
        let ambiguous = try await assign(transaction, by: browser)
        #expect(ambiguous.status == 409 && ambiguous.has("userAmbiguous"))
        #expect(try await assign(transaction, ["issuer": "https://id.example.com"], by: browser).status == 303)
        #expect(try await fixture.entitlements.items(of: other).count > 1)
    }

    @Test func `a refusal is shown with its cause and remedy, in both languages`() async throws {
        let token = UUID()
        let transaction = try await park(naming: token)
        let bob = try #require(User(name: "bob"))
        #expect(try await fixture.entitlements.setAppAccountToken(token, of: bob) == .set)
        let browser = try await fixture.browser(.support)
        let refused = try await assign(transaction, by: browser)
        #expect(refused.status == 409 && refused.has("appAccountTokenMismatch"))
        #expect(refused.has("Ask the customer to log in as the user who bought it."))
        _ = try await browser.post("/console/language", ["language": "ko"], from: "/console/unclaimed")
        #expect(try await assign(transaction, by: browser).has("고객에게 구매한 사용자로 로그인하도록 요청하세요."))
        #expect(try await assign(transaction, ["user": "bob"], by: browser).status == 303)
    }

    @Test func `a viewer sees no form, and a direct request is refused`() async throws {
        let transaction = try await park()
        for role in [TeamRole.viewer, .catalog] {
            let browser = try await fixture.browser(role)
            #expect(try await browser.get(path(transaction)).has("assignment") == false)
            let answer = try await browser.post(
                path(transaction) + "/assignment", fields(), from: "/console/account")
            #expect(answer.status == 403)
        }
        #expect(try await fixture.entitlements.unclaimedPurchases(ofTransaction: nil, after: nil, limit: 9).count == 1)
    }

    @Test func `the pages speak Korean`() async throws {
        let transaction = try await park()
        let browser = try await fixture.browser(.support)
        _ = try await browser.post("/console/language", ["language": "ko"], from: "/console/unclaimed")
        #expect(try await browser.get("/console/unclaimed").has("소유자 미확인 구매"))
        #expect(try await browser.get(path(transaction)).has("사용자에게 구매 배정"))
    }
}
