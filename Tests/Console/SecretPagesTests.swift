import Entitlements
import Foundation
import HTTPTypes
import Proofs
import TestSupport
import Testing

/// Purchase tokens and signed proofs, searched for on each page of the console that links lead to.
@Suite struct SecretPagesTests {
    let console: GardenConsole
    let purchases: SecretPurchases

    init() async throws {
        let key = try PrivateKey.generateRSA()
        console = try await GardenConsole(keepsProofs: true, appKeys: [SecretPurchases.appKey(key)])
        purchases = try await SecretPurchases(
            of: console.user(), named: "alice", in: console.entitlements, at: console.garden, signedBy: key)
    }

    @Test func `no page shows a token or a proof`() async throws {
        let browser = try await console.browser(.admin)
        let customer = "/console/customers/-/alice"
        var crawl = Crawl([
            customer, customer + "/transactions", customer + "/timeline", customer + "/export", "/console",
            "/console/unclaimed", "/console/refusals", "/console/app-store", "/console/customers",
        ])
        var pages: [String: String] = [:]
        while let path = crawl.next() {
            // The local store is a store. It has its own proofs.
            guard !path.hasPrefix("/console/store") else { continue }
            let page = try await browser.get(path)
            let fields = page.headers.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
            let leaks = purchases.leaked(in: "\(fields)\n\(page.text)", to: path)
            #expect(leaks.isEmpty, "\(path)")
            pages[path] = page.text
            if let markup = try? Markup(page.text) { crawl.follow(markup) }
        }
        // The customer's transactions and kept proofs are among the pages.
        #expect(pages.keys.contains { $0.contains("/transactions/token-") })
        let proofs = pages.filter { $0.key.contains("/proofs/") }.map(\.value)
        #expect(proofs.contains { $0.contains("Not shown: whoever has it can present the purchase.") })
        #expect(proofs.contains { $0.contains("garden.premium.monthly") })
        for identifier in purchases.identifiers {
            #expect(pages.values.contains { $0.contains(identifier) }, "no page has \(identifier)")
        }
    }

    @Test func `a search by a token finds the purchase, and its page has the name`() async throws {
        let browser = try await console.browser(.support)
        let token = try #require(purchases.secrets.first { $0.hasPrefix("secret-gate-") })
        let found = try await browser.get("/console/customers?search=\(token)")
        #expect(found.has("href=\"/console/customers/-/alice\""))
        #expect(found.words.contains(try await console.ledger.tokenNames.name(of: token)))
        let parked = try #require(purchases.secrets.first { $0.hasPrefix("secret-parked-") })
        let unclaimed = try await browser.get("/console/unclaimed?transaction=\(parked)")
        let name = try await console.ledger.tokenNames.name(of: parked)
        #expect(unclaimed.has("href=\"/console/unclaimed/\(name)?"))
    }
}
