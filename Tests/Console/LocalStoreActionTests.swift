import AppStore
import Proofs
import Testing

/// The actions on a transaction of the local store through the console.
@Suite struct LocalStoreActionTests {
    @Test func `a subscription has a form for a retention message, which needs an address`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        let gate = try fixture.buy("gate")
        #expect(try await !browser.get("/console/store/transactions/\(gate)").has("/retention\""))
        let path = "/console/store/transactions/\(try fixture.buy("premium.monthly"))"
        #expect(try await browser.get(path).has("action=\"\(path)/retention\""))
        let refused = try await browser.post("\(path)/retention", ["locale": ""], from: path)
        #expect(refused.status == 409 && refused.has("Retention messaging has no address."))
        #expect(try await browser.post("\(path)/retention", ["locale": "1"], from: path).status == 422)
    }

    private func path(_ sold: String) -> String { "/console/store/transactions/\(sold)" }

    @Test func `a transaction shows all facts, its signed form and its renewals`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        let sold = try fixture.buy("premium.monthly")
        _ = try fixture.store.advance(.period(try #require(SubscriptionPeriod("P1M"))))
        let facts = try fixture.store.sale(sold)
        let renewal = try #require(try fixture.store.history(of: "alice").last).transactionIdentifier
        let page = try await browser.get(path(sold))
        for text in [
            sold, facts.orderIdentifier, "alice", "garden.premium.monthly", "USD 9.99", "USA", renewal,
            "Periods of the subscription", "data-copy=\"proof\"", "Automatic renewal",
        ] {
            #expect(page.has(text), "\(text)")
        }
        let proof = try #require(page.text.firstMatch(of: /<pre id="proof"[^>]*>([^<]+)</)?.1)
        #expect(try fixture.garden.transaction(String(proof)).transactionId == sold)
        #expect(try await browser.get(path("1")).status == 404)
    }

    @Test func `a refund has a reason, and can be reversed`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        let sold = try fixture.buy("gate")
        #expect(try await !browser.get(path(sold)).has("/reverseRefund"))
        let answer = try await browser.post(path(sold) + "/refund", ["refund-reason": "1"], from: path(sold))
        #expect(answer.location == path(sold) + "?done=refunded")
        #expect(try fixture.store.sale(sold).revocation?.reason == .refundedDueToIssue)
        let page = try await browser.get(path(sold))
        #expect(page.has("Refunded") && page.has("An issue in the app") && !page.has("/refund\""))
        #expect(
            try await browser.post(path(sold) + "/refund", ["refund-reason": "1"], from: path(sold)).status == 409)
        #expect(
            try await browser.post(path(sold) + "/refund", ["refund-reason": "7"], from: path(sold)).status == 422)
        _ = try await browser.post(path(sold) + "/reverseRefund", [:], from: path(sold))
        #expect(try fixture.store.sale(sold).revocation == nil)
    }

    @Test func `a refund request asks for the consumption, and is declined`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        let sold = try fixture.buy("seeds")
        _ = try await browser.post(path(sold) + "/requestRefund", ["request-reason": "LEGAL"], from: path(sold))
        _ = try await browser.post(path(sold) + "/declineRefund", [:], from: path(sold))
        #expect(
            try fixture.store.notifications().map(\.type) == [.oneTimeCharge, .consumptionRequest, .refundDeclined])
        #expect(
            try await browser.post(path(sold) + "/requestRefund", ["request-reason": "x"], from: path(sold)).status
                == 422)
    }

    @Test func `a purchase is shared with the family, and the sharing ends`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        let sold = try fixture.buy("gate")
        _ = try await browser.post(path(sold) + "/share", ["member": "bob"], from: path(sold))
        let shared = try #require(try fixture.store.history(of: "bob").first)
        let page = try await browser.get(path(shared.transactionIdentifier))
        #expect(page.has("Shared by the family") && page.has("/revokeFamilySharing"))
        _ = try await browser.post(
            path(shared.transactionIdentifier) + "/revokeFamilySharing", [:], from: path(sold))
        #expect(try fixture.store.sale(shared.transactionIdentifier).revocation?.type == .familyRevoke)
        #expect(try await browser.post(path(sold) + "/share", ["member": "alice"], from: path(sold)).status == 409)
    }

    @Test func `a member accepts an invitation to a seat, and the seat ends`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        let sold = try fixture.buy("premium.monthly")
        #expect(try await !browser.get(path(sold)).has("/acceptInvitation"))
        try fixture.store.changeSeats(of: sold, to: 2)
        _ = try await browser.post(path(sold) + "/acceptInvitation", ["member": "bob"], from: path(sold))
        let seat = try #require(try fixture.store.history(of: "bob").first).transactionIdentifier
        let page = try await browser.get(path(seat))
        #expect(page.has("A seat that another account has paid for") && page.has("/revokeSeat"))
        #expect(!page.has("/turnAutoRenewOff") && !page.has("/refund\""))
        _ = try await browser.post(path(seat) + "/revokeSeat", [:], from: path(seat))
        #expect(try fixture.store.sale(seat).revocation?.type == .assignmentRevoke)
        #expect(try await browser.get(path(seat)).has("Seat ended"))
        #expect(
            try await browser.post(path(sold) + "/acceptInvitation", ["member": "alice"], from: path(sold)).status
                == 409)
    }

    @Test func `an account gets a family, and leaves it`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        _ = try fixture.buy("gate")
        let page = "/console/store/account?account=alice"
        #expect(try await !browser.get(page).has("/family/leave"))
        func send(_ form: String, _ fields: [String: String]) async throws -> Int {
            try await browser.post("/console/store/account/family\(form)", fields, from: page).status
        }
        #expect(try await send("", ["account": "alice", "member": "bob"]) == 303)
        #expect(try fixture.store.history(of: "bob").map(\.ownership) == [.familyShared])
        let joined = try await browser.get(page)
        #expect(joined.has("Organizer") && joined.has("account=bob") && joined.has("/family/leave"))
        #expect(try await send("", ["account": "alice", "member": "bob"]) == 409)
        #expect(try await send("", ["account": "alice", "member": ""]) == 422)
        #expect(try await send("/leave", ["account": "bob"]) == 303)
        #expect(try fixture.store.history(of: "bob").map { $0.revocation?.type } == [.familyRevoke])
    }

    @Test func `a subscription renews, ends and begins to renew again`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        let sold = try fixture.buy("premium.monthly")
        func post(_ action: String, _ fields: [String: String] = [:]) async throws -> SubscriptionSummary? {
            let answer = try await browser.post(path(sold) + "/" + action, fields, from: path(sold))
            #expect(answer.status == 303, "\(action)")
            return try fixture.store.listedTransaction(sold).subscription
        }
        #expect(try await post("turnAutoRenewOff")?.isAutoRenewing == false)
        #expect(try await browser.get(path(sold)).has("/turnAutoRenewOn"))
        #expect(try await post("turnAutoRenewOn")?.isAutoRenewing == true)
        #expect(try await post("forceRenewal")?.status == .active)
        #expect(try fixture.store.history(of: "alice").count == 2)
        #expect(try await post("failRenewal", ["then": "4"])?.status == .billingGracePeriod)
        #expect(try await browser.get(path(sold)).has("Grace period"))
        #expect(try await post("resolveBillingIssue")?.status == .active)
        #expect(try await post("failRenewal", ["then": "3"])?.status == .billingRetry)
        #expect(try await post("resolveBillingIssue")?.status == .active)
        #expect(try await post("expire")?.status == .expired)
        let page = try await browser.get(path(sold))
        #expect(page.has("The customer cancelled") && !page.has("/forceRenewal"))
        #expect(try await browser.post(path(sold) + "/forceRenewal", [:], from: path(sold)).status == 409)
    }

    @Test func `a price increase waits for consent, or for none`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        let sold = try fixture.buy("premium.monthly")
        func post(_ action: String, _ fields: [String: String] = [:]) async throws -> Int {
            try await browser.post(path(sold) + "/" + action, fields, from: path(sold)).status
        }
        #expect(try await post("requestPriceIncrease", ["price": "12.50", "needs-consent": "yes"]) == 303)
        let page = try await browser.get(path(sold))
        #expect(page.has("USD 12.50") && page.has("Waits for consent") && page.has("/consentToPriceIncrease"))
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

    @Test func `a deleted transaction is gone`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        let sold = try fixture.buy("premium.monthly")
        let answer = try await browser.post(path(sold) + "/delete", [:], from: path(sold))
        #expect(answer.location == "/console/store?done=removed")
        #expect(try fixture.store.history(of: "alice").isEmpty)
        #expect(try await browser.get(path(sold)).status == 404)
    }

    @Test func `a page offers the actions that the store performs, and no other`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        for name in ["seeds", "gate", "premium.monthly"] {
            let sold = try fixture.buy(name)
            let page = try await browser.get(path(sold))
            let actions = try fixture.store.listedTransaction(sold).actions
            for action in TransactionAction.allCases {
                #expect(
                    page.has("action=\"\(path(sold))/\(action.rawValue)\"") == actions.contains(action), "\(action)")
            }
        }
    }
}
