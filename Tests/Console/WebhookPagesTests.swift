import Entitlements
import Features
import Foundation
import Proofs
import Testing
import Vocabulary

/// The pages of webhooks: endpoints, secrets and deliveries.
@Suite struct WebhookPagesTests {
    let fixture: ConsoleFixture
    private static let url = "https://hooks.example.com/in?token=T0KEN"

    init() async throws {
        fixture = try await ConsoleFixture()
    }

    private func endpoint() async throws -> WebhookEndpoint {
        try await fixture.webhooks.add(try WebhookURL(Self.url, allowsPlain: false), by: "K")
    }

    private func grant(_ identifier: String, reason: String = "a prize") async throws {
        let grant = Grant(
            identifier: identifier, item: Item(collection: "sprout", number: 1), reason: reason, grantedBy: "K",
            grantedAt: fixture.shop.clock.now(), endsAt: nil)
        let mint = try #require(User(name: "mint"))
        try await fixture.ledger.write {
            _ = try $0.add(grant, for: mint)
        }
    }

    /// Ends the due deliveries with an outcome, after all attempts if it is a failure.
    private func end(
        _ endpoint: WebhookEndpoint, _ outcome: WebhookDelivery.Outcome, response: String = "", attempts: Int = 1
    ) async throws {
        for number in 0..<attempts {
            // Sessions end long before the next attempt of a failing delivery.
            if number > 0 { fixture.shop.clock.advance(milliseconds: 2 * 86_400_000) }
            let leased = try await fixture.webhooks.lease(
                try #require(try await fixture.webhooks.due(for: endpoint, limit: 100)))
            try await fixture.webhooks.record(
                leased.map {
                    fixture.webhooks.result(
                        of: $0, outcome, milliseconds: 1234, response: WebhookResponse(Array(response.utf8)))
                })
        }
    }

    private func deliveries(
        _ endpoint: WebhookEndpoint, _ state: WebhookDelivery.State? = nil
    ) async throws -> [WebhookDelivery] {
        try await fixture.webhooks.deliveries(to: endpoint.identifier, in: state, before: nil, limit: 100)
    }

    private static let giveUp = WebhookSchedule.delays.count + 1

    @Test func `an administrator adds, changes and removes an endpoint under their name`() async throws {
        let admin = try await fixture.browser(.admin)
        let added = try await admin.post("/console/webhooks", ["url": Self.url], from: "/console/webhooks")
        let made = try #require(try await fixture.webhooks.endpoints().first)
        let path = "/console/webhooks/\(made.identifier)"
        #expect(added.location == path + "/secret?done=created")
        #expect(made.createdBy == "member admin" && made.url == Self.url)
        #expect(try await admin.get("/console/webhooks").has(Self.url))
        #expect(try await admin.get(path).has("T0KEN"))
        let other = "https://other.example.com/"
        #expect(try await admin.post(path + "/address", ["url": other], from: path).status == 303)
        #expect(try await fixture.webhooks.endpoint(made.identifier).url == other)
        #expect(try await admin.get(path).has("Another address"))
        #expect(try await admin.post(path + "/removal", [:], from: path).location == "/console/webhooks?done=removed")
        #expect(try await fixture.webhooks.endpoints().isEmpty)
        #expect(try await admin.get(path).status == 404)
        let changes = try await fixture.webhooks.changes(of: made.identifier, limit: 9)
        #expect(Set(changes.map(\.event)) == [.added, .urlChanged, .removed])
        #expect(changes.allSatisfy { $0.changedBy == "member admin" })
    }

    @Test(arguments: [
        ("", "fieldInvalid"), ("http://example.com", "webhookURLInvalid"), ("javascript:alert(1)", "webhookURLInvalid"),
        ("https://127.0.0.1/", "webhookAddressPrivate"), ("https://localhost", "webhookAddressPrivate"),
        ("https://example.com/" + String(repeating: "a", count: 2048), "fieldInvalid"),
    ])
    func `a forbidden address is refused`(_ url: String, code: String) async throws {
        let admin = try await fixture.browser(.admin)
        let refused = try await admin.post("/console/webhooks", ["url": url], from: "/console/webhooks")
        #expect(refused.status == 422 && refused.has(code))
        let path = "/console/webhooks/\(try await endpoint().identifier)"
        #expect(try await admin.post(path + "/address", ["url": url], from: path).status == 422)
        #expect(try await fixture.webhooks.endpoints().map(\.url) == [Self.url])
    }

    @Test func `other roles see neither the secret nor the whole address, and change nothing`() async throws {
        let endpoint = try await endpoint()
        try await grant("g")
        let secret = endpoint.secrets(at: fixture.shop.clock.now())[0].description
        let path = "/console/webhooks/\(endpoint.identifier)"
        let message = try await #require(deliveries(endpoint).first).messageIdentifier
        for role in [TeamRole.viewer, .support, .catalog] {
            let browser = try await fixture.browser(role)
            for page in ["/console/webhooks", path, path + "/deliveries/\(message)"] {
                let shown = try await browser.get(page)
                #expect(shown.status == 200 && shown.has("https://hooks.example.com"), "\(page)")
                #expect(!shown.has("T0KEN") && !shown.has(secret) && !shown.has("/removal"), "\(page)")
            }
            #expect(try await !browser.get("/console/webhooks").has("Add an endpoint"))
            let delivery = try await browser.get(path + "/deliveries/\(message)")
            #expect(delivery.has("webhook-signature: v1,SIGNATURE"))
            #expect(try await browser.get(path + "/secret").status == 403)
            for (action, fields) in [
                ("/secret", ["overlap": "0"]), ("/address", ["url": "https://evil.example"]), ("/removal", [:]),
            ] as [(String, [String: String])] {
                #expect(try await browser.post(path + action, fields, from: "/console/account").status == 403)
            }
            let added = try await browser.post("/console/webhooks", ["url": Self.url], from: "/console/account")
            #expect(added.status == 403)
            let mayResend = role.permissions.contains(.support)
            #expect(delivery.has("Send again") == mayResend)
            for action in ["/failed/resending", "/period/resending", "/deliveries/\(message)/resending"] {
                let answer = try await browser.post(path + action, [:], from: "/console/account")
                #expect((answer.status == 403) != mayResend, "\(role) \(action)")
            }
        }
        #expect(try await fixture.webhooks.endpoints() == [endpoint])
    }

    @Test func `a secret is shown on demand, and the old one ends when its period is over`() async throws {
        let endpoint = try await endpoint()
        let admin = try await fixture.browser(.admin)
        let path = "/console/webhooks/\(endpoint.identifier)"
        let first = endpoint.secrets(at: fixture.shop.clock.now())[0].description
        let shown = try await admin.get(path + "/secret")
        #expect(shown.has(first) && shown.headers[.cacheControl] == "no-store")
        #expect(try await admin.post(path + "/secret", ["overlap": "7"], from: path).status == 422)
        let replaced = try await admin.post(path + "/secret", ["overlap": "3600"], from: path)
        #expect(replaced.location == path + "/secret?done=secretReplaced")
        let both = try await admin.get(path + "/secret")
        #expect(both.has(first) && both.has("Previous secret") && both.has("Signs until"))
        // Another replacement would end the secret that a receiver may still have.
        #expect(try await admin.post(path + "/secret", ["overlap": "3600"], from: path).status == 409)
        fixture.shop.clock.advance(milliseconds: 3_600_000)
        #expect(try await !admin.get(path + "/secret").has("Previous secret"))
        let changes = try await fixture.webhooks.changes(of: endpoint.identifier, limit: 5)
        #expect(changes.contains { $0.event == .secretReplaced && $0.changedBy == "member admin" })
    }

    @Test func `a delivery shows each attempt, its response and the next one`() async throws {
        let endpoint = try await endpoint()
        try await grant("g", reason: "it's <script>alert(1)</script>")
        try await end(endpoint, .answered(status: 503), response: "</pre><script>\"'\u{202E}")
        fixture.shop.clock.advance(milliseconds: 60_000)
        try await end(endpoint, .unanswered(code: "timedOut"))
        let viewer = try await fixture.browser(.viewer)
        let delivery = try await #require(deliveries(endpoint).first)
        let path = "/console/webhooks/\(endpoint.identifier)/deliveries/\(delivery.messageIdentifier)"
        let page = try await viewer.get(path)
        #expect(page.status == 200 && page.has("Answered 503") && page.has("No answer in time"))
        #expect(page.has("1,234 ms") && page.has("&lt;/pre&gt;&lt;script&gt;&quot;&#39;"))
        #expect(page.has(try #require(delivery.nextAttemptAt).rfc3339))
        #expect(page.has("href=\"/console/customers/-/mint\"") && page.has("item.given"))
        #expect(!page.has("<script>alert") && !page.has("</pre><script>"))
        let korean = try await viewer.get(path, headers: [.acceptLanguage: "ko"])
        #expect(korean.has("시간 안에 응답 없음") && korean.has("다음 시도"))
        #expect(try await viewer.get(path + "x").status == 404)
        #expect(try await viewer.get("/console/webhooks/wh_none").status == 404)
    }

    @Test func `the curl command of an administrator has a valid signature and is one command`() async throws {
        let endpoint = try await endpoint()
        try await grant("g", reason: "it's $(reboot) `x`")
        let delivery = try await #require(deliveries(endpoint).first)
        let admin = try await fixture.browser(.admin)
        let path = "/console/webhooks/\(endpoint.identifier)/deliveries/\(delivery.messageIdentifier)"
        let page = try await admin.get(path)
        let command = try #require(page.text.firstMatch(of: /<pre id="curl">([^<]+)<\/pre>/)?.1)
        let text = command.replacing("&#39;", with: "'").replacing("&quot;", with: "\"").replacing("&amp;", with: "&")
        let signed = try #require(try await fixture.webhooks.signed(delivery, for: endpoint))
        let signature = try #require(signed.headers.last?.value)
        #expect(text.contains("-H 'webhook-signature: \(signature)'"))
        #expect(text.hasPrefix("curl -X POST '\(Self.url)' \\\n"))
        let body = String(decoding: signed.body, as: UTF8.self)
        #expect(text.contains("--data-raw '\(body.replacing("'", with: "'\\''"))'"))
        #expect(page.has("data-copy=\"curl\""))
    }

    @Test func `an endpoint of RevenueCat's format shows its events, and administrators its authorization`()
        async throws
    {
        let admin = try await fixture.browser(.admin)
        let fields = ["url": Self.url, "format": "revenuecat", "authorization": "Bearer rc-t0ken"]
        #expect(try await admin.post("/console/webhooks", fields, from: "/console/webhooks").status == 303)
        let endpoint = try #require(try await fixture.webhooks.endpoints().first)
        #expect(endpoint.format == .revenueCat && endpoint.authorization?.value == "Bearer rc-t0ken")
        try await grant("g")
        let path = "/console/webhooks/\(endpoint.identifier)"
        let delivery = try await #require(deliveries(endpoint).first)
        let message = path + "/deliveries/\(delivery.messageIdentifier)"
        #expect(try await admin.get("/console/webhooks").has("RevenueCat"))
        #expect(try await admin.get(path + "/secret").has("rc-t0ken"))
        let command = try await admin.get(message)
        #expect(command.has("NON_RENEWING_PURCHASE") && command.has("&quot;app_user_id&quot;:&quot;mint&quot;"))
        #expect(command.has("authorization: Bearer rc-t0ken"))
        let viewer = try await fixture.browser(.viewer)
        for page in ["/console/webhooks", path, message] {
            #expect(try await !viewer.get(page).has("t0ken"), "\(page)")
        }
        #expect(try await viewer.get(path).has("NON_RENEWING_PURCHASE"))
        #expect(try await viewer.get(message).has("authorization: AUTHORIZATION"))
        #expect(try await viewer.post(path + "/authorization", fields, from: "/console/account").status == 403)
        #expect(try await admin.post(path + "/authorization", ["authorization": ""], from: path).status == 303)
        #expect(try await fixture.webhooks.endpoint(endpoint.identifier).authorization == nil)
        #expect(try await admin.get(path).has("Another authorization"))
        for wrong in [["url": Self.url, "format": "x"], ["url": Self.url, "authorization": "\u{E9}"]] {
            let refused = try await admin.post("/console/webhooks", wrong, from: "/console/webhooks")
            #expect(refused.status == 422 && refused.has("fieldInvalid"))
        }
    }

    @Test func `an administrator chooses the messages of an endpoint`() async throws {
        let admin = try await fixture.browser(.admin)
        let fields = ["url": Self.url, "format": "slack", "types": "purchase.refunded, item.given"]
        #expect(try await admin.post("/console/webhooks", fields, from: "/console/webhooks").status == 303)
        let endpoint = try #require(try await fixture.webhooks.endpoints().first)
        #expect(endpoint.format == .slack && endpoint.types?.names == ["item.given", "purchase.refunded"])
        try await grant("g")
        let path = "/console/webhooks/\(endpoint.identifier)"
        let delivery = try await #require(deliveries(endpoint).first)
        let message = try await admin.get(path + "/deliveries/\(delivery.messageIdentifier)")
        #expect(message.has("&quot;text&quot;:&quot;“mint”: The team granted") && message.has("(item.given)"))
        #expect(try await admin.get("/console/webhooks").has("item.given, purchase.refunded"))
        #expect(try await admin.post(path + "/messages", ["types": ""], from: path).status == 303)
        #expect(try await fixture.webhooks.endpoint(endpoint.identifier).types == nil)
        let changed = try await admin.get(path)
        #expect(changed.has("Other messages") && changed.has("All types"))
        #expect(try await admin.post(path + "/messages", ["types": "RENEWAL"], from: path).status == 422)
        let viewer = try await fixture.browser(.viewer)
        #expect(try await viewer.post(path + "/messages", ["types": ""], from: "/console/account").status == 403)
    }

    @Test func `an endpoint of an app that is no longer sold keeps it unless the person chooses another one`()
        async throws
    {
        let app = "com.example.gone"
        let old = WebhookEndpoint(
            identifier: "wh_old", url: Self.url, createdAt: fixture.shop.clock.now(), createdBy: "K",
            secret: [UInt8](repeating: 1, count: 32), app: app)
        #expect(try await fixture.ledger.write { try $0.add(old, upTo: 1) })
        let admin = try await fixture.browser(.admin)
        let path = "/console/webhooks/wh_old"
        let page = try await admin.get(path)
        #expect(page.has("<option value=\"\(app)\" selected"))
        #expect(page.text.contains(/name="shown-app"[^>]*value="com.example.gone"/))
        // The last two pages had shown something else, or no choice of apps.
        for fields in [["app": app, "shown-app": app], ["app": "", "shown-app": ""], [:]] {
            let saved = try await admin.post(
                path + "/messages", fields.merging(["types": "item.given"]) { $1 }, from: path)
            #expect(saved.status == 303)
            #expect(try await fixture.webhooks.endpoint("wh_old").app == app, "\(fields)")
        }
        #expect(try await fixture.webhooks.change("wh_old", app: .set(app), by: "K").app == app)
        let unknown = ["app": "com.example.none", "shown-app": app]
        #expect(try await admin.post(path + "/messages", unknown, from: path).status == 422)
        let widened = try await admin.post(path + "/messages", ["app": "", "shown-app": app], from: path)
        // The keys for the app could read the secret.
        #expect(widened.location == path + "/secret?done=secretReplaced")
        #expect(try await fixture.webhooks.endpoint("wh_old").app == nil)
    }

    @Test func `support sends a test message, and sees the answer`() async throws {
        let endpoint = try await endpoint()
        let slow = try await fixture.webhooks.add(
            try WebhookURL("https://slow.example.com/", allowsPlain: false), by: "K")
        let support = try await fixture.browser(.support)
        for (tested, answer, words) in [(endpoint, "204", "Answered 204"), (slow, "timedOut", "No answer in time")] {
            let path = "/console/webhooks/\(tested.identifier)"
            let sent = try await support.post(path + "/test", [:], from: path)
            #expect(sent.location == path + "?tested=\(answer)")
            let page = try await support.get(path + "?tested=\(answer)")
            #expect(page.has("The test message was sent:") && page.has(words) && page.has("No message."))
        }
        let viewer = try await fixture.browser(.viewer)
        let path = "/console/webhooks/\(endpoint.identifier)"
        #expect(try await viewer.post(path + "/test", [:], from: "/console/account").status == 403)
        #expect(try await !viewer.get(path).has("Send a test message"))
    }

    @Test func `a test message is signed, in the format of its endpoint`() async throws {
        let message = fixture.webhooks.testMessage(for: try await endpoint())
        #expect(String(decoding: message.body, as: UTF8.self).contains("\"type\":\"test\""))
        #expect(message.headers.map(\.name) == ["webhook-id", "webhook-timestamp", "webhook-signature"])
        let other = try await fixture.webhooks.add(
            try WebhookURL("https://rc.example.com/", allowsPlain: false), format: .revenueCat, by: "K")
        let event = String(decoding: fixture.webhooks.testMessage(for: other).body, as: UTF8.self)
        #expect(event.contains("\"type\":\"TEST\"") && event.contains("\"api_version\":\"1.0\""))
    }

    @Test func `messages are found by their customer, and about to be sent ones are loaded again`() async throws {
        let endpoint = try await endpoint()
        let path = "/console/webhooks/\(endpoint.identifier)"
        for number in 1...3 { try await grant("g\(number)") }
        let other = try #require(User(name: "other"))
        _ = try await fixture.entitlements.appAccountToken(of: other)
        let browser = try await fixture.browser(.support)
        let first = try await browser.get(path + "?customer=mint&pageSize=2")
        #expect(first.text.matches(of: /\/deliveries\/msg_/).count == 2 && first.has("data-reload=\"messages\""))
        let next = try #require(first.text.firstMatch(of: /customer=mint&amp;cursor=([A-Za-z0-9_-]+)/)).1
        let second = try await browser.get(path + "?customer=mint&pageSize=2&cursor=\(next)")
        #expect(second.text.matches(of: /\/deliveries\/msg_/).count == 1)
        let token = try await fixture.entitlements.appAccountToken(of: #require(User(name: "mint"))).lowercasedString
        #expect(try await browser.get(path + "?customer=\(token)").has("/deliveries/msg_"))
        #expect(try await browser.get(path + "?customer=other").has("No message."))
        #expect(try await browser.get(path + "?customer=nobody").status == 404)
        try await end(endpoint, .answered(status: 200))
        let message = path + "/deliveries/" + (try await #require(deliveries(endpoint).first)).messageIdentifier
        #expect(try await !browser.get(message).has("data-reload"))
        #expect(try await browser.post(message + "/resending", [:], from: message).status == 303)
        #expect(try await browser.get(message).has("data-reload=\"delivery\""))
    }

    @Test func `deliveries are listed by state, in pages`() async throws {
        let endpoint = try await endpoint()
        for number in 1...3 {
            try await grant("g\(number)")
            fixture.shop.clock.advance(milliseconds: 1000)
        }
        let viewer = try await fixture.browser(.viewer)
        let path = "/console/webhooks/\(endpoint.identifier)"
        let messages = try await deliveries(endpoint).map(\.messageIdentifier)
        let first = try await viewer.get(path + "?state=pending&pageSize=2")
        #expect(first.has(messages[0]) && first.has(messages[1]) && !first.has(messages[2]))
        let next = try #require(first.text.firstMatch(of: /href="([^"]+cursor=[^"]+)"/)?.1)
        let second = try await viewer.get(String(next.replacing("&amp;", with: "&")) + "&pageSize=2")
        #expect(second.has(messages[2]) && !second.has(messages[1]) && !second.has("Next page"))
        #expect(try await viewer.get(path + "?state=delivered").has("No message."))
        #expect(try await viewer.get("/console/webhooks").has("Waiting"))
    }

    @Test func `support sends one message, all failed ones or a period again`() async throws {
        let endpoint = try await endpoint()
        let start = fixture.shop.clock.now()
        try await grant("g1")
        try await end(endpoint, .answered(status: 500), attempts: Self.giveUp)
        try await grant("g2")
        try await end(endpoint, .answered(status: 200))
        let support = try await fixture.browser(.support)
        let path = "/console/webhooks/\(endpoint.identifier)"
        #expect(try await support.get("/console/webhooks").has("?state=failed"))
        let failed = try await support.post(path + "/failed/resending", [:], from: path)
        #expect(failed.location == path + "?resent=1")
        #expect(try await support.get(path + "?resent=1").has("1 messages will be sent again."))
        #expect(try await deliveries(endpoint, .pending).count == 1)
        try await end(endpoint, .answered(status: 200))

        let one = try await #require(deliveries(endpoint).first).messageIdentifier
        let resent = try await support.post(path + "/deliveries/\(one)/resending", [:], from: path)
        #expect(resent.location == path + "/deliveries/\(one)?done=queued")
        #expect(try await deliveries(endpoint, .pending).map(\.messageIdentifier) == [one])
        try await end(endpoint, .answered(status: 200))

        func text(_ moment: Timestamp) -> String { String(moment.rfc3339.prefix(19)) }
        let end = start.adding(seconds: 1)
        let fields = ["from": text(start), "until": text(end)]
        let period = try await support.post(path + "/period/resending", fields, from: path)
        #expect(period.location == path + "?resent=1")
        #expect(try await deliveries(endpoint, .pending).map(\.entry.reference) == ["g1"])
        for wrong in [[:], ["from": text(end), "until": text(start)], ["from": "x", "until": "2026-02-30T00:00"]] {
            #expect(try await support.post(path + "/period/resending", wrong, from: path).status == 422)
        }
        let changes = try await fixture.webhooks.changes(of: endpoint.identifier, limit: 9)
        #expect(changes.filter { $0.changedBy == "member support" }.map(\.event).count == 3)
        let next = try await support.get(path + "?resent=10000&after=\(text(start))Z")
        #expect(next.has("value=\"\(text(start))\"") && next.has("There may be more"))
    }
}
