import AppStore
import Foundation
import HTTPSupport
import Proofs
import Testing

/// The lists of the local store, and the members who may see them.
@Suite struct LocalStoreListTests {
    private static let pages = ["", "?state=queue", "/buy", "/clock", "/notifications", "/settings"]

    @Test func `only members who may control the store see its pages`() async throws {
        let fixture = try await LocalStoreFixture()
        let sold = try fixture.buy("gate")
        let notification = try #require(try fixture.store.notifications().first).notificationUUID
        let paths =
            Self.pages + [
                "/stream", "?payment=1", "?transaction=\(sold)", "?account=alice",
                "/account/receipt?account=alice", "/notifications/\(notification)",
            ]
        let viewer = try await fixture.browser(.viewer)
        #expect(try await !viewer.get("/console/account").has("href=\"/console/store\""))
        for path in paths { #expect(try await viewer.get("/console/store\(path)").status == 403, "\(path)") }
        let support = try await fixture.browser(.support)
        #expect(try await support.get("/console/account").has("href=\"/console/store\""))
        for path in paths where path != "/stream" {
            #expect(try await support.get("/console/store\(path)").status == 200, "\(path)")
        }
    }

    @Test func `a direct request of another member changes nothing`() async throws {
        let fixture = try await LocalStoreFixture()
        let sold = try fixture.buy("gate")
        let notification = try #require(try fixture.store.notifications().first).notificationUUID
        let viewer = try await fixture.browser(.viewer)
        let settings = try fixture.store.settings()
        var paths = ["buy", "clock", "settings", "faults", "faults/clear", "clear", "reset", "account/restore"]
        paths += ["notifications", "account/family", "account/family/leave"]
        paths += ["approve", "decline", "resolve", "finish"].map { "queue/1/\($0)" }
        paths += (TransactionAction.allCases.map(\.rawValue) + ["redeem", "retention"]).map {
            "transactions/\(sold)/\($0)"
        }
        paths.append("notifications/\(notification)/replay")
        let fields = [
            "account": "alice", "product": "garden.seeds", "quantity": "1", "outcome": "purchased", "step": "1d",
            "fault": "drop", "count": "1", "user": "alice", "refund-reason": "0", "request-reason": "OTHER",
            "notification": "RESCIND_CONSENT",
        ]
        for path in paths {
            let answer = try await viewer.post("/console/store/\(path)", fields, from: "/console/account")
            #expect(answer.status == 403, "\(path)")
        }
        #expect(try fixture.store.history(of: "alice").map(\.revocation) == [nil])
        #expect(try fixture.store.settings() == settings)
        #expect(try fixture.store.faults() == [])
        #expect(try fixture.store.notifications().map(\.notificationUUID) == [notification])
        #expect(fixture.store.now == fixture.garden.clock.now())
        #expect(try await fixture.items(of: "alice") == [])
    }

    @Test func `a service without a local store has no such pages`() async throws {
        let fixture = try await LocalStoreFixture(hasStore: false)
        let browser = try await fixture.browser(.admin)
        #expect(try await !browser.get("/console").has("href=\"/console/store\""))
        for path in Self.pages { #expect(try await browser.get("/console/store\(path)").status == 404, "\(path)") }
    }

    @Test func `transactions are shown newest first, page by page, with their accounts and subscriptions`() async throws
    {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.admin)
        #expect(try await browser.get("/console/store").has("The store has sold nothing yet."))
        let first = try fixture.buy("premium.monthly")
        let second = try fixture.buy("seeds", account: "bob")
        let all = try await browser.get("/console/store").text
        let place = try #require(all.range(of: ">\(second)<")?.lowerBound)
        #expect(try place < #require(all.range(of: ">\(first)<")?.lowerBound))
        #expect(all.contains("USD 9.99") && all.contains("USD 0.99") && all.contains("renews"))
        let page = try await browser.get("/console/store?pageSize=1")
        #expect(page.has(">\(second)<") && !page.has(">\(first)<"))
        let next = try #require(page.text.firstMatch(of: /href="(\/console\/store\?cursor=[^"]+)"/)?.1)
        #expect(try await browser.get("\(next)&pageSize=1").has(">\(first)<"))
        let bob = try await browser.get("/console/store?account=bob")
        #expect(bob.has(">\(second)<") && !bob.has(">\(first)<"))
        for wrong in ["cursor=x", "state=x"] { #expect(try await browser.get("/console/store?\(wrong)").status == 400) }
    }

    @Test func `the queue shows what waits, and the first page what is unfinished`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        _ = try fixture.store.add(
            Payment(productIdentifier: "garden.gate"), account: "alice", outcome: .deferred)
        _ = try fixture.store.add(
            Payment(productIdentifier: "garden.seeds"), account: "bob", outcome: .failed(.paymentNotAllowed))
        for account in ["alice", "bob"] { _ = try fixture.store.process(account: account) }
        for path in ["/console/store", "/console/store?state=queue"] {
            let page = try await browser.get(path)
            #expect(page.has("Waits for approval") && page.has("paymentNotAllowed"), "\(path)")
            #expect(page.has("/console/store/queue/1/approve"), "\(path)")
        }
        _ = try fixture.store.finish(2, account: "bob")
        #expect(try await !browser.get("/console/store").has("paymentNotAllowed"))
        #expect(try await browser.get("/console/store?state=queue&account=bob").has("paymentNotAllowed"))
        #expect(try await !browser.get("/console/store?state=queue&account=bob").has("Waits for approval"))
    }

    @Test func `names of accounts are shown as text`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.admin)
        let allowed = CharacterSet.alphanumerics.intersection(CharacterSet(charactersIn: "\0"..."~"))
        for name in ["<script>alert(1)</script>", "\"><img src=x>", "..", "a&b?c=d#e", "\u{202E}مرحبا"] {
            let sold = try fixture.buy("gate", account: name)
            let address = name.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
            for path in ["", "?state=queue", "/buy", "?transaction=\(sold)", "?account=\(address)"] {
                let page = try await browser.get("/console/store\(path)")
                #expect(page.status == 200, "\(path)")
                #expect(!page.has("<script>alert") && !page.has("<img src=x"), "\(path)")
            }
            let page = try await browser.get("/console/store?account=\(address)")
            #expect(page.has(sold), "\(name)")
        }
    }

    @Test func `an account has its subscriptions, its receipt and the restoration of its purchases`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.support)
        _ = try fixture.buy("premium.monthly")
        _ = try fixture.buy("basic.monthly")
        let sold = try #require(try fixture.store.history(of: "alice").first).transactionIdentifier
        let page = try await browser.get("/console/store?account=alice&transaction=\(sold)")
        #expect(page.has("garden.premium.monthly") && page.has("Product after the renewal"))
        let receipt = try await browser.get("/console/store/account/receipt?account=alice")
        #expect(receipt.headers[.contentType] == "text/plain; charset=utf-8")
        #expect(Data(base64Encoded: receipt.text.trimmingCharacters(in: .whitespacesAndNewlines)) != nil)
        for queued in try fixture.store.transactions() {
            _ = try fixture.store.finish(queued.transaction.identifier, account: "alice")
        }
        let answer = try await browser.post(
            "/console/store/account/restore", ["account": "alice"], from: "/console/store?account=alice")
        #expect(answer.location == "/console/store?account=alice&done=restored")
        #expect(try fixture.store.transactions().last?.transaction.state == .restored)
        #expect(try await browser.get("/console/store/account/receipt").status == 400)
    }

    @Test func `the form has the products by name, with prices, lengths and offers`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.catalog)
        _ = try fixture.store.update { $0.simulatedErrors[.loadProducts] = .networkError }
        let page = try await browser.get("/console/store/buy")
        for text in [
            "<option value=\"garden.gate\">", "<optgroup label=\"Auto-renewable subscription\">", "USD 0.99</option>",
            "1 month</option>", "Promotional offer spring", "FAIR", "Win-back offer",
        ] {
            #expect(page.has(text), "\(text)")
        }
    }

    @Test func `the pages are in Korean, too`() async throws {
        let fixture = try await LocalStoreFixture()
        let browser = try await fixture.browser(.admin)
        let sold = try fixture.buy("premium.monthly")
        _ = try await browser.post("/console/language", ["language": "ko"], from: "/console/store")
        for (path, text) in [
            ("", "시뮬레이션 조건"), ("?state=queue", "다음 단계"), ("/buy", "지급받을 사용자"), ("/clock", "앞으로 돌리기"),
            ("/notifications", "다시 보내기"), ("?transaction=\(sold)", "자동 갱신"), ("/settings", "스토어 초기화"),
            ("?transaction=\(sold)", "지금 갱신"), ("?account=alice", "구매 복원"),
        ] {
            #expect(try await browser.get("/console/store\(path)").has(text), "\(path)")
        }
    }
}
