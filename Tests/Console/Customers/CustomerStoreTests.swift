import Entitlements
import Foundation
import HTTPTypes
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// A customer of the App Store and of Google Play.
@Suite struct CustomerStoreTests {
    private static let path = "/console/customers/-/alice"
    private static let order = "GPA.3345-1234-5678-90123"

    let console: GardenConsole
    let alice: User

    init() async throws {
        console = try await GardenConsole()
        alice = try console.user()
        try await console.buy("garden.gate", for: alice)
    }

    /// Redeems a purchase that a local Google Play has sold.
    private func buyAtPlay(_ token: String, revoked: Bool = false) async throws {
        let now = console.garden.clock.now()
        let claim = Claim(
            app: TestGarden.bundleIdentifier, origin: .localPlayProduction, transactionIdentifier: token,
            originalTransactionIdentifier: token, productIdentifier: "garden.season", quantity: 1, purchaseDate: now,
            revocationDate: revoked ? now : nil, signedAt: now.adding(seconds: revoked ? 1 : 0),
            proofDigest: [UInt8](repeating: 7, count: 32), item: Item(collection: "bed", number: 1), credit: nil,
            facts: TransactionFacts([.orderId: .text(Self.order)]))
        // The store states a refund by itself.
        _ = try await console.ledger.write { [alice] transaction in
            if revoked {
                _ = try transaction.record(claim, at: now)
            } else {
                _ = try transaction.redeem([claim], for: alice, at: now)
            }
        }
    }

    @Test func `a badge names the store where purchases of both exist`() async throws {
        let browser = try await console.browser(.support)
        let appStore = ">App Store</span>"
        #expect(try await !browser.get(Self.path).has(appStore))
        try await buyAtPlay("token1")
        for path in ["", "/transactions", "/timeline"] {
            let page = try await browser.get(Self.path + path)
            #expect(page.has(appStore) && page.has(">Google Play</span>"), "\(path)")
        }
        let play = try await browser.get(Self.path + "/transactions?store=play_store")
        #expect(play.has("/transactions/token1?") && !play.has(appStore))
        #expect(play.has("aria-current=\"page\">Google Play</a>"))
        #expect(try await !browser.get(Self.path + "/transactions?store=app_store").has("/transactions/token1?"))
        // A store that Till does not know has sold nothing here. What is no store's word is refused.
        #expect(try await !browser.get(Self.path + "/transactions?store=shop").has("/transactions/token1?"))
        #expect(try await browser.get(Self.path + "/transactions?store=Shop!").status == 400)
    }

    @Test func `the page of a purchase at Google Play names its order and Google`() async throws {
        try await buyAtPlay("token1")
        let browser = try await console.browser(.support)
        let page = try await browser.get(Self.path + "/transactions/token1?origin=localPlay/Production")
        #expect(page.words.contains("Order\(Self.order)") && page.words.contains("What Google has stated"))
        #expect(!page.words.contains("What Apple has stated"))
        let money = try await browser.get(Self.path + "/transactions/token1/money-back?origin=localPlay/Production")
        #expect(money.words.contains("Refund the order in the Play Console") && !money.has("reportaproblem.apple.com"))
        let both = try await browser.get(Self.path)
        #expect(both.has("reportaproblem.apple.com") && both.has("play.google.com/store/account/orderhistory"))
        try await buyAtPlay("token1", revoked: true)
        #expect(try await browser.get(Self.path + "/timeline").words.contains("Refunded by Google"))
        let korean = try await browser.get(Self.path + "/timeline", headers: [.acceptLanguage: "ko"])
        #expect(korean.words.contains("Google이 환불"))
        let event = try await browser.get(Self.path + "/events/3")
        #expect(event.words.contains("ActorGoogle Play") && !event.words.contains("ActorApp Store"))
        let explained = try await browser.get(Self.path + "/explanation?item=bed%201")
        #expect(
            explained.words.contains(
                "refunded in the Play Console, or by Google at https://play.google.com/store/account/orderhistory."))
    }

    @Test func `an explanation leads to the refund that the service can ask for`() async throws {
        let play = SilentStore(origins: [.localPlayProduction])
        let console = try await GardenConsole(storeActions: { StoreActionService($0, at: [play]) })
        let now = console.garden.clock.now()
        let alice = try console.user()
        for (second, revoked) in [nil, now].enumerated() {
            let claim = Claim(
                app: TestGarden.bundleIdentifier, origin: .localPlayProduction, transactionIdentifier: "token1",
                originalTransactionIdentifier: "token1", productIdentifier: "garden.season", quantity: 1,
                purchaseDate: now, revocationDate: revoked, signedAt: now.adding(seconds: Int64(second)),
                proofDigest: [UInt8](repeating: 7, count: 32), item: Item(collection: "bed", number: 1), credit: nil,
                facts: TransactionFacts([.orderId: .text(Self.order)]))
            _ = try await console.ledger.write { transaction in
                if revoked == nil {
                    _ = try transaction.redeem([claim], for: alice, at: now)
                } else {
                    _ = try transaction.record(claim, at: now)
                }
            }
        }
        let browser = try await console.browser(.support)
        let page = Self.path + "/explanation?item=bed%201"
        #expect(try await browser.get(page).words.contains("Have the order refunded on the page of the purchase"))
        let korean = try await browser.get(page, headers: [.acceptLanguage: "ko"])
        #expect(korean.words.contains("구매 페이지에서 주문 환불을 요청하세요."))
    }

    @Test(arguments: [(TransactionReason.purchase, "Purchase"), (.renewal, "Renewal")])
    func `only a renewal at Google Play is named one`(reason: TransactionReason, word: String) async throws {
        let now = console.garden.clock.now()
        let claim = Claim(
            app: TestGarden.bundleIdentifier, origin: .localPlayProduction, transactionIdentifier: Self.order,
            originalTransactionIdentifier: "token-1", productIdentifier: "garden.basic.monthly", quantity: 1,
            purchaseDate: now, revocationDate: nil, signedAt: now, proofDigest: [UInt8](repeating: 7, count: 32),
            item: Item(collection: "plus", number: 1), credit: nil, expiresAt: now.adding(days: 30),
            facts: TransactionFacts([.transactionReason: .text(reason.rawValue)]))
        _ = try await console.ledger.write { [alice] in try $0.redeem([claim], for: alice, at: now) }
        let page = try await console.browser(.support).get(Self.path + "/timeline")
        #expect(page.words.contains("\(word): garden.basic.monthly"))
    }

    @Test func `an order at Google Play leads to its customer`() async throws {
        try await buyAtPlay("token1")
        let browser = try await console.browser(.viewer)
        let found = try await browser.get("/console/customers?search=\(Self.order)")
        #expect(found.has("href=\"\(Self.path)\"") && found.words.contains("token1"))
        let unknown = try await browser.get("/console/customers?search=GPA.3345-1234-5678-90124")
        #expect(unknown.words.contains("Nothing found."))
    }
}
