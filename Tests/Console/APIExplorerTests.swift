import Foundation
import Service
import Testing

/// The API explorer.
@Suite struct APIExplorerTests {
    @Test func `every operation of the document has a page`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.viewer)
        let list = try await browser.get("/console/health/api")
        let links = list.text.matches(of: /href="(\/console\/health\/api\/[^"]+)"/).map { String($0.1) }
        #expect(Set(links).count == links.count)
        let document = String(decoding: try OpenAPIDocument.composed.get().bytes, as: UTF8.self)
        let operations = document.matches(of: /"operationId":"([^"]+)"/).map { String($0.1) }
        #expect(operations.count > 80)
        // The webhook itself is an operation of the receiver.
        let shown = links.compactMap { $0.split(separator: "/").last.map(String.init) }
        #expect(Set(operations).subtracting(shown) == ["change"])
        for link in links {
            let page = try await browser.get(link)
            #expect(page.status == 200, "\(link)")
            #expect(page.has("<pre id=\"curl\" role=\"region\""), "\(link)")
            #expect(!page.has("name=\"key\""), "\(link)")
        }
    }

    @Test func `an operation is shown as a command and as a form for the script`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.viewer)
        let page = try await browser.get("/console/health/api/listUserGrants")
        #expect(page.has("GET /v1/users/{user}/grants"))
        #expect(page.has("/v1/users/USER/grants&#39; \\\n  -H &quot;Authorization: Bearer $TILL_API_KEY&quot;"))
        #expect(page.has("data-request=\"/v1/users/{user}/grants\""))
        #expect(page.has("data-in=\"path\" name=\"user\""))
        // The script shows the form; without it, the field of the key could not be sent.
        #expect(page.text.firstMatch(of: /<section class="card" hidden data-scripted>/) != nil)
        #expect(page.text.firstMatch(of: /<input type="password" id="key" data-key [^>]*name=/) == nil)
        #expect(page.has("pageSize") && page.has("1–100"))
    }

    @Test func `a change is shown as a command with an example, and has no form`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.viewer)
        let list = try await browser.get("/console/health/api")
        let link = try #require(
            list.text.firstMatch(of: /href="([^"]+)"><code>POST \/v1\/users\/\{user\}\/grants</))
        let page = try await browser.get(String(link.1))
        #expect(page.has("-d &#39;{&quot;item&quot;:{"))
        #expect(page.has("Content-Type: application/json"))
        #expect(!page.has("data-request"))
    }

    @Test func `a stream and a download have no form, and an unknown operation has no page`() async throws {
        let fixture = try await ConsoleFixture()
        let browser = try await fixture.browser(.viewer)
        let list = try await browser.get("/console/health/api")
        for path in ["GET /v1/me/events", "GET /v1/exports/{export}"] {
            let end = try #require(list.text.range(of: "\"><code>\(path)<"))
            let start = try #require(
                list.text[..<end.lowerBound].range(of: "href=\"", options: .backwards)?.upperBound)
            let page = try await browser.get(String(list.text[start..<end.lowerBound]))
            #expect(page.status == 200)
            #expect(!page.has("data-request"), "\(path)")
        }
        #expect(try await browser.get("/console/health/api/nothing").status == 404)
    }

    @Test func `visitors see no page`() async throws {
        let fixture = try await ConsoleFixture()
        let visitor = Browser(routes: fixture.routes)
        for path in ["/console/health", "/console/health/team", "/console/health/api", "/console/team"] {
            #expect(try await visitor.get(path).status == 303)
        }
    }
}
