import AppStore
import Proofs
import Testing

/// The actions on a transaction of the local store through the console.
@Suite struct LocalStoreActionTests {
    @Test func `a subscription has a form for a retention message, which needs an address`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        let gate = try fixture.buy("gate")
        #expect(try await !browser.get(page(gate)).has("/retention\""))
        let sold = try fixture.buy("premium.monthly")
        let form = path(sold) + "/retention"
        #expect(try await browser.get(page(sold)).has("action=\"\(form)\""))
        let refused = try await browser.post(form, ["locale": ""], from: page(sold))
        #expect(refused.status == 409 && refused.has("Retention messaging has no address."))
        #expect(try await browser.post(form, ["locale": "1"], from: page(sold)).status == 422)
    }

    /// The address of the actions on a transaction.
    private func path(_ sold: String) -> String { "/console/store/transactions/\(sold)" }
    /// The page with the inspector of a transaction.
    private func page(_ sold: String) -> String { "/console/store?transaction=\(sold)" }

    @Test func `a transaction shows all facts, its signed form and its renewals`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        let sold = try fixture.buy("premium.monthly")
        _ = try fixture.store.advance(.period(try #require(SubscriptionPeriod("P1M"))))
        let facts = try fixture.store.sale(sold)
        let renewal = try #require(try fixture.store.history(of: "alice").last).transactionIdentifier
        let shown = try await browser.get(page(sold))
        for text in [
            sold, facts.orderIdentifier, "alice", "garden.premium.monthly", "USD 9.99", "USA", renewal,
            "Periods of the subscription", "/console/store?purchase=\(sold)&amp;transaction=\(sold)",
            "data-copy=\"proof\"", "Automatic renewal",
        ] {
            #expect(shown.has(text), "\(text)")
        }
        let proof = try #require(shown.text.firstMatch(of: /<pre id="proof"[^>]*>([^<]+)</)?.1)
        #expect(try fixture.garden.transaction(String(proof)).transactionId == sold)
        #expect(try await browser.get(page("1")).status == 404)
    }

    @Test func `a refund has a reason, and can be reversed`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        let sold = try fixture.buy("gate")
        #expect(try await !browser.get(page(sold)).has("/reverseRefund"))
        let answer = try await browser.post(path(sold) + "/refund", ["refund-reason": "1"], from: page(sold))
        #expect(answer.location == page(sold) + "&done=refunded")
        #expect(try fixture.store.sale(sold).revocation?.reason == .refundedDueToIssue)
        let shown = try await browser.get(page(sold))
        #expect(shown.has("Refunded</span>") && shown.has("An issue in the app") && !shown.has("/refund\""))
        #expect(
            try await browser.post(path(sold) + "/refund", ["refund-reason": "1"], from: page(sold)).status == 409)
        #expect(
            try await browser.post(path(sold) + "/refund", ["refund-reason": "7"], from: page(sold)).status == 422)
        _ = try await browser.post(path(sold) + "/reverseRefund", [:], from: page(sold))
        #expect(try fixture.store.sale(sold).revocation == nil)
    }

    @Test func `a refund can be of a part of the price`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        let sold = try fixture.buy("gate")
        func refund(_ fields: [String: String]) async throws -> Int {
            let form = fields.merging(["refund-reason": "0"]) { $1 }
            return try await browser.post(path(sold) + "/refund", form, from: page(sold)).status
        }
        #expect(try await refund(["refund-percentage": "101"]) == 422)
        // Nothing is known of the consumption.
        #expect(try await refund(["refund-rest": "yes"]) == 409)
        #expect(try await refund(["refund-percentage": "66.66"]) == 303)
        let shown = try await browser.get(page(sold))
        #expect(shown.has("Partly refunded</span>") && shown.has("66.66%"))
        _ = try await browser.post(path(sold) + "/reverseRefund", [:], from: page(sold))
        #expect(try fixture.store.sale(sold).revocation == nil)
    }

    @Test func `a refund request asks for the consumption, and is declined`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        let sold = try fixture.buy("seeds")
        let early = try await browser.post(path(sold) + "/declineRefund", [:], from: page(sold))
        #expect(early.status == 409 && early.has("has not requested a refund"))
        #expect(try await !browser.get(page(sold)).has("/declineRefund"))
        _ = try await browser.post(path(sold) + "/requestRefund", ["request-reason": "LEGAL"], from: page(sold))
        #expect(try await browser.get(page(sold)).has("/declineRefund"))
        #expect(try await browser.get("/console/store?state=refundRequested").has("Refund requested</span>"))
        _ = try await browser.post(path(sold) + "/declineRefund", [:], from: page(sold))
        #expect(
            try fixture.store.notifications().map(\.type) == [.oneTimeCharge, .consumptionRequest, .refundDeclined])
        #expect(
            try await browser.post(path(sold) + "/requestRefund", ["request-reason": "x"], from: page(sold)).status
                == 422)
    }

    @Test func `a purchase is shared with the family, and the sharing ends`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        let sold = try fixture.buy("gate")
        _ = try await browser.post(path(sold) + "/share", ["member": "bob"], from: page(sold))
        let shared = try #require(try fixture.store.history(of: "bob").first)
        let shown = try await browser.get(page(shared.transactionIdentifier))
        #expect(shown.has("Shared by the family") && shown.has("/revokeFamilySharing"))
        _ = try await browser.post(
            path(shared.transactionIdentifier) + "/revokeFamilySharing", [:], from: page(sold))
        #expect(try fixture.store.sale(shared.transactionIdentifier).revocation?.type == .familyRevoke)
        #expect(try await browser.post(path(sold) + "/share", ["member": "alice"], from: page(sold)).status == 409)
    }

    @Test func `a member accepts an invitation to a seat, and the seat ends`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        let sold = try fixture.buy("premium.monthly")
        #expect(try await !browser.get(page(sold)).has("/acceptInvitation"))
        try fixture.store.changeSeats(of: sold, to: 2)
        _ = try await browser.post(path(sold) + "/acceptInvitation", ["member": "bob"], from: page(sold))
        let seat = try #require(try fixture.store.history(of: "bob").first).transactionIdentifier
        let shown = try await browser.get(page(seat))
        #expect(shown.has("A seat that another account has paid for") && shown.has("/revokeSeat"))
        #expect(!shown.has("/turnAutoRenewOff") && !shown.has("/refund\""))
        _ = try await browser.post(path(seat) + "/revokeSeat", [:], from: page(seat))
        #expect(try fixture.store.sale(seat).revocation?.type == .assignmentRevoke)
        #expect(try await browser.get(page(seat)).has("Seat ended"))
        #expect(
            try await browser.post(path(sold) + "/acceptInvitation", ["member": "alice"], from: page(sold)).status
                == 409)
    }

    @Test func `an account gets a family, and leaves it`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        _ = try fixture.buy("gate")
        let page = "/console/store?account=alice"
        #expect(try await !browser.get(page).has("/family/leave"))
        func send(_ form: String, _ fields: [String: String]) async throws -> Int {
            try await browser.post("/console/store/account/family\(form)", fields, from: page).status
        }
        #expect(try await send("", ["account": "alice", "relative": "bob"]) == 303)
        #expect(try fixture.store.history(of: "bob").map(\.ownership) == [.familyShared])
        let joined = try await browser.get(page)
        #expect(joined.has("Organizer") && joined.has("account=bob") && joined.has("/family/leave"))
        #expect(try await send("", ["account": "alice", "relative": "bob"]) == 409)
        #expect(try await send("", ["account": "alice", "relative": ""]) == 422)
        #expect(try await send("/leave", ["account": "bob"]) == 303)
        #expect(try fixture.store.history(of: "bob").map { $0.revocation?.type } == [.familyRevoke])
    }

    @Test func `a subscription renews, ends and begins to renew again`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        let sold = try fixture.buy("premium.monthly")
        func post(_ action: String, _ fields: [String: String] = [:]) async throws -> SubscriptionSummary? {
            let answer = try await browser.post(path(sold) + "/" + action, fields, from: page(sold))
            #expect(answer.status == 303, "\(action)")
            return try fixture.store.listedTransaction(sold).subscription
        }
        #expect(try await post("turnAutoRenewOff")?.isAutoRenewing == false)
        #expect(try await browser.get(page(sold)).has("/turnAutoRenewOn"))
        #expect(try await post("turnAutoRenewOn")?.isAutoRenewing == true)
        #expect(try await post("forceRenewal")?.status == .active)
        #expect(try fixture.store.history(of: "alice").count == 2)
        #expect(try await post("failRenewal", ["then": "4"])?.status == .billingGracePeriod)
        #expect(try await browser.get(page(sold)).has("Grace period</span>"))
        #expect(try await post("resolveBillingIssue")?.status == .active)
        #expect(try await post("failRenewal", ["then": "3"])?.status == .billingRetry)
        #expect(try await post("resolveBillingIssue")?.status == .active)
        #expect(try await post("expire")?.status == .expired)
        let shown = try await browser.get(page(sold))
        #expect(shown.has("The customer cancelled") && !shown.has("/forceRenewal"))
        #expect(try await browser.post(path(sold) + "/forceRenewal", [:], from: page(sold)).status == 409)
    }

    @Test func `a price increase waits for consent, or for none`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        let sold = try fixture.buy("premium.monthly")
        func post(_ action: String, _ fields: [String: String] = [:]) async throws -> Int {
            try await browser.post(path(sold) + "/" + action, fields, from: page(sold)).status
        }
        #expect(try await post("requestPriceIncrease", ["price": "12.50", "needs-consent": "yes"]) == 303)
        let shown = try await browser.get(page(sold))
        #expect(shown.has("USD 12.50") && shown.has("Waits for consent") && shown.has("/consentToPriceIncrease"))
        #expect(try await post("consentToPriceIncrease") == 303)
        #expect(try fixture.store.listedTransaction(sold).subscription?.priceIncrease?.isAccepted == true)
        #expect(try await post("requestPriceIncrease", ["price": "13", "needs-consent": "yes"]) == 303)
        #expect(try await post("declinePriceIncrease") == 303)
        #expect(try fixture.store.listedTransaction(sold).subscription?.isAutoRenewing == false)
        #expect(try await post("turnAutoRenewOn") == 303)
        #expect(try await post("requestPriceIncrease", ["price": "14"]) == 303)
        #expect(try fixture.store.listedTransaction(sold).subscription?.priceIncrease?.isAccepted == true)
        #expect(try await post("requestPriceIncrease", ["price": "cheap"]) == 422)
        #expect(try await post("requestPriceIncrease", ["price": "1"]) == 409)
    }

    @Test func `an action keeps the filters of the list`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        let (gate, sold) = (try fixture.buy("gate"), try fixture.buy("seeds", account: "bob"))
        let filtered = "/console/store?account=bob&product=garden.seeds"
        let list = try await browser.get(filtered)
        let row = "\(filtered)&transaction=\(sold)"
        #expect(list.has("href=\"\(row.replacing("&", with: "&amp;"))#inspector\"") && !list.has(gate))
        let form = path(sold) + "/refund?account=bob&product=garden.seeds"
        #expect(try await browser.get(row).has("action=\"\(form.replacing("&", with: "&amp;"))\""))
        let answer = try await browser.post(form, ["refund-reason": "1"], from: row)
        #expect(answer.location == row + "&done=refunded")
        #expect(try await browser.get("/console/store?state=revoked").has(sold))
        #expect(try await !browser.get("/console/store?state=revoked").has(gate))
    }

    @Test func `a deleted transaction is gone`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        let sold = try fixture.buy("premium.monthly")
        let answer = try await browser.post(path(sold) + "/delete", [:], from: page(sold))
        #expect(answer.location == "/console/store?done=removed")
        #expect(try fixture.store.history(of: "alice").isEmpty)
        #expect(try await browser.get(page(sold)).status == 404)
    }

    @Test func `a page offers the actions that the store performs, and no other`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        for name in ["seeds", "gate", "premium.monthly"] {
            let sold = try fixture.buy(name)
            let shown = try await browser.get(page(sold))
            let actions = try fixture.store.listedTransaction(sold).actions
            for action in TransactionAction.allCases {
                #expect(
                    shown.has("action=\"\(path(sold))/\(action.rawValue)\"") == actions.contains(action), "\(action)")
            }
        }
    }
}
