import Entitlements
import Features
import Foundation
import HTTPTypes
import Testing

/// The page of the team.
@Suite struct TeamPageTests {
    /// The path of the link that a page shows.
    private func link(_ page: Browser.Page) throws -> String {
        let match = try #require(page.text.firstMatch(of: /<code class="secret" id="link">([^<]+)<\/code>/))
        return String(match.1)
    }

    @Test func `an administrator adds a member, whose link sets a password once`() async throws {
        let fixture = try await ConsoleFixture()
        let admin = try await fixture.browser(.admin)
        let page = try await admin.post(
            "/console/team/members", ["name": "Ada Kim", "role": "support"], from: "/console/team")
        #expect(page.status == 200)
        #expect(page.has("Ada Kim"))
        let parts = try link(page).split(separator: "#").map(String.init)
        let (path, code) = (try #require(parts.first), try #require(parts.last))
        #expect(path == "/console/invitation")
        #expect(!(try await admin.get("/console/team").has(code)))
        let visitor = Browser(routes: fixture.routes)
        let fields = [
            "code": code, "new-password": "correct horse battery", "repetition": "correct horse battery",
        ]
        #expect(try await visitor.post(path, fields, from: path).status == 303)
        #expect(try await visitor.post(path, fields, from: path).status == 404)
        let team = try await admin.get("/console/team")
        #expect(team.has("<bdi>Ada Kim</bdi>: added (Support)"))
        #expect(team.has("<bdi>Ada Kim</bdi>: password set"))
        #expect(team.has("command line"))
        let changes = try await fixture.team.changes(limit: 2)
        #expect(changes.map(\.actor) == [.member("Ada Kim"), .member("admin")])
    }

    @Test func `a link begins with the address that the browser uses`() async throws {
        let fixture = try await ConsoleFixture()
        let admin = try await fixture.browser(.admin)
        let page = try await admin.post(
            "/console/team/members/admin/invitation", [:], from: "/console/team",
            headers: [.origin: "http://localhost"])
        #expect(try link(page).hasPrefix("http://localhost/console/invitation#"))
        #expect(try await fixture.team.changes(limit: 1).map(\.event) == [.invited])
    }

    @Test func `an administrator changes a role and removes a member, at once`() async throws {
        let fixture = try await ConsoleFixture()
        let admin = try await fixture.browser(.admin)
        let jun = try await fixture.browser(.viewer, name: "Jun Park")
        #expect(try await jun.get("/console/team").status == 403)
        let role = try await admin.post(
            "/console/team/members/Jun%20Park/role", ["role": "admin"], from: "/console/team")
        #expect(role.location == "/console/team?done=saved")
        #expect(try await jun.get("/console/team").status == 200)
        let removal = try await admin.post("/console/team/members/Jun%20Park/removal", [:], from: "/console/team")
        #expect(removal.location == "/console/team?done=removed")
        #expect(try await jun.get("/console").status == 303)
        let page = try await admin.get("/console/team")
        #expect(page.has("Removed members"))
        #expect(page.has("<bdi>Jun Park</bdi>: role changed (Administrator)"))
        let events = try await fixture.team.changes(limit: 2)
        #expect(events.map(\.event) == [.removed, .roleChanged])
        #expect(events.allSatisfy { $0.actor == .member("admin") })
    }

    @Test func `the last administrator and the own membership stay`() async throws {
        let fixture = try await ConsoleFixture()
        let admin = try await fixture.browser(.admin)
        #expect(!(try await admin.get("/console/team").has("/members/admin/removal")))
        let own = try await admin.post("/console/team/members/admin/removal", [:], from: "/console/team")
        #expect(own.status == 409)
        #expect(own.has("ownRemoval"))
        let demotion = try await admin.post(
            "/console/team/members/admin/role", ["role": "viewer"], from: "/console/team")
        #expect(demotion.status == 409)
        #expect(demotion.has("lastAdministrator"))
        #expect(try await admin.get("/console/team").status == 200)
    }

    @Test(arguments: [TeamRole.viewer, .support, .catalog])
    func `other roles neither see the team nor change it`(role: TeamRole) async throws {
        let fixture = try await ConsoleFixture()
        _ = try await fixture.browser(.admin)
        let browser = try await fixture.browser(role)
        #expect(!(try await browser.get("/console").has("href=\"/console/team\"")))
        #expect(try await browser.get("/console/team").status == 403)
        for path in ["members", "members/admin/invitation", "members/admin/role", "members/admin/removal"] {
            let answer = try await browser.post(
                "/console/team/\(path)", ["name": "eve", "role": "admin"], from: "/console")
            #expect(answer.status == 403, "\(path)")
        }
        #expect(try await fixture.team.members().count == 2)
        #expect(try await fixture.team.member(named: "admin")?.role == .admin)
    }

    @Test func `wrong names and roles are refused`() async throws {
        let fixture = try await ConsoleFixture()
        let admin = try await fixture.browser(.admin)
        for (name, role, status) in [
            ("", "viewer", 422), ("admin", "viewer", 409), ("ada", "owner", 422), ("..", "viewer", 422),
            ("a\u{7}b", "viewer", 422),
            (String(repeating: "a", count: 65), "viewer", 422),
        ] {
            let answer = try await admin.post(
                "/console/team/members", ["name": name, "role": role], from: "/console/team")
            #expect(answer.status == status, "\(name) \(role)")
        }
        #expect(try await admin.post("/console/team/members/nobody/removal", [:], from: "/console/team").status == 404)
    }

    @Test func `a name is shown as text, and the page speaks Korean`() async throws {
        let fixture = try await ConsoleFixture()
        let admin = try await fixture.browser(.admin)
        let name = "<script>\"'&\u{202E}"
        let isAllowed = TeamMember.isName(name)
        let shown = isAllowed ? name : "<script>\"'&"
        _ = try await admin.post("/console/team/members", ["name": shown, "role": "viewer"], from: "/console/team")
        let page = try await admin.get("/console/team")
        #expect(!page.has("<script>\""))
        #expect(page.has("&lt;script&gt;&quot;&#39;&amp;"))
        #expect(try await admin.get("/console/team", headers: [.acceptLanguage: "ko"]).has("구성원 추가"))
    }

    @Test func `the changes are paged`() async throws {
        let fixture = try await ConsoleFixture()
        let admin = try await fixture.browser(.admin)
        for number in 1...25 { _ = try await fixture.team.add("member \(number)", role: .viewer) }
        let first = try await admin.get("/console/team")
        let match = try #require(first.text.firstMatch(of: /href="(\/console\/team\?cursor=[^"]+)"/))
        let second = try await admin.get(String(match.1))
        #expect(!first.has("<bdi>admin</bdi>: added"))
        #expect(second.has("<bdi>admin</bdi>: added"))
    }
}
