import AppStore
import Entitlements
import Features
import Foundation
import HTTPTypes
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The page of a customer, and the pages of the recorded facts.
@Suite struct CustomerPageTests {
    private static let path = "/console/customers/-/alice"

    private func links(_ page: Browser.Page, _ part: String) -> [String] {
        page.text.matches(of: /href="([^"]+)"/).map { String($0.1).replacing("&amp;", with: "&") }.filter {
            $0.contains(part)
        }
    }

    @Test func `a customer's items, subscription, balance and profile are on one page`() async throws {
        let console = try await GardenConsole()
        let alice = try console.user()
        try await console.buy("garden.premium.monthly", for: alice)
        try await console.buy("garden.seeds", for: alice, quantity: 2)
        try await console.notify()
        try await console.profiles.wish(for: "garden.gate", by: alice, newcomers: nil)
        _ = try await console.profiles.change(.set("Ali"), chosen: [], of: alice)
        let grant = try console.entitlements.newGrant(
            of: Item(collection: "gate", number: 1), reason: "an <apology>", endsAt: nil, by: "member Ada Kim")
        _ = try await console.entitlements.give(grant, to: alice)
        let browser = try await console.browser(.viewer)
        let page = try await browser.get(Self.path)
        let words = page.words
        #expect(words.contains("garden.premium.monthly, monthly, active, renews on 2026-11-30 at USD 9.99."))
        #expect(words.contains("plus 2") && words.contains("gate 1") && words.contains("Everybody has it"))
        #expect(words.contains("seeds20"))
        #expect(words.contains("Ali") && words.contains("garden.gate · 2026-10-31"))
        #expect(words.contains("an &lt;apology&gt;") && words.contains("Ada Kim"))
        #expect(words.contains("Local sandbox"))
        let token = try await console.entitlements.appAccountToken(of: alice).lowercasedString
        #expect(page.has(token))
        let korean = try await browser.get(Self.path, headers: [.acceptLanguage: "ko"]).words
        #expect(korean.contains("garden.premium.monthly, 매월, 이용 중, 2026-11-30에 갱신 (USD 9.99)."))
        #expect(korean.contains("팀이 지급") && korean.contains("모두에게 제공"))
    }

    @Test func `the header has the person in a few facts, warnings and buttons`() async throws {
        let console = try await GardenConsole()
        let alice = try console.user()
        let gate = try await console.buy("garden.gate", for: alice)
        let premium = try await console.buy("garden.premium.monthly", for: alice)
        let viewer = try await console.browser(.viewer)
        let words = try await viewer.get(Self.path).words
        #expect(words.contains("Total spentUSD 29.98") && words.contains("Customer since2026-10-31"))
        #expect(words.contains("Last purchase2026-10-31") && !words.contains("Refunds:"))
        #expect(words.contains("Only Apple returns money.") && words.contains("https://reportaproblem.apple.com"))
        #expect(try await viewer.get(Self.path).has("/transactions/\(gate)/money-back?"))
        _ = try console.store.advance(seconds: 1)
        try console.store.refund(gate)
        try console.garden.advance(to: "2026-11-02T12:00:00Z")
        try console.store.failRenewal(of: premium, hasGracePeriod: true)
        try await console.notify()
        let page = try await console.browser(.support).get(Self.path)
        #expect(page.words.contains("Total spentUSD 9.99") && page.words.contains("Refunds: 1"))
        #expect(page.words.contains("Apple retries the charge"))
        #expect(page.has("id=\"actions\""))
        let korean = try await viewer.get(Self.path, headers: [.acceptLanguage: "ko"]).words
        #expect(korean.contains("환불 1건") && korean.contains("총 결제액USD 9.99"))
    }

    @Test func `a subscription's failures and end are in plain words`() async throws {
        let console = try await GardenConsole()
        let alice = try console.user()
        let transaction = try await console.buy("garden.premium.monthly", for: alice)
        let browser = try await console.browser(.viewer)
        _ = try console.store.advance(seconds: 1)
        try console.store.setAutoRenew(false, of: transaction)
        try await console.notify()
        let running = try await browser.get(Self.path).words
        #expect(running.contains("renewal is off, ends on 2026-11-30 (the customer turned renewal off)."))
        try console.garden.advance(to: "2027-01-01T00:00:00Z")
        try await console.notify()
        try await console.entitlements.recordDueStates()
        let page = try await browser.get(Self.path)
        #expect(page.words.contains("expired, ended on 2026-11-30 (the customer turned renewal off)."))
        #expect(page.words.contains("Renewal turned off: garden.premium.monthly"))
        #expect(page.words.contains("Expired: garden.premium.monthly"))
    }

    @Test func `a transaction is over when its item is, and valid in the grace period`() async throws {
        let console = try await GardenConsole()
        let alice = try console.user()
        let browser = try await console.browser(.viewer)
        /// The states of the listed transactions, newest first.
        func states() async throws -> [String] {
            try await browser.get(Self.path + "/transactions").text
                .matches(of: />(valid|over|upgraded)</).map { String($0.1) }
        }
        try await console.buy("garden.basic.monthly", for: alice)
        #expect(try await states() == ["valid"])
        // The upgrade ends the paid month.
        try console.garden.advance(to: "2026-11-01T12:00:00Z")
        let transaction = try await console.buy("garden.premium.monthly", for: alice)
        try await console.notify()
        #expect(try await states() == ["valid", "over"])
        #expect(try await console.entitlements.items(of: alice).map(\.item.number).contains(2))
        try console.garden.advance(to: "2026-11-02T12:00:00Z")
        try console.store.failRenewal(of: transaction, hasGracePeriod: true)
        try await console.notify()
        #expect(try await console.entitlements.subscriptions(of: alice).map(\.state) == [.gracePeriod])
        #expect(try await states() == ["valid", "over"])
        #expect(try await browser.get(Self.path).words.contains("grace period"))
    }

    @Test func `without profiles, webhooks and a role the page lacks them`() async throws {
        let console = try await GardenConsole(hasFeatures: false)
        try await console.buy("garden.gate", for: console.user())
        let viewer = try await console.browser(.viewer).get(Self.path)
        #expect(!viewer.has("Nickname") && !viewer.has("id=\"actions\""))
        let admin = try await console.browser(.admin)
        #expect(!(try await admin.get(Self.path).has("/webhooks\"")))
        #expect(try await admin.post(Self.path + "/webhooks", [:], from: Self.path).status == 404)
    }

    @Test func `the timeline tells purchases, renewals, refunds and refusals, and pages back`() async throws {
        let console = try await GardenConsole()
        let (alice, bob) = (try console.user(), try console.user("bob"))
        let bought = try console.garden.buy("garden.gate")
        let proof = Array(try console.store.signedTransaction(bought.identifier).utf8)
        _ = try await console.entitlements.redeem(proof, for: alice)
        await #expect(throws: RedemptionError.self) { try await console.entitlements.redeem(proof, for: bob) }
        try await console.buy("garden.premium.monthly", for: alice)
        try console.garden.advance(to: "2026-12-05T00:00:00Z")
        try await console.notify()
        try console.store.refund(try #require(bought.purchase).transactionIdentifier)
        try await console.notify()
        let browser = try await console.browser(.viewer)
        let words = try await browser.get(Self.path).words
        #expect(words.contains("Purchase: garden.gate") && words.contains("Renewal: garden.premium.monthly"))
        #expect(words.contains("USD 19.99"))
        #expect(words.contains("Refunded by Apple: garden.gate"))
        #expect(words.contains("Notification of the App Store: REFUND"))
        let other = try await browser.get("/console/customers/-/bob")
        #expect(other.words.contains("Refused: garden.gate"))
        #expect(other.words.contains("Another user has redeemed the purchase and keeps it."))
        #expect(links(other, "/-/alice").contains(Self.path))
        let korean = try await browser.get("/console/customers/-/bob", headers: [.acceptLanguage: "ko"]).words
        #expect(korean.contains("거절: garden.gate") && korean.contains("이 구매는 다른 사용자에게 지급되었고 그 사용자가 계속 소유합니다."))
        // Each entry is on exactly one page.
        let all = try await console.entitlements.story(of: alice, before: nil, limit: 100).count
        var (entries, next) = (0, Optional(Self.path + "/timeline?pageSize=2"))
        while let address = next {
            let page = try await browser.get(address)
            entries += page.text.matches(of: /href="[^"]*\/(?:events|notifications)\//).count
            next = links(page, "/timeline?cursor=").first.map { $0 + "&pageSize=2" }
        }
        #expect(entries == all && all > 4)
    }

    @Test func `a refund is told from the request to its reversal, on the page, in the timeline and under money back`()
        async throws
    {
        let console = try await GardenConsole()
        let seeds = try await console.buy("garden.seeds", for: console.user())
        let browser = try await console.browser(.support)
        let back = Self.path + "/transactions/\(seeds)/money-back"
        func after(_ step: () throws -> Void) async throws -> (money: String, refunds: String, page: String) {
            _ = try console.store.advance(seconds: 60)
            try step()
            try await console.notify()
            return (
                try await browser.get(back).words, try await browser.get(Self.path + "/timeline?kind=refunds").words,
                try await browser.get(Self.path).words
            )
        }
        let asked = try await after { try console.store.requestRefund(of: seeds) }
        #expect(asked.money.contains("The customer asked Apple for a refund on 2026-10-31."))
        #expect(asked.refunds.contains("Refund requested of Apple: garden.seeds"))
        #expect(asked.page.contains("Refund requested of Apple: garden.seeds"))
        let declined = try await after { try console.store.declineRefund(of: seeds) }
        #expect(!declined.money.contains("The customer asked Apple"))
        #expect(declined.money.contains("Only Apple returns money."))
        #expect(declined.money.contains("Refund declined by Apple: garden.seeds"))
        #expect(declined.refunds.contains("Refund declined by Apple: garden.seeds"))
        let refunded = try await after { try console.store.refund(seeds) }
        #expect(refunded.money.contains("Apple refunded it on 2026-10-31."))
        #expect(!refunded.money.contains("Only Apple returns money."))
        #expect(refunded.page.contains("Apple refunded it on 2026-10-31."))
        #expect(refunded.refunds.contains("Refunded by Apple: garden.seeds"))
        let korean = try await browser.get(back, headers: [.acceptLanguage: "ko"]).words
        #expect(korean.contains("Apple이 2026-10-31에 환불했습니다.") && korean.contains("Apple에 환불 요청"))
        let reversed = try await after { try console.store.reverseRefund(of: seeds) }
        #expect(reversed.money.contains("Refund reversed by Apple: garden.seeds"))
        #expect(reversed.money.contains("Refunded by Apple: garden.seeds"))
        #expect(!reversed.money.contains("Apple refunded it on"))
    }

    @Test func `a charge has its own date, however late it was redeemed`() async throws {
        let console = try await GardenConsole()
        let bought = try console.garden.buy("garden.gate")
        let proof = try console.store.signedTransaction(bought.identifier)
        try console.garden.advance(to: "2026-12-05T00:00:00Z")
        _ = try await console.entitlements.redeem(Array(proof.utf8), for: console.user())
        let words = try await console.browser(.viewer).get(Self.path + "/timeline").words
        #expect(words.contains("Purchase: garden.gate") && words.contains("Bought 2026-10-31"))
    }

    @Test func `two live subscriptions for one right are a warning`() async throws {
        let console = try await GardenConsole()
        let alice = try console.user()
        try await console.buy("garden.basic.monthly", for: alice)
        let browser = try await console.browser(.viewer)
        #expect(try await !browser.get(Self.path).words.contains("Subscribed twice"))
        let second = try console.garden.buy("garden.basic.yearly", account: "her former account")
        let proof = try console.store.signedTransaction(second.identifier)
        _ = try await console.entitlements.redeem(Array(proof.utf8), for: alice)
        #expect(try await browser.get(Self.path).words.contains("Subscribed twice: plus 1"))
        #expect(try await browser.get(Self.path, headers: [.acceptLanguage: "ko"]).words.contains("중복 구독: plus 1"))
    }

    @Test func `who subscribes again has bought it, and nothing was renewed`() async throws {
        let console = try await GardenConsole()
        let alice = try console.user()
        let first = try await console.buy("garden.premium.monthly", for: alice)
        _ = try console.store.advance(seconds: 1)
        try console.store.setAutoRenew(false, of: first)
        try console.garden.advance(to: "2027-01-01T00:00:00Z")
        try await console.buy("garden.premium.monthly", for: alice)
        let words = try await console.browser(.viewer).get(Self.path + "/timeline").words
        #expect(words.split(separator: "Purchase: garden.premium.monthly").count == 3 && !words.contains("Renewal:"))
    }

    @Test func `a withdrawn consent is in the timeline, with what it takes`() async throws {
        let console = try await GardenConsole()
        let gate = try await console.buy("garden.gate", for: console.user())
        let demanded = try NotificationOnDemand(type: "RESCIND_CONSENT", subtype: nil)
        let told = try console.store.write { try $0.notify(demanded, account: "alice") }
        _ = try await console.entitlements.receive(notification: Array(told.signedPayload.utf8))
        let (app, now) = (TestGarden.bundleIdentifier, console.entitlements.clock.now())
        let child: Set = [TransactionKey(app: app, origin: .localSandbox, identifier: gate)]
        try await console.ledger.write { transaction in
            let consents = try transaction.rescindedConsents(of: [.localSandbox], in: app, at: now, limit: 9)
            #expect(consents.count == 1)
            for consent in consents {
                let view = Viewpoint(accepting: AcceptedOrigins(), at: now)
                try transaction.apply(consent, to: child, by: .block, from: view)
            }
        }
        let browser = try await console.browser(.viewer)
        let words = try await browser.get(Self.path).words
        #expect(words.contains("Parental consent withdrawn") && words.contains("Revoked by the team: garden.gate"))
        #expect(words.contains("A parent withdrew the consent."))
        let korean = try await browser.get(Self.path, headers: [.acceptLanguage: "ko"]).words
        #expect(korean.contains("보호자 동의 철회"))
    }

    @Test func `a month and a kind are one click each, and a purchase opens its notifications`() async throws {
        let console = try await GardenConsole()
        let alice = try console.user()
        try await console.buy("garden.premium.monthly", for: alice)
        try await console.notify()
        try console.garden.advance(to: "2026-12-05T00:00:00Z")
        try await console.notify()
        let browser = try await console.browser(.viewer)
        let page = try await browser.get(Self.path)
        #expect(page.words.contains("December 2026") && page.words.contains("January 2026"))
        let october = try await browser.get(try #require(links(page, "month=2026-10").first))
        #expect(october.words.contains("Purchase: garden.premium.monthly") && !october.words.contains("Renewal:"))
        #expect(october.words.contains("Notifications: 1") && october.words.contains("SUBSCRIBED"))
        let kinds = links(october, "month=2026-10").filter { $0.contains("kind=") }
        #expect(kinds.count == 6)
        for kind in kinds {
            let isShown = try await browser.get(kind).words.contains("Purchase: garden.premium.monthly")
            #expect(isShown == kind.contains("kind=purchases"), "\(kind)")
        }
        let empty = try await browser.get(Self.path + "/timeline?month=2026-03")
        #expect(empty.words.contains("Nothing yet."))
        let earlier = try await browser.get(try #require(links(page, "month=2025-12").first))
        #expect(earlier.words.contains("January 2025") && earlier.words.contains("December 2025"))
        // The month of the browser's time zone.
        let start = try #require(Timestamp(rfc3339: "2026-12-05T00:00:00Z")).millisecondsSince1970
        let before = try await browser.get(Self.path + "/timeline?month=2026-12&until=\(start)")
        #expect(before.words.contains("Nothing yet."))
        for invalid in ["month=March", "month=2026-13", "kind=dogs"] {
            #expect(try await browser.get(Self.path + "/timeline?\(invalid)").status == 400)
        }
        let korean = try await browser.get(Self.path, headers: [.acceptLanguage: "ko"]).words
        #expect(korean.contains("2026년 12월") && korean.contains("알림 1건"))
    }

    @Test func `an entry opens its transaction, its proof and its place in the hash chain`() async throws {
        let console = try await GardenConsole(keepsProofs: true)
        let alice = try console.user()
        let transaction = try await console.buy("garden.gate", for: alice)
        try await console.buy("garden.seeds", for: alice)
        let records = try await console.ledger.read { try $0.audit(of: alice, after: 0, limit: 9) }
        let browser = try await console.browser(.viewer)
        let first = try await browser.get(Self.path + "/events/1")
        #expect(first.words.contains("Purchase: garden.gate") && first.words.contains("The chain is intact here"))
        #expect(first.has(records[0].digest.hexadecimal) && first.has(String(repeating: "0", count: 64)))
        let second = try await browser.get(Self.path + "/events/2")
        #expect(second.has(records[0].digest.hexadecimal) && second.has(records[1].digest.hexadecimal))
        let recorded = try #require(
            try await console.entitlements.ledger.read { try $0.recordedTransactions(transaction, of: alice) }.first)
        let anchor = try #require(recorded.anchorDigest)
        #expect(console.store.rootCertificates.map { DigestAlgorithm.sha256.digest(of: $0.der) }.contains(anchor))
        let page = try await browser.get(try #require(links(first, "/transactions/\(transaction)").first))
        for text in [recorded.proofDigest, anchor, try #require(recorded.leafDigest)].map(\.hexadecimal) {
            #expect(page.has(text) && first.has(text))
        }
        #expect(page.has(Self.path + "/proofs/\(recorded.proofDigest.hexadecimal)"))
        #expect(page.words.contains("originalPurchaseDate") && page.words.contains("Non-Consumable"))
        for number in ["0", "3", "-1", "x", "9223372036854775807"] {
            #expect(try await browser.get(Self.path + "/events/" + number).status == 404)
        }
        #expect(try await browser.get(Self.path + "/transactions/1").status == 404)
        #expect(try await browser.get(Self.path + "/transactions/\(transaction)?origin=nowhere").status == 400)
        #expect(try await browser.get(Self.path + "/transactions/\(transaction)?origin=xcode").status == 404)
    }

    @Test func `a proof that was not kept has no link`() async throws {
        let console = try await GardenConsole()
        let transaction = try await console.buy("garden.gate", for: console.user())
        let page = try await console.browser(.viewer).get(Self.path + "/transactions/" + transaction)
        #expect(page.status == 200 && !page.has("/proofs/"))
    }

    @Test func `a notification shows its content as a tree, to its own customer alone`() async throws {
        let console = try await GardenConsole()
        let (alice, bob) = (try console.user(), try console.user("bob"))
        let transaction = try await console.buy("garden.gate", for: alice)
        try await console.buy("garden.seeds", for: bob)
        _ = try console.store.advance(seconds: 1)
        try console.store.refund(transaction)
        try await console.notify()
        let browser = try await console.browser(.viewer)
        let link = try #require(
            links(try await browser.get(Self.path), "/notifications/").first { _ in true })
        let page = try await browser.get(link)
        #expect(page.words.contains("Notification: REFUND") && page.words.contains("Taken from the customer"))
        #expect(page.has("<code><bdi>notificationType</bdi></code>: <bdi>REFUND</bdi>"))
        #expect(page.text.contains(/<code><bdi>signedDate<\/bdi><\/code>: \d+ · <time/))
        #expect(try await browser.get(link.replacing("/alice/", with: "/bob/")).status == 404)
    }

    @Test func `items have pictures and names in both languages`() async throws {
        let fixture = try await ConsoleFixture()
        try await fixture.buy("sprout1", for: "alice")
        let browser = try await fixture.browser(.viewer)
        let page = try await browser.get(Self.path)
        #expect(page.words.contains("Sturdy Sprout (sprout 1)"))
        #expect(try await browser.get(Self.path, headers: [.acceptLanguage: "ko"]).words.contains("튼튼 새싹 (sprout 1)"))
        let source = try #require(page.text.firstMatch(of: /src="(\/console\/item-pictures\/sprout\/1)"/)).1
        let picture = try await browser.get(String(source))
        #expect(picture.status == 200 && picture.headers[.contentType] == "image/svg+xml")
        #expect(try await browser.get("/console/item-pictures/sprout/99").status == 404)
        #expect(try await Browser(routes: fixture.routes).get(String(source)).status == 303)
    }

    @Test func `an explanation answers in a sentence with a remedy, in both languages`() async throws {
        let console = try await GardenConsole()
        let (alice, bob) = (try console.user(), try console.user("bob"))
        let transaction = try await console.buy("garden.gate", for: alice)
        try await console.buy("garden.seeds", for: bob)
        let browser = try await console.browser(.viewer)
        func explain(_ name: String, _ query: String, _ language: String = "en") async throws -> Browser.Page {
            try await browser.get(
                "/console/customers/-/\(name)/explanation?\(query)", headers: [.acceptLanguage: language])
        }
        let owned = try await explain("alice", "collection=gate&number=1")
        #expect(owned.words.contains("The user has bought garden.gate.") && owned.words.contains("The customer has it"))
        #expect(links(owned, "/transactions/\(transaction)").count == 1)
        #expect(try await explain("alice", "item=gate%201", "ko").words.contains("고객이 garden.gate 상품을 샀습니다."))
        let never = try await explain("bob", "item=gate%201")
        #expect(never.words.contains("The service knows no purchase of garden.gate by the user."))
        #expect(never.words.contains("What to do:") && never.has("<option value=\"gate 1\" selected>"))
        #expect(try await explain("bob", "item=gate%201", "ko").words.contains("서비스가 아는 고객의 garden.gate 상품 구매가 없습니다."))
        #expect(try await explain("bob", "collection=bed&number=0").words.contains("gives the item to everybody"))
        #expect(try await explain("bob", "collection=hat&number=7").words.contains("No product of the catalog grants"))
        try console.store.refund(transaction)
        try await console.notify()
        #expect(try await explain("alice", "item=gate%201").words.contains("Apple has refunded garden.gate."))
        #expect(try await explain("alice", "item=gate%201", "ko").words.contains("Apple이 garden.gate 상품을 환불했습니다."))
        let form = try await explain("bob", "")
        #expect(form.has("<option value=\"plus 2\">") && !form.has("id=\"explanation\""))
        #expect(links(try await browser.get(Self.path), "explanation?collection=bed&number=0").count == 1)
    }

    @Test func `a customer's expected purchases are on the page until their proofs arrive`() async throws {
        let console = try await GardenConsole()
        let alice = try console.user()
        let moment = try #require(Timestamp(rfc3339: "2026-10-01T00:00:00Z"))
        let gate = try console.garden.buy("garden.gate")
        let transaction = try #require(gate.purchase).transactionIdentifier
        func purchase(_ identifier: String, of product: String, at date: Timestamp, until: Timestamp? = nil)
            -> ExpectedPurchase
        {
            ExpectedPurchase(
                app: console.garden.catalog.bundleIdentifier, origin: .localSandbox,
                originalTransactionIdentifier: identifier, productIdentifier: product, purchaseDate: date,
                expiresAt: until)
        }
        let purchases =
            [
                purchase(transaction, of: "garden.gate", at: moment.adding(days: 20)),
                purchase("<70>", of: "garden<b>", at: moment.adding(days: 19), until: moment.adding(days: 49)),
            ] + (0..<10).map { purchase("season\($0)", of: "garden.season", at: moment) }
        _ = try await console.ledger.write {
            try $0.add(imported: alice, purchases: purchases, by: "process", at: moment)
        }
        let browser = try await console.browser(.viewer)
        let page = try await browser.get(Self.path)
        #expect(page.words.contains("Expected purchases") && page.has(transaction))
        #expect(page.words.contains("&lt;70&gt;") && page.words.contains("garden&lt;b&gt;") && !page.has("garden<b>"))
        #expect(page.words.contains("2026-10-21") && page.words.contains("2026-11-19"))
        #expect(page.words.contains("+ 2") && page.has("season7") && !page.has("season8"))
        let path = Self.path + "/explanation?item=gate%201"
        let explained = try await browser.get(path)
        #expect(explained.words.contains("An import expects a purchase of garden.gate from 2026-10-21"))
        #expect(explained.has(transaction) && links(explained, transaction).isEmpty)
        let korean = try await browser.get(path, headers: [.acceptLanguage: "ko"])
        #expect(korean.words.contains("가져온 기록에 garden.gate 구매(2026-10-21)가 있습니다."))
        #expect(try await browser.get(Self.path, headers: [.acceptLanguage: "ko"]).words.contains("증명을 기다리는 구매"))
        let proof = try console.store.signedTransaction(gate.identifier)
        _ = try await console.entitlements.redeem(Array(proof.utf8), for: alice)
        let confirmed = try await browser.get(Self.path)
        #expect(confirmed.words.contains("gate 1") && confirmed.words.contains("+ 1"))
    }

    @Test func `a customer without expected purchases has no section of them`() async throws {
        let console = try await GardenConsole()
        try await console.buy("garden.gate", for: console.user())
        #expect(try await !console.browser(.viewer).get(Self.path).words.contains("Expected purchases"))
    }

    @Test func `each cause of an explanation is in Korean`() async throws {
        let console = try await GardenConsole()
        let alice = try console.user()
        let browser = try await console.browser(.viewer)
        func explain(_ item: String) async throws -> String {
            try await browser.get(
                Self.path + "/explanation?item=\(item)", headers: [.acceptLanguage: "ko"]
            ).words
        }
        let transaction = try await console.buy("garden.premium.monthly", for: alice)
        _ = try await console.entitlements.change(
            .revoke(reason: "chargeback"), ofTransaction: transaction, origin: nil, of: alice, by: "member Ada")
        #expect(try await explain("plus%202").contains("팀이 garden.premium.monthly 상품을 회수했습니다: chargeback"))
        _ = try await console.entitlements.change(
            .reinstate(), ofTransaction: transaction, origin: nil, of: alice, by: "member Ada")
        #expect(try await explain("plus%202").contains("2026-11-30까지"))
        let grant = try console.entitlements.newGrant(
            of: Item(collection: "gate", number: 1), reason: "a prize", endsAt: nil, by: "member Ada")
        _ = try await console.entitlements.give(grant, to: alice)
        #expect(try await explain("gate%201").contains("팀이 아이템을 지급했습니다."))
        _ = try await console.entitlements.revoke(
            grant: grant.identifier, of: alice, reason: "a mistake", by: "member Ada")
        #expect(try await explain("gate%201").contains("팀이 지급한 아이템을 회수했습니다: a mistake"))
        _ = try console.store.advance(seconds: 1)
        try console.store.setAutoRenew(false, of: transaction)
        try console.garden.advance(to: "2027-01-01T00:00:00Z")
        try await console.notify()
        #expect(try await explain("plus%202").contains("만료되었습니다 (고객이 갱신을 껐습니다)."))
        let bought = try console.garden.buy("garden.season", account: "carol")
        _ = try await console.entitlements.receive(
            statement: Array(try console.store.signedTransaction(bought.identifier).utf8))
        #expect(try await explain("bed%201").contains("garden.season 구매 기록이 없습니다. 소유자 미확인 구매가 있지만"))
    }
}
