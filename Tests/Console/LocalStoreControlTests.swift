import AppStore
import Catalog
import Foundation
import Proofs
import Testing

/// The clock, the settings and the notifications of the local store through the console.
@Suite struct LocalStoreControlTests {
    private static let settings = "/console/store/settings"

    /// The fields of the settings form, as a browser sends them.
    private static let fields = [
        "storefront": "KOR", "locale": "ko_KR", "time-rate": "monthlyRenewalEveryHour", "failure-error": "",
        "notifications-url": "http://127.0.0.1:1/apple", "shared-secret": "", "receipt-status": "",
        "requests-per-minute": "", "server-api-error": "", "certificate-status": "", "retention-message-state": "",
        "retention-image-state": "",
    ]

    @Test func `a step of the clock lists what happened, in order`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        let sold = try fixture.buy("premium.monthly")
        let start = fixture.store.now
        for page in ["/console/store", "/console/store/clock"] {
            #expect(try await browser.get(page).has("value=\"1mo\""))
        }
        let answer = try await browser.post("/console/store/clock", ["step": "1mo"], from: "/console/store/clock")
        #expect(
            answer.location == "/console/store/clock?from=\(start.millisecondsSince1970)&done=advanced")
        #expect(fixture.store.now.rfc3339 == "2026-11-10T12:00:00Z")
        let page = try await browser.get(try #require(answer.location))
        #expect(page.has("The subscription renewed and was charged:") && page.has("garden.premium.monthly"))
        try fixture.store.setAutoRenew(false, of: sold)
        let later = try await browser.post("/console/store/clock", ["step": "40d"], from: "/console/store/clock")
        let ended = try await browser.get(try #require(later.location))
        #expect(ended.has("The subscription ended:") && !ended.has("renewed and was charged"))
        let nothing = try await browser.post("/console/store/clock", ["step": "90s"], from: "/console/store/clock")
        #expect(try await browser.get(try #require(nothing.location)).has("Nothing was due."))
    }

    @Test func `a step of an account's clock moves no other`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        for account in ["alice", "bob"] { _ = try fixture.buy("premium.monthly", account: account) }
        let start = fixture.store.now
        #expect(try await browser.get("/console/store/clock").has("Every account follows the store"))
        let account = try await browser.get("/console/store?account=alice")
        #expect(account.has("href=\"/console/store/clock?account=alice\""))
        let form = "/console/store/clock?account=alice"
        let answer = try await browser.post("/console/store/clock", ["step": "1mo", "account": "alice"], from: form)
        #expect(
            answer.location
                == "/console/store/clock?account=alice&from=\(start.millisecondsSince1970)&done=advanced")
        #expect(fixture.store.now == start)
        #expect(try fixture.store.time(of: "alice").rfc3339 == "2026-11-10T12:00:00Z")
        #expect(try fixture.store.history(of: "bob").count == 1)
        let page = try await browser.get(try #require(answer.location))
        #expect(page.has("The subscription renewed and was charged:") && page.has("name=\"account\" value=\"alice\""))
        #expect(!page.has("Accounts with their own time"))
        #expect(try await browser.get("/console/store/clock").has(form))
        let unknown = try await browser.post("/console/store/clock", ["step": "1d", "account": "carol"], from: form)
        #expect(unknown.status == 404)
        #expect(try await browser.get("/console/store/clock?account=carol").status == 404)
        // The page of an account that has bought nothing shows no time.
        #expect(try await !browser.get("/console/store?account=carol").has("store/clock?account"))
    }

    @Test(arguments: ["", "x", "0d", "1", "-1d", "11y"])
    func `a wrong step moves nothing`(step: String) async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        let answer = try await browser.post("/console/store/clock", ["step": step], from: "/console/store/clock")
        #expect(answer.status == 422 || answer.status == 409)
        #expect(fixture.store.now == fixture.garden.clock.now())
        #expect(try await browser.get("/console/store/clock?from=x").status == 400)
    }

    @Test func `a long step shows a limited number of events`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        for number in 0..<20 { _ = try fixture.buy("premium.monthly", account: "account\(number)") }
        let answer = try await browser.post("/console/store/clock", ["step": "1y"], from: "/console/store/clock")
        let page = try await browser.get(try #require(answer.location))
        #expect(page.text.matches(of: /<li class="good">/).count == 200)
        #expect(page.has("These are the first 200 events."))
    }

    @Test func `all settings are saved, and the page shows which are set`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        #expect(try await browser.get(Self.settings).has("Purchases and renewals succeed.") == false)
        let changes = [
            "ask-to-buy": "yes", "interrupted-purchases": "yes", "failing-renewals": "yes", "grace-period": "yes",
            "failure-error": "paymentNotAllowed", "shared-secret": "s3cret", "receipt-status": "21005",
            "requests-per-minute": "60", "server-api-error": "4040002", "error-purchase": "networkError",
            "error-verification": "invalidSignature", "certificate-status": "revokedLeaf",
            "retention-message-state": "PENDING", "retention-image-state": "REJECTED",
        ]
        let answer = try await browser.post(
            Self.settings, Self.fields.merging(changes) { $1 }, from: Self.settings)
        #expect(answer.location == "\(Self.settings)?done=saved")
        let settings = try fixture.store.settings()
        #expect((settings.storefront, settings.locale, settings.timeRate) == ("KOR", "ko_KR", .monthlyRenewalEveryHour))
        #expect(settings.isAskToBuyEnabled && settings.areInterruptedPurchasesEnabled)
        #expect(settings.shouldEnterBillingRetryOnRenewal && settings.isBillingGracePeriodEnabled)
        #expect(settings.failureError == SKErrorCode.paymentNotAllowed.rawValue)
        #expect(settings.simulatedErrors == [.purchase: .networkError, .verification: .invalidSignature])
        #expect(settings.notificationsURL?.absoluteString == "http://127.0.0.1:1/apple")
        #expect((settings.sharedSecret, settings.verifyReceiptStatus) == ("s3cret", 21_005))
        #expect((settings.serverAPIRequestsPerMinute, settings.serverAPIError) == (60, 4_040_002))
        #expect(settings.certificateStatus == .revokedLeaf)
        #expect((settings.retentionMessageState, settings.retentionImageState) == (.pending, .rejected))
        for path in [Self.settings, "/console/store"] {
            let page = try await browser.get(path)
            for text in [
                "KOR", "monthlyRenewalEveryHour", "Ask to Buy", "Interrupted purchases", "Billing retry",
                "networkError",
            ] {
                #expect(page.has(text), "\(path) \(text)")
            }
        }
        // A browser sends no field of an empty checkbox.
        _ = try await browser.post(Self.settings, Self.fields, from: Self.settings)
        let initial = try fixture.store.settings()
        #expect(!initial.isAskToBuyEnabled && initial.simulatedErrors.isEmpty && initial.failureError == nil)
        #expect(
            initial.sharedSecret == nil && initial.serverAPIRequestsPerMinute == nil && initial.serverAPIError == nil)
        #expect(try await browser.get(Self.settings).has("Purchases and renewals succeed."))
    }

    @Test(arguments: [
        ["storefront": "XXX"], ["storefront": ""], ["locale": ""], ["time-rate": "fast"], ["failure-error": "x"],
        ["notifications-url": "ftp://example.com"], ["notifications-url": "http://"], ["receipt-status": "x"],
        ["requests-per-minute": "0"], ["server-api-error": "4040099"], ["certificate-status": "good"],
        ["retention-message-state": "APPROVED"],
        ["error-purchase": "invalidSignature"],
        ["error-verification": "networkError"],
    ])
    func `a wrong setting changes nothing`(wrong: [String: String]) async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        let before = try fixture.store.settings()
        let answer = try await browser.post(
            Self.settings, Self.fields.merging(wrong) { $1 }, from: Self.settings)
        #expect(answer.status == 422)
        #expect(try fixture.store.settings() == before)
    }

    @Test func `faults wait for the next notifications, and can be cleared`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        func add(_ fault: String, count: String, delay: String = "") async throws -> Int {
            try await browser.post(
                "/console/store/faults", ["fault": fault, "count": count, "delay": delay], from: Self.settings
            ).status
        }
        #expect(try await add("duplicate", count: "2") == 303)
        #expect(try await add("delay", count: "1", delay: "60") == 303)
        #expect(try fixture.store.faults() == [.duplicate, .duplicate, .delay(seconds: 60)])
        #expect(try await browser.get("/console/store").has("duplicate, duplicate, delay:60"))
        for (fault, count, delay) in [("x", "1", ""), ("drop", "0", ""), ("drop", "21", ""), ("delay", "1", "")] {
            #expect(try await add(fault, count: count, delay: delay) == 422)
        }
        _ = try await browser.post("/console/store/faults/clear", [:], from: Self.settings)
        #expect(try fixture.store.faults() == [])
    }

    @Test func `clearing keeps the settings, and a reset clears them, too`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        _ = try fixture.buy("gate")
        _ = try fixture.store.update { $0.isAskToBuyEnabled = true }
        #expect(
            try await browser.post("/console/store/clear", [:], from: Self.settings).location
                == "\(Self.settings)?done=cleared")
        #expect(try fixture.store.history(of: "alice").isEmpty && fixture.store.settings().isAskToBuyEnabled)
        _ = try fixture.store.advance(seconds: 60)
        _ = try await browser.post("/console/store/reset", [:], from: Self.settings)
        #expect(try !fixture.store.settings().isAskToBuyEnabled)
        #expect(fixture.store.now == fixture.garden.clock.now())
    }

    @Test func `a notification on demand is created, and its page is shown`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        let path = "/console/store/notifications"
        func send(_ name: String, transaction: String = "", account: String = "") async throws -> Browser.Page {
            try await browser.post(
                path, ["notification": name, "transaction": transaction, "account": account], from: path)
        }
        let sold = try fixture.buy("premium.monthly")
        for (name, transaction, account) in [
            ("EXTERNAL_PURCHASE_TOKEN UNREPORTED", "", ""), ("PRICE_CHANGE", sold, ""), ("RESCIND_CONSENT", "", "bob"),
        ] {
            #expect(try await browser.get(path).has(">\(name)</option>"))
            let answer = try await send(name, transaction: transaction, account: account)
            let created = try #require(try fixture.store.notifications().last)
            #expect(answer.location == "\(path)/\(created.notificationUUID.uuidString.lowercased())?done=created")
            let page = try await browser.get(try #require(answer.location))
            #expect(page.has(String(name.split(separator: " ")[0])))
            #expect(transaction.isEmpty || page.has(transaction))
        }
        for name in ["", "REFUND", "PRICE_CHANGE", "RESCIND_CONSENT"] {
            #expect(try await send(name).status == 422, "\(name)")
        }
        #expect(try fixture.store.notifications().count == 4)
    }

    @Test func `notifications have their attempts, and are sent again`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        #expect(try await browser.get("/console/store/notifications").has("no address for notifications"))
        _ = try fixture.store.update { $0.notificationsURL = URL(string: "http://127.0.0.1:1/apple") }
        let sold = try fixture.buy("gate")
        _ = try fixture.buy("premium.monthly")
        for result in [SendAttemptResult.timedOut, .success] {
            try fixture.store.record(result, of: try #require(try fixture.store.nextDelivery()))
        }
        let list = try await browser.get("/console/store/notifications")
        for text in ["ONE_TIME_CHARGE", "SUBSCRIBED", "INITIAL_BUY", sold, "Not received", "Received"] {
            #expect(list.has(text), "\(text)")
        }
        let page = try await browser.get("/console/store/notifications?pageSize=1")
        #expect(page.has("SUBSCRIBED") && !page.has("ONE_TIME_CHARGE"))
        let first = try #require(try fixture.store.notifications().first)
        let path = "/console/store/notifications/\(first.notificationUUID.uuidString.lowercased())"
        let detail = try await browser.get(path)
        #expect(detail.has("TIMED_OUT") && detail.has(first.signedPayload))
        let answer = try await browser.post("\(path)/replay", [:], from: path)
        #expect(answer.location == "\(path)?done=queued")
        #expect(try fixture.store.nextDelivery()?.notificationUUID == first.notificationUUID)
        #expect(try await browser.get("/console/store/notifications/\(UUID())").status == 404)
        #expect(try await browser.get("/console/store/notifications/x").status == 404)
    }
}
