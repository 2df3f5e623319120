import Entitlements
import Features
import Foundation
import HTTPTypes
import Proofs
import Testing

/// Log-in, sessions, forged forms and roles.
@Suite struct AccessTests {
    @Test func `a visitor is asked to log in, and then sees the page`() async throws {
        let fixture = try await ConsoleFixture()
        let visitor = Browser(routes: fixture.routes)
        let refused = try await visitor.get("/console/account")
        #expect(refused.status == 303)
        #expect(refused.location == "/console/log-in?next=%2Fconsole%2Faccount")
        _ = try await fixture.browser(.viewer)
        let answer = try await visitor.post(
            "/console/log-in", ["name": "viewer", "password": "correct horse battery", "next": "/console/account"],
            from: "/console/log-in")
        #expect(answer.location == "/console/account")
        #expect(try await visitor.get("/console/account").status == 200)
    }

    @Test(arguments: [
        "//example.com", "https://example.com/console", "/v1/products", "/console/\\example", "/consoles",
    ])
    func `a log-in leads to no page outside of the console`(next: String) async throws {
        let fixture = try await ConsoleFixture()
        _ = try await fixture.browser(.viewer)
        let visitor = Browser(routes: fixture.routes)
        let answer = try await visitor.post(
            "/console/log-in", ["name": "viewer", "password": "correct horse battery", "next": next],
            from: "/console/log-in")
        #expect(answer.location == "/console")
        let language = try await visitor.post(
            "/console/language", ["language": "ko", "page": next], from: "/console/account")
        #expect(language.location == "/console")
    }

    @Test func `a visitor of a long address can log in, too`() async throws {
        let fixture = try await ConsoleFixture()
        let visitor = Browser(routes: fixture.routes)
        for (length, isKept) in [(800, true), (1100, false)] {
            let path = "/console/customers?search=" + String(repeating: "a", count: length)
            let location = try #require(try await visitor.get(path).location)
            #expect(location.contains("aaaa") == isKept)
            let page = try await visitor.get(location)
            #expect(page.status == 200)
            #expect(page.has("value=\"\(path)\"") == isKept)
        }
    }

    @Test func `a session gets a new cookie, and ends on log-out`() async throws {
        let fixture = try await ConsoleFixture()
        _ = try await fixture.browser(.admin)
        let browser = Browser(routes: fixture.routes)
        let page = try await browser.get("/console/log-in")
        let before = try #require(browser.cookies["till_console"])
        #expect(page.headers[.setCookie]?.contains("HttpOnly; SameSite=Strict") == true)
        _ = try await browser.post(
            "/console/log-in", ["name": "admin", "password": "correct horse battery"], from: "/console/log-in")
        let session = try #require(browser.cookies["till_console"])
        #expect(session != before)
        #expect(try await browser.get("/console").status == 200)
        let thief = Browser(routes: fixture.routes)
        thief.cookies = ["till_console": session]
        #expect(try await browser.post("/console/log-out", [:], from: "/console").status == 303)
        #expect(try await thief.get("/console").status == 303)
    }

    @Test func `a session ends after twelve hours`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.viewer)
        fixture.shop.clock.advance(milliseconds: 12 * 3_600_000 - 1)
        #expect(try await browser.get("/console").status == 200)
        fixture.shop.clock.advance(milliseconds: 1)
        #expect(try await browser.get("/console").status == 303)
    }

    @Test func `a form without the token of its session is refused`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.admin)
        let other = try await fixture.browser(.admin, name: "other")
        #expect(try await browser.post("/console/log-out", [:], from: nil).status == 403)
        let token = try #require(try await other.get("/console").formToken)
        #expect(try await browser.post("/console/log-out", ["form-token": token], from: nil).status == 403)
        #expect(try await browser.get("/console").status == 200)
    }

    @Test func `a form of another site is refused`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.admin)
        let site = try #require(HTTPField.Name("Sec-Fetch-Site"))
        for (name, value) in [
            (site, "cross-site"), (site, "same-site"), (.origin, "https://example.com"), (.origin, "null"),
        ] {
            let answer = try await browser.post("/console/log-out", [:], from: "/console", headers: [name: value])
            #expect(answer.status == 403, "\(name) \(value)")
        }
        #expect(try await browser.get("/console").status == 200)
    }

    @Test func `the browser's statement about the site comes before a host that a proxy has changed`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.admin)
        let site = try #require(HTTPField.Name("Sec-Fetch-Site"))
        for (value, origin, status) in [
            ("same-origin", "https://till.example.com", 303), ("none", "https://till.example.com", 303),
            ("cross-site", "http://localhost", 403), ("", "http://localhost", 403),
        ] {
            let answer = try await browser.post(
                "/console/health/checks", [:], from: "/console", headers: [site: value, .origin: origin])
            #expect(answer.status == status, "\(value) \(origin)")
        }
    }

    @Test func `a form of a visitor is small`() async throws {
        let fixture = try await ConsoleFixture()
        let member = try await fixture.browser(.viewer)
        let fields = ["name": "ada", "password": "x", "other": String(repeating: "x", count: 9000)]
        let visitor = Browser(routes: fixture.routes)
        #expect(try await visitor.post("/console/log-in", fields, from: "/console/log-in").status == 413)
        #expect(try await member.post("/console/log-in", fields, from: "/console/account").status == 401)
    }

    @Test func `over TLS, the cookie of a session is of this host alone`() async throws {
        let fixture = try await ConsoleFixture(isSecure: true)
        let browser = try await fixture.browser(.viewer)
        let session = try #require(browser.cookies["__Host-till_console"])
        let forged = Browser(routes: fixture.routes)
        forged.cookies = ["till_console": session]
        let page = try await forged.get("/console")
        #expect(page.status == 303)
        #expect(
            page.headers[.setCookie]?.hasSuffix("; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure") == true)
        #expect(try await browser.get("/console").status == 200)
    }

    @Test func `no page may be framed, cached or extended by scripts of others`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.viewer)
        var pages: [Browser.Page] = []
        for path in ["/console", "/console/nothing", "/console/log-in"] { pages.append(try await browser.get(path)) }
        pages.append(try await browser.post("/console/nothing", [:], from: "/console"))
        #expect(pages.map(\.status) == [200, 404, 200, 404])
        for page in pages {
            #expect(page.headers[.contentSecurityPolicy]?.contains("frame-ancestors 'none'") == true)
            #expect(page.headers[.contentSecurityPolicy]?.hasPrefix("default-src 'self';") == true)
            #expect(page.headers[.cacheControl] == "no-store")
            #expect(!page.has("style=") && !page.has("onclick"))
        }
    }

    @Test func `an invitation sets one password`() async throws {
        let fixture = try await ConsoleFixture()
        let secret = try await fixture.team.add("Ada Kimchi", role: .support)
        let browser = Browser(routes: fixture.routes)
        let path = "/console/invitation"
        func accept(_ code: String, _ password: String, _ repetition: String) async throws -> Browser.Page {
            try await browser.post(
                path, ["code": code, "new-password": password, "repetition": repetition], from: path)
        }
        #expect(try await accept(secret, "correct horse", "x").status == 422)
        #expect(try await accept(secret, "ada kimchi", "ada kimchi").has("passwordLikeEmail"))
        let link = "https://till.example/console/invitation#\(secret)"
        #expect(try await accept(link, "ada kimchi!", "ada kimchi!").location == "/console/log-in")
        let late = try await fixture.team.invite("Ada Kimchi")
        fixture.shop.clock.advance(milliseconds: TeamService.invitationTime)
        for code in [secret, late, "", "x", String(late.dropLast()), late + "A"] {
            let answer = try await accept(code, "correct horse", "correct horse")
            #expect(answer.status == 404 && answer.has("invitationInvalid"), "\(code.count)")
        }
        #expect(try await accept(String(repeating: "A", count: 1025), "correct horse", "correct horse").status == 422)
    }

    @Test func `a form says whether its password is missing or too long`() async throws {
        let fixture = try await ConsoleFixture()
        let secret = try await fixture.team.add("Ada Kim", role: .support)
        let (browser, path) = (Browser(routes: fixture.routes), "/console/invitation")
        for (fields, detail) in [
            ([:], "The field &quot;new-password&quot; must be not empty."),
            (
                ["new-password": String(repeating: "x", count: 1025)],
                "The field &quot;new-password&quot; must be at most 1024 bytes."
            ),
            (["new-password": "correct horse"], "The field &quot;repetition&quot; must be not empty."),
        ] as [([String: String], String)] {
            let answer = try await browser.post(path, fields.merging(["code": secret]) { $1 }, from: path)
            #expect(answer.status == 422 && answer.has("fieldInvalid") && answer.has(detail), "\(detail)")
        }
    }

    @Test func `the page of a one-time link knows neither its code nor its member`() async throws {
        let fixture = try await ConsoleFixture()
        let secret = try await fixture.team.add("Ada Kim", role: .support)
        let browser = Browser(routes: fixture.routes)
        let page = try await browser.get("/console/invitation")
        #expect(page.status == 200)
        #expect(page.has("name=\"code\"") && page.has("data-code"))
        #expect(page.has("paste the part of your link after #"))
        #expect(try await browser.get("/console/invitation", headers: [.acceptLanguage: "ko"]).has("# 뒤의 부분"))
        #expect(try await browser.get("/console/invitation/\(secret)").status == 404)
    }

    @Test func `the script is smaller than fifteen thousand bytes`() async throws {
        let fixture = try await ConsoleFixture()
        let script = try await Browser(routes: fixture.routes).get("/console/assets/console.js")
        #expect(script.status == 200)
        #expect(script.text.utf8.count < 15_000)
    }

    @Test func `guesses are limited by name`() async throws {
        let fixture = try await ConsoleFixture()
        _ = try await fixture.browser(.admin)
        let browser = Browser(routes: fixture.routes)
        for _ in 0..<10 {
            let answer = try await browser.post(
                "/console/log-in", ["name": "admin", "password": "wrong"], from: "/console/log-in")
            #expect(answer.status == 401)
        }
        let answer = try await browser.post(
            "/console/log-in", ["name": "admin", "password": "correct horse battery"], from: "/console/log-in")
        #expect(answer.status == 429)
    }

    @Test func `a code is asked for once it was confirmed, and is accepted once`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.admin)
        let member = try #require(try await fixture.team.member(named: "admin"))
        let secret = fixture.team.newCodeSecret()
        let step = fixture.shop.clock.now().secondsSince1970 / 30
        await #expect(throws: TeamError.codeWrong) {
            try await fixture.team.setCodeSecret(secret, of: member, confirmedBy: "000000x")
        }
        try await fixture.team.setCodeSecret(
            secret, of: member, confirmedBy: OneTimeCode.code(at: step, secret: secret))
        func logIn(_ code: String) async throws -> Int {
            try await Browser(routes: fixture.routes).post(
                "/console/log-in", ["name": "admin", "password": "correct horse battery", "code": code],
                from: "/console/log-in"
            ).status
        }
        #expect(try await logIn("") == 401)
        #expect(try await logIn(OneTimeCode.code(at: step, secret: secret)) == 401)
        fixture.shop.clock.advance(milliseconds: 30_000)
        #expect(try await logIn(OneTimeCode.code(at: step + 1, secret: secret)) == 303)
        #expect(try await logIn(OneTimeCode.code(at: step + 1, secret: secret)) == 401)
        #expect(try await browser.get("/console").status == 200)
    }

    @Test func `guesses of a code are limited after the log-in, too`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.admin)
        let member = try #require(try await fixture.team.member(named: "admin"))
        let secret = fixture.team.newCodeSecret()
        let code = OneTimeCode.code(at: fixture.shop.clock.now().secondsSince1970 / 30, secret: secret)
        try await fixture.team.setCodeSecret(secret, of: member, confirmedBy: code)
        for number in 0...10 {
            let answer = try await browser.post(
                "/console/account/codes/off", ["password": "correct horse battery", "code": "x"],
                from: "/console/account")
            #expect(answer.status == (number < 10 ? 403 : 429))
        }
        #expect(try await fixture.team.member(named: "admin")?.codeSecret == secret)
    }

    @Test func `another password ends every session`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.viewer)
        let fields = [
            "password": "correct horse battery", "new-password": "staple staple", "repetition": "staple staple",
        ]
        #expect(try await browser.post("/console/account/password", fields, from: "/console/account").status == 303)
        #expect(try await browser.get("/console").status == 303)
    }

    @Test func `a removed member is out at once`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.support)
        try await fixture.team.remove("support")
        #expect(try await browser.get("/console").status == 303)
        await #expect(throws: TeamError.nameTaken("support")) {
            try await fixture.team.add("support", role: .viewer)
        }
    }

    @Test func `a query is read as forms encode it`() async throws {
        let browser = Browser(routes: try await ConsoleFixture().routes)
        let page = try await browser.get("/console/log-in?next=%2Fconsole%3Fsearch%3Da%2Bb&done=saved+twice")
        #expect(page.has("value=\"/console?search=a+b\""))
        let spaced = try await browser.get("/console/log-in?x=1+2&next=/console/customers?search=mina+park")
        #expect(spaced.has("value=\"/console\""))
    }

    @Test func `the pages are in the language of the browser, or in the chosen one`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = Browser(routes: fixture.routes)
        #expect(try await browser.get("/console/log-in", headers: [.acceptLanguage: "ko-KR,en;q=0.8"]).has("로그인"))
        #expect(try await browser.get("/console/log-in").has("Log in"))
        let answer = try await browser.post(
            "/console/language", ["language": "ko", "page": "/console/log-in"], from: "/console/log-in")
        #expect(answer.location == "/console/log-in")
        #expect(try await browser.get("/console/log-in").has("lang=\"ko\""))
    }
}
