import AppStore
import Catalog
import Console
import Entitlements
import Features
import Foundation
import Proofs
import Testing
import Vocabulary

/// The pages about the App Store: notifications, the reconciliation and refund questions.
@Suite struct AppStorePagesTests {
    /// Sends the notifications of the local store to the service, like Apple.
    private func receiveAll(_ fixture: ConsoleFixture) async throws {
        for notification in try fixture.shop.store.notifications() {
            _ = try await fixture.entitlements.receive(notification: Array(notification.signedPayload.utf8))
        }
    }

    private func receive(
        _ uuid: String,
        type: String,
        subtype: String? = nil,
        signedAt: Timestamp,
        content: String? = nil,
        stating claim: Claim? = nil,
        to fixture: ConsoleFixture
    ) async throws {
        let record = NotificationRecord(
            app: fixture.shop.catalog.bundleIdentifier, origin: .localSandbox, notificationUUID: uuid, type: type,
            subtype: subtype, signedAt: signedAt, proofDigest: [UInt8](repeating: 8, count: 32), content: content)
        _ = try await fixture.ledger.write {
            try $0.decide(
                [.notify(record, stating: claim)], under: .keep, accepting: AcceptedOrigins(),
                at: fixture.shop.clock.now())
        }
    }

    @Test func `received notifications lead to their content and their customer`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.viewer)
        #expect(try await browser.get("/console/app-store").has("No notification was ever received"))
        let bought = try await fixture.buy("sprout1", for: "mint")
        let transaction = try #require(bought.purchase?.transactionIdentifier)
        try fixture.shop.store.refund(transaction)
        try await receiveAll(fixture)
        let list = try await browser.get("/console/app-store")
        #expect(list.status == 200)
        #expect(
            list.has(">REFUND</bdi>") && list.has("badge bad\">Taken from the customer</span>") && list.has(transaction)
        )
        #expect(list.has("href=\"/console/customers/-/mint\""))
        #expect(!list.has("Late</span>") && !list.has("Repeated</span>") && list.has("Last received"))
        let path = try #require(
            list.text.firstMatch(of: /href="(\/console\/app-store\/notification\?[^"]+)"><bdi>REFUND/)?.1)
        let page = try await browser.get(String(path.replacing("&amp;", with: "&")))
        #expect(page.status == 200)
        #expect(page.has("notificationUUID") && page.has("The App Store refunded a purchase."))
        #expect(page.has("/console/customers?search=\(transaction)"))
        let korean = try await browser.get("/console/app-store", headers: [.acceptLanguage: "ko"])
        #expect(korean.has("받은 알림") && korean.has("badge bad\">고객에게서 회수</span>"))
    }

    @Test func `the filters keep the notifications of a type and an outcome`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.viewer)
        let now = fixture.shop.clock.now()
        for number in 0..<3 { try await receive("t\(number)", type: "TEST", signedAt: now, to: fixture) }
        try await receive("r", type: "REFUND", signedAt: now, to: fixture)
        let tests = try await browser.get("/console/app-store?type=TEST&outcome=&pageSize=2")
        #expect(tests.has("uuid=t2&amp;") && tests.has("uuid=t1&amp;") && !tests.has("uuid=t0&amp;"))
        #expect(!tests.has("uuid=r&amp;"))
        let next = try #require(tests.text.firstMatch(of: /href="([^"]+cursor=[^"]+)"/)?.1)
        let second = try await browser.get(String(next.replacing("&amp;", with: "&")) + "&pageSize=2")
        #expect(second.has("uuid=t0&amp;") && !second.has("uuid=t1&amp;") && !second.has("Next page"))
        #expect(try await browser.get("/console/app-store?outcome=parked").has("No notification matches."))
        #expect(try await browser.get("/console/app-store?outcome=recorded&type=REFUND").has("uuid=r&amp;"))
        #expect(try await browser.get("/console/app-store?store=play_store").has("No notification matches."))
        #expect(try await browser.get("/console/app-store?store=app_store&type=REFUND").has("uuid=r&amp;"))
        #expect(try await browser.get("/console/app-store?cursor=eA").status == 400)
    }

    @Test func `late and repeated notifications are marked, and text from outside stays text`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.viewer)
        let early = fixture.shop.clock.now().adding(seconds: -3600)
        let text = "<script>\"'&\u{202E}"
        for _ in 0..<2 {
            try await receive(
                text, type: text, subtype: text, signedAt: early, content: #"{"<script>":"</pre><script>"}"#,
                to: fixture)
        }
        let list = try await browser.get("/console/app-store")
        #expect(list.has("Late</span>") && list.has("Repeated</span>"))
        #expect(!list.has("<script>\"") && list.has("&lt;script&gt;&quot;&#39;&amp;"))
        let path = try #require(list.text.firstMatch(of: /href="(\/console\/app-store\/notification\?[^"]+)"/)?.1)
        let page = try await browser.get(String(path.replacing("&amp;", with: "&")))
        #expect(page.status == 200 && page.has("&lt;/pre&gt;&lt;script&gt;") && !page.has("</pre><script>"))
        #expect(try await browser.get("/console/app-store/notification?uuid=x&origin=local/Sandbox").status == 404)
        #expect(try await browser.get("/console/app-store/notification?uuid=x&origin=x").status == 404)
        #expect(try await browser.get("/console/app-store/notification").status == 404)
    }

    @Test func `only an administrator starts a reconciliation, once at a time`() async throws {
        let fixture = try await ConsoleFixture()
        let admin = try await fixture.browser(.admin)
        let page = "/console/app-store/reconciliation"
        #expect(try await admin.get(page).has("Not configured"))
        let now = fixture.shop.clock.now()
        let ledger = fixture.entitlements.ledger
        try await ledger.write {
            try $0.setReconciled("s", until: now, findings: ["granted": 3, "chainUntrusted": 1])
        }
        let checkpoint = try await ledger.read { try $0.checkpoint(ofReconciliation: "s") }
        let reconciliation = TestReconciliation(
            bundleIdentifier: fixture.shop.catalog.bundleIdentifier, checkpoint: checkpoint)
        let runs = reconciliation.runs
        for subject in ReconciliationRuns.Subject.allCases {
            runs.begin(subject, at: now)
            runs.end(subject, [:], errorCode: "appStoreRefused", at: now)
        }
        fixture.services.reconciliations = [reconciliation]
        let shown = try await admin.get(page)
        #expect(shown.has("Given to the customer") && shown.has("chainUntrusted") && shown.has("appStoreRefused"))
        #expect(
            shown.has("Every 3,600 seconds") && shown.has("Only on request") && shown.has("Fetch notifications now"))
        for role in [TeamRole.viewer, .support, .catalog] {
            let browser = try await fixture.browser(role)
            #expect(try await !browser.get(page).has("Fetch notifications now"))
            #expect(try await browser.post(page + "/0/notifications", [:], from: "/console/account").status == 403)
        }
        #expect(ReconciliationRuns.Subject.allCases.allSatisfy { !runs.state(of: $0).isRequested })
        let started = try await admin.post(page + "/0/notifications", [:], from: page)
        #expect(started.location == page + "?done=started")
        #expect(runs.state(of: .notifications).isRequested && !runs.state(of: .histories).isRequested)
        #expect(try await admin.post(page + "/0/notifications", [:], from: page).status == 409)
        #expect(try await admin.post(page + "/0/histories", [:], from: page).status == 303)
        #expect(try await admin.post(page + "/1/histories", [:], from: page).status == 404)
        #expect(try await admin.post(page + "/0/other", [:], from: page).status == 404)
    }

    @Test func `the last list of voided purchases of Google Play is shown`() async throws {
        let fixture = try await ConsoleFixture()
        let viewer = try await fixture.browser(.viewer)
        let page = "/console/app-store/reconciliation"
        #expect(try await !viewer.get(page).has("Voided purchases of Google Play"))
        let (now, ledger) = (fixture.shop.clock.now(), fixture.entitlements.ledger)
        try await ledger.write { try $0.setReconciled("s", until: now, findings: ["revoked": 1234]) }
        let last = try await ledger.read { try $0.checkpoint(ofReconciliation: "s") }
        fixture.services.show(
            VoidedPurchases(package: "com.example.garden", last: last),
            VoidedPurchases(package: "com.example.other", last: nil))
        let shown = try await viewer.get(page)
        #expect(shown.has("Voided purchases of Google Play") && shown.has("com.example.garden"))
        #expect(shown.has("1,234") && shown.has("com.example.other"))
    }

    @Test func `disputed payments of Google Play are shown with their answers`() async throws {
        let fixture = try await ConsoleFixture()
        let viewer = try await fixture.browser(.viewer)
        let page = "/console/app-store/consumption"
        #expect(try await !viewer.get(page).has("Disputed payments at Google Play"))
        let purchases = try await fixture.dispute("GPA.1-2")
        let open = try await viewer.get(page)
        #expect(open.has("Disputed payments at Google Play") && open.has("GPA.1-2") && open.has("Open until"))
        #expect(!open.has("secret-of-GPA.1-2"))
        let review = try #require(try await purchases.refundReviewsToAnswer(limit: 1).due.first)
        let evidence = try await purchases.evidence(about: review)
        try await purchases.settle(
            review, by: evidence, RefundAnswer(.decline, to: evidence.facts), isDryRun: false, refusedAs: nil)
        let settled = try await viewer.get(page)
        #expect(settled.has("Answered, or the answer was refused for good") && settled.has("DECLINE, no rule matched"))
    }

    @Test func `an open dispute is on the page about the money of its purchase`() async throws {
        let fixture = try await ConsoleFixture()
        let (now, mint) = (fixture.shop.clock.now(), try #require(User(name: "mint")))
        let claim = Claim(
            app: fixture.shop.catalog.bundleIdentifier, origin: .localPlayProduction, transactionIdentifier: "token-1",
            originalTransactionIdentifier: "token-1", productIdentifier: "com.memolease.sesac1.sprout2", quantity: 1,
            purchaseDate: now, revocationDate: nil, signedAt: now, proofDigest: [UInt8](repeating: 7, count: 32),
            item: Item(collection: "sprout", number: 2), credit: nil,
            facts: TransactionFacts([.orderId: .text("GPA.1-2")]))
        _ = try await fixture.ledger.write { try $0.redeem([claim], for: mint, at: now) }
        let viewer = try await fixture.browser(.viewer)
        let page = "/console/customers/-/mint/transactions/token-1/money-back"
        #expect(try await !viewer.get(page).words.contains("bank has disputed"))
        _ = try await fixture.dispute("GPA.1-2")
        #expect(try await viewer.get(page).words.contains("bank has disputed the payment since"))
    }

    @Test func `refund questions show their reason, their time and their answer`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.viewer)
        let page = "/console/app-store/consumption"
        #expect(try await browser.get(page).has("No question is open."))
        let bought = try await fixture.buy("sprout1", for: "mint")
        let transaction = try #require(bought.purchase?.transactionIdentifier)
        // The shop's products are not consumable, and the store asks only about those that are.
        let claim = Claim(
            app: fixture.shop.catalog.bundleIdentifier, origin: .localSandbox, transactionIdentifier: transaction,
            originalTransactionIdentifier: transaction, productIdentifier: bought.payment.productIdentifier,
            quantity: 1, purchaseDate: fixture.shop.clock.now(), revocationDate: nil,
            signedAt: fixture.shop.clock.now(), proofDigest: [UInt8](repeating: 7, count: 32),
            item: Item(collection: "sprout", number: 1))
        try await receive(
            "q", type: "CONSUMPTION_REQUEST", signedAt: fixture.shop.clock.now(), stating: claim, to: fixture)
        let open = try await browser.get(page)
        #expect(open.has("Open until") && open.has(transaction) && open.has("mint") && open.has("Nobody answers"))
        let requests = try await fixture.entitlements.ledger.read {
            try $0.openConsumptionRequests(at: fixture.entitlements.clock.now(), of: [.localSandbox], limit: 9)
        }
        let request = try #require(requests.first)
        try await fixture.entitlements.ledger.write { try $0.settle(request, at: fixture.entitlements.clock.now()) }
        let settled = try await browser.get(page)
        #expect(settled.has("No question is open.") && settled.has("Answered, or the answer was refused for good"))
        let signedAt = fixture.shop.clock.now().adding(seconds: -ReceivedNotification.answerTime - 1)
        try await receive(
            "old", type: "CONSUMPTION_REQUEST", signedAt: signedAt,
            content: #"{"data":{"consumptionRequestReason":"FULFILLMENT_ISSUE"}}"#, to: fixture)
        let expired = try await browser.get(page)
        #expect(expired.has("Expired without an answer") && expired.has("Did not get what was bought"))
        #expect(try await browser.get(page, headers: [.acceptLanguage: "ko"]).has("구매한 것을 받지 못함"))
    }
}
