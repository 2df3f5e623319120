import AppStore
import Foundation
import Ledger
import Proofs
import Testing
import Vocabulary

/// Purchases at the local store through the console, and their redemption at the service.
@Suite struct LocalStorePurchaseTests {
    private func fields(_ product: String, _ others: [String: String] = [:]) -> [String: String] {
        ["account": "alice", "product": "garden.\(product)", "quantity": "1", "outcome": "purchased"].merging(others) {
            $1
        }
    }

    @Test func `buy and redeem goes the whole way in one step`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        let answer = try await browser.post(
            "/console/store/buy", fields("gate", ["user": "alice.kim", "then": "redeem"]), from: "/console/store/buy")
        #expect(answer.location == "/console/store?payment=1&done=bought")
        #expect(try await fixture.items(of: "alice.kim") == ["gate 1"])
        let user = try #require(User(name: "alice.kim"))
        let audit = try await fixture.ledger.read { try $0.audit(of: user, after: 0, limit: 9) }
        #expect(audit.contains { $0.entry.actor == .member("support") })
        let sold = try #require(try fixture.store.history(of: "alice").first)
        // The app sends the service's token of the user.
        #expect(try await fixture.entitlements.appAccountToken(of: user) == sold.appAccountToken)
        let queued = try fixture.store.queuedTransaction(1)
        #expect(queued.transaction.state == .finished)
        let page = try await browser.get("/console/store?payment=1&done=bought")
        for text in [
            "Charged", "USD 19.99", sold.transactionIdentifier, "Redeemed by", "alice.kim", "gate 1",
            "/console/customers/-/alice.kim", "The app has finished the transaction.", "Bought.",
        ] {
            #expect(page.has(text), "\(text)")
        }
    }

    @Test func `a purchase alone waits for the app, which redeems it later`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.catalog)
        _ = try await browser.post(
            "/console/store/buy", fields("gate", ["user": "bob"]), from: "/console/store/buy")
        let sold = try #require(try fixture.store.history(of: "alice").first)
        #expect(sold.appAccountToken == nil)
        let path = "/console/store/transactions/\(sold.transactionIdentifier)"
        let page = "/console/store?transaction=\(sold.transactionIdentifier)"
        let before = try await browser.get(page)
        #expect(before.has("The service knows nothing of it yet.") && before.has("name=\"user\" value=\"alice\""))
        let answer = try await browser.post("\(path)/redeem", ["user": "bob"], from: page)
        #expect(answer.location == "\(page)&done=redeemed")
        #expect(try await fixture.items(of: "bob") == ["gate 1"])
        #expect(try await browser.get(page).has("/console/customers/-/bob"))
        #expect(try fixture.store.queuedTransaction(1).transaction.state == .finished)
        // Another user's app is refused.
        let refused = try await browser.post("\(path)/redeem", ["user": "carol"], from: page)
        #expect(refused.status == 409 && refused.has("ownedByAnotherUser"))
        // The console's redemptions are counted like those of apps.
        #expect(fixture.metrics.text(queueDepth: 0).contains(#"till_redemptions_total{outcome="granted",code=""} 1"#))
        #expect(fixture.metrics.refusals.map(\.code) == ["ownedByAnotherUser"])
        #expect(try await browser.post("\(path)/redeem", ["user": "a b"], from: page).status == 422)
        #expect(try await browser.post("\(path)/redeem", [:], from: page).status == 422)
    }

    @Test func `a proof that the service refuses stays in the queue, and the page has the code`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.admin)
        _ = try fixture.store.update { $0.simulatedErrors[.verification] = .invalidSignature }
        let answer = try await browser.post(
            "/console/store/buy", fields("gate", ["user": "alice", "then": "redeem"]), from: "/console/store/buy")
        #expect(answer.location == "/console/store?payment=1&refused=signatureInvalid&done=bought")
        let page = try await browser.get(try #require(answer.location))
        #expect(page.has("the service refused the proof") && page.has("signatureInvalid"))
        #expect(try await fixture.items(of: "alice") == [])
        #expect(try fixture.store.queuedTransaction(1).transaction.state == .purchased)
    }

    @Test func `a deferred payment is approved or declined`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        for _ in 0..<2 {
            let answer = try await browser.post(
                "/console/store/buy", fields("seeds", ["outcome": "deferred"]), from: "/console/store/buy")
            #expect(answer.location?.contains("done") == false)
        }
        let (path, page) = ("/console/store/queue/1", "/console/store?payment=1")
        #expect(try await browser.get(page).has("\(path)/approve"))
        #expect(
            try await browser.post("\(path)/approve", [:], from: page).location == "\(page)&done=approved")
        #expect(try await !browser.get(page).has("\(path)/approve"))
        #expect(try await browser.post("\(path)/approve", [:], from: page).status == 409)
        _ = try await browser.post("/console/store/queue/2/decline", [:], from: page)
        #expect(try fixture.store.queuedTransaction(1).transaction.state == .purchased)
        #expect(try fixture.store.queuedTransaction(2).transaction.error == .paymentCancelled)
        #expect(try await browser.post("\(path)/finish", [:], from: page).status == 303)
        #expect(try fixture.store.queuedTransaction(1).transaction.state == .finished)
        for number in ["99", "x"] { #expect(try await browser.get("/console/store?payment=\(number)").status == 404) }
    }

    @Test func `an interrupted purchase is resolved as another payment`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        _ = try await browser.post(
            "/console/store/buy", fields("seeds", ["outcome": "interrupted"]), from: "/console/store/buy")
        #expect(try await browser.get("/console/store?payment=1").has("Interrupted"))
        let answer = try await browser.post(
            "/console/store/queue/1/resolve", [:], from: "/console/store?payment=1")
        #expect(answer.location == "/console/store?payment=2&done=bought")
        #expect(try fixture.store.queuedTransaction(2).transaction.state == .purchased)
        #expect(try await !browser.get("/console/store?payment=1").has("queue/1/resolve"))
    }

    @Test func `a payment has the quantity, the offer, the token and the outcome of the form`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        let token = UUID()
        _ = try await browser.post(
            "/console/store/buy",
            fields("seeds", ["quantity": "3", "token": token.uuidString, "user": "bob", "then": "redeem"]),
            from: "/console/store/buy")
        let seeds = try #require(try fixture.store.history(of: "alice").first)
        #expect((seeds.quantity, seeds.appAccountToken) == (3, token))
        _ = try await browser.post(
            "/console/store/buy", fields("basic.monthly", ["offer": "offerCode FAIR"]), from: "/console/store/buy")
        let subscribed = try #require(try fixture.store.history(of: "alice").last)
        #expect(subscribed.offer?.kind == .offerCode)
        _ = try await browser.post(
            "/console/store/buy", fields("gate", ["outcome": "paymentInvalid"]), from: "/console/store/buy")
        #expect(try await browser.get("/console/store?payment=3").has("paymentInvalid"))
        #expect(try fixture.store.history(of: "alice").count == 2)
    }

    @Test func `a payment for a subscription shows its effect`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        for product in ["premium.monthly", "premium.monthly"] {
            _ = try await browser.post("/console/store/buy", fields(product), from: "/console/store/buy")
        }
        let same = try await browser.get("/console/store?payment=2")
        #expect(same.has("Already subscribed, so nothing was charged.") && same.has("2026-11-10"))
        _ = try await browser.post("/console/store/buy", fields("basic.monthly"), from: "/console/store/buy")
        let change = try await browser.get("/console/store?payment=3")
        #expect(change.has("The subscription changes to") && change.has("2026-11-10"))
        #expect(try await browser.get("/console/store?payment=1").has("USD 9.99"))
    }

    @Test func `a commitment is bought where Apple sells it, and its pages have its progress`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        let commitment = fields("basic.yearly", ["billing-plan": "monthly"])
        let refused = try await browser.post("/console/store/buy", commitment, from: "/console/store/buy")
        #expect(refused.status == 409 && refused.has("does not sell the monthly billing plan in the storefront USA"))
        _ = try fixture.store.update { $0.storefront = "DEU" }
        _ = try await browser.post("/console/store/buy", commitment, from: "/console/store/buy")
        _ = try fixture.store.advance(.oneMonth)
        let latest = try #require(try fixture.store.history(of: "alice").last)
        let page = try await browser.get("/console/store?transaction=\(latest.transactionIdentifier)")
        for text in ["Monthly, with a commitment of twelve months", "2 / 12", "End of the commitment", "2027-10-10"] {
            #expect(page.has(text), "\(text)")
        }
    }

    @Test(arguments: [
        (["account": ""], 422), (["account": String(repeating: "a", count: 257)], 422), (["product": "x"], 404),
        (["quantity": "11"], 422), (["quantity": "x"], 422), (["outcome": "x"], 422), (["token": "x"], 422),
        (["offer": "introductory x"], 422), (["offer": "x"], 422), (["user": "a b", "then": "redeem"], 422),
        (["then": "redeem"], 422), (["billing-plan": "weekly"], 422), (["billing-plan": "monthly"], 409),
    ])
    func `a wrong field buys nothing`(wrong: [String: String], status: Int) async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        let answer = try await browser.post("/console/store/buy", fields("gate", wrong), from: "/console/store/buy")
        #expect(answer.status == status)
        #expect(try fixture.store.transactions().isEmpty)
    }

    @Test func `a simulated error of a purchase is shown`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        _ = try fixture.store.update { $0.simulatedErrors[.purchase] = .networkError }
        let answer = try await browser.post("/console/store/buy", fields("gate"), from: "/console/store/buy")
        #expect(answer.status == 409 && answer.has("storeKitError") && answer.has("networkError"))
    }

    @Test func `the account decides the user that redeems`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        _ = try await browser.post(
            "/console/store/buy", fields("gate", ["account": "phone", "user": "alice.kim", "then": "redeem"]),
            from: "/console/store/buy")
        for (account, user) in [("phone", "alice.kim"), ("bob", "bob"), ("a b", "")] {
            let address = account.replacing(" ", with: "%20")
            let page = try await browser.get("/console/store?account=\(address)")
            #expect(page.has("href=\"/console/store/buy?account=\(address)\""), "\(account)")
            let form = try await browser.get("/console/store/buy?account=\(address)")
            #expect(form.has("name=\"user\" value=\"\(user)\""), "\(account)")
        }
    }

    @Test func `the form suggests the latest accounts and the product of a link`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        for account in ["alice", "bob"] { _ = try fixture.buy("seeds", account: account) }
        let page = try await browser.get("/console/store/buy?product=garden.gate")
        #expect(page.has("<option value=\"alice\">") && page.has("<option value=\"garden.gate\" selected>"))
        #expect(page.has("name=\"account\" value=\"bob\""))
        #expect(page.has("<option value=\"promotional spring\">"))
        #expect(page.has("name=\"user\" value=\"bob\""))
        #expect(page.has("<optgroup label=\"Consumable\">") && page.has("USD 9.99 · 1 month</option>"))
    }
}
