import Entitlements
import Features
import Foundation
import HTTPSupport
import HTTPTypes
import Ledger
import Proofs
import Testing
import Vocabulary

/// The pages of the service's health.
@Suite struct HealthPageTests {
    @Test func `the page shows checks, certificates, the ledger, keys, versions and settings`() async throws {
        let fixture = try await ConsoleFixture()
        let expiry = fixture.shop.clock.now().adding(days: 3)
        let (record, key) = try await fixture.keys.make(name: "shop <1>", scopes: [.read, .redeem], expiresAt: expiry)
        _ = try await fixture.keys.make(name: "old", scopes: [.figures])
        let old = try #require(try await fixture.keys.list().first { $0.name == "old" })
        _ = try await fixture.keys.revoke(old.identifier)
        // Shown as the end of their step, 896 µs. The commits of the service itself count, too.
        for _ in 0..<1200 { fixture.metrics.recordCommit(.microseconds(850)) }
        for _ in 0..<34 { fixture.metrics.recordCommit(.milliseconds(12)) }
        // Longer than the requests of this test take on a busy machine.
        fixture.metrics.recentRequests.record(.seconds(3000))
        let page = try await fixture.browser(.viewer).get("/console/health")
        #expect(page.status == 200)
        for part in [
            "Problems: 1", "&lt;b&gt;/data&lt;/b&gt; is open", "Run: chmod 600", "Apple Root CA - G3",
            "A &lt;local&gt; root", "expires soon", "expired", "/data/ledger.sqlite", "SQLite 3.", ">1,2", "896 µs",
            "12 ms", "50 min", "9.8.7", "TILL_ACCEPT", "no valid API key &amp; no back end", "shop &lt;1&gt;",
            "till_\(record.identifier)", "read, redeem", "all apps", "revoked",
        ] {
            #expect(page.has(part), "\(part)")
        }
        #expect(!page.has(key))
        #expect(!page.has("<b>/data"))
        // Each API key's secret, also in part.
        #expect(!page.has(String(key.suffix(20))))
    }

    @Test func `what stores await is shown, with what was missed`() async throws {
        let fixture = try await ConsoleFixture()
        let viewer = try await fixture.browser(.viewer)
        let page = "/console/health"
        #expect(try await viewer.get(page).has("No store awaits anything."))
        try await fixture.dispute("GPA.1-2")
        let open = try await viewer.get(page)
        for part in [
            "Answer about a disputed payment, 24 hours", "GPA.1-2", "None was missed in the last days", "open",
        ] {
            #expect(open.has(part), "\(part)")
        }
        // A session ends before.
        fixture.shop.clock.advance(milliseconds: 86_400_000)
        let nextDay = try await fixture.browser(.viewer, name: "nextday")
        #expect(try await nextDay.get(page).has("Missed in the last days: 1"))
        #expect(try await nextDay.get(page, headers: [.acceptLanguage: "ko"]).has("최근 며칠간 놓친 기한: 1"))
        fixture.shop.clock.advance(milliseconds: 7 * 86_400_000)
        #expect(try await fixture.browser(.viewer, name: "nextweek").get(page).has("No store awaits anything."))
    }

    @Test func `what a store has refused is shown until it is corrected`() async throws {
        let fixture = try await ConsoleFixture()
        let purchases = try await fixture.dispute("GPA.1-2")
        let now = fixture.shop.clock.now()
        func report(_ content: JSONObject) async throws -> ExternalTransactionReport {
            try await fixture.entitlements.record(
                ExternalTransactionReport(
                    purchases.key(ofExternalTransaction: "sale-1", .sale, in: .localPlay),
                    of: fixture.entitlements.apps.first.bundleIdentifier, content, occurredAt: now,
                    reportedAt: now, by: "K"))
        }
        try await purchases.failed(try await report([:]), "Google Play answered with 400 required.", isFinal: true)
        let page = "/console/health"
        let viewer = try await fixture.browser(.viewer)
        let shown = try await viewer.get(page)
        for part in ["Report of an external transaction, 24 hours", "sale-1", "refused"] {
            #expect(shown.has(part), "\(part)")
        }
        #expect(try await viewer.get(page, headers: [.acceptLanguage: "ko"]).has("거절됨"))
        _ = try await report(["transactionTime": "2026-11-01T00:00:00Z"])
        #expect(try await !viewer.get(page).has(">refused<"))
    }

    @Test func `the checks run once a minute, or when asked for`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.viewer)
        for _ in 0..<3 { _ = try await browser.get("/console/health") }
        #expect(fixture.health.runCount == 1)
        fixture.shop.clock.advance(milliseconds: 3000)
        #expect(try await browser.post("/console/health/checks", [:], from: "/console/health").status == 303)
        #expect(fixture.health.runCount == 2)
        // Again at once: the results are those of just now.
        #expect(try await browser.post("/console/health/checks", [:], from: "/console/health").status == 303)
        #expect(fixture.health.runCount == 2)
        fixture.shop.clock.advance(milliseconds: 60_000)
        _ = try await browser.get("/console/health")
        #expect(fixture.health.runCount == 3)
    }

    @Test func `an administrator verifies the audit log`() async throws {
        let fixture = try await ConsoleFixture()
        let admin = try await fixture.browser(.admin)
        try await fixture.buy("sprout1", for: "alice")
        try await fixture.buy("sprout2", for: "alice")
        #expect(try await admin.get("/console/health").has("Not verified since the start"))
        let answer = try await admin.post("/console/health/verification", [:], from: "/console/health")
        #expect(answer.location == "/console/health")
        let page = try await verified(admin)
        #expect(page.has("Unbroken"))
        #expect(page.text.firstMatch(of: /Records verified<\/dt><dd>2</) != nil)
        #expect(page.text.firstMatch(of: /Users verified<\/dt><dd>1</) != nil)
        try await fixture.ledger.write { transaction in
            try transaction.database.execute("DROP TRIGGER audit_is_not_rewritten", [])
            try transaction.database.execute("UPDATE audit SET subject = 'x' WHERE number = $1", [1])
        }
        _ = try await admin.post("/console/health/verification", [:], from: "/console/health")
        let broken = try await verified(admin)
        #expect(broken.has("Broken"))
        #expect(broken.has("Record 1 or an earlier one was changed or removed."))
        #expect(broken.has("href=\"/console/customers/-/alice\""))
    }

    /// The page after the verification has ended.
    private func verified(_ browser: Browser) async throws -> Browser.Page {
        for _ in 0..<1000 {
            let page = try await browser.get("/console/health")
            if !page.has("Show the progress") { return page }
            await Task.yield()
        }
        return try await browser.get("/console/health")
    }

    @Test(arguments: [TeamRole.viewer, .support, .catalog])
    func `other roles see no button, and are refused`(role: TeamRole) async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(role)
        #expect(!(try await browser.get("/console/health").has("/console/health/verification")))
        let answer = try await browser.post("/console/health/verification", [:], from: "/console/health")
        #expect(answer.status == 403)
        #expect(try await browser.get("/console/health").has("Not verified since the start"))
    }

    @Test func `the actions of the team are shown with their persons, and found by them`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.viewer)
        _ = try await fixture.team.add("Ada", role: .support)
        _ = try await fixture.team.add("Jun", role: .support)
        for (name, user, reason) in [("Ada", "alice", "a <gift>"), ("Jun", "bob", "an apology")] {
            let grant = try fixture.entitlements.newGrant(
                of: Item(collection: "sprout", number: 1), reason: reason, endsAt: nil, by: "member \(name)")
            _ = try await fixture.entitlements.give(
                grant, to: try #require(User(name: user)))
        }
        try await fixture.buy("sprout2", for: "carol")
        let all = try await browser.get("/console/health/team")
        #expect(all.has("a &lt;gift&gt;") && all.has("an apology") && all.has("/console/customers/-/alice"))
        #expect(!all.has("/console/customers/-/carol"))
        let ada = try await browser.get("/console/health/team?member=Ada&event=itemGiven")
        #expect(ada.has("a &lt;gift&gt;") && !ada.has("an apology"))
        #expect(ada.has("<option value=\"Ada\" selected>"))
        #expect(try await browser.get("/console/health/team?event=revoked").has("There are none."))
        let first = try await browser.get("/console/health/team?pageSize=1")
        let next = try #require(first.text.firstMatch(of: /href="(\/console\/health\/team\?cursor=[^"]+)"/))
        let second = try await browser.get(String(next.1).replacing("&amp;", with: "&"))
        #expect(second.has("a &lt;gift&gt;") != first.has("a &lt;gift&gt;"))
        #expect(try await browser.get("/console/health/team?cursor=eA").status == 400)
    }

    @Test func `the pages speak Korean`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.admin)
        let korean: HTTPFields = [.acceptLanguage: "ko"]
        #expect(try await browser.get("/console/health", headers: korean).has("실행하세요: chmod 600"))
        #expect(try await browser.get("/console/health/team", headers: korean).has("팀의 작업"))
        #expect(try await browser.get("/console/health/team", headers: korean).has("OpenAPI 문서"))
    }

    @Test(arguments: ["/console/health", "/console/health/team"])
    func `the pages link to the OpenAPI document`(path: String) async throws {
        let fixture = try await ConsoleFixture()
        #expect(try await fixture.browser(.viewer).get(path).has("<a href=\"/openapi.json\">OpenAPI document</a>"))
    }

    @Test(arguments: ["/console/health", "/console/health/team", "/console/team"])
    func `visitors see no page`(path: String) async throws {
        let fixture = try await ConsoleFixture()
        #expect(try await Browser(routes: fixture.routes).get(path).status == 303)
    }
}
