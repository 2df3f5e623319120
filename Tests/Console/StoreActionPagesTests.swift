import AppStore
import Entitlements
import Features
import Foundation
import HTTPSupport
import Hummingbird
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// The pages of actions at a store, beside a local App Store that listens.
@Suite struct StoreActionPagesTests {
    /// Runs something with a console whose service asks the garden's store.
    private static func run(
        approving approved: Set<StoreAction.Kind> = [],
        _ body: @Sendable @escaping (GardenConsole, User) async throws -> Void
    ) async throws {
        let garden = try TestGarden()
        var privateKey = ""
        let made = try garden.store.makeTeamKey { privateKey = $1 }
        let key = try AppStoreServerKey(
            privateKey: privateKey, keyIdentifier: made.keyIdentifier, issuerIdentifier: made.issuerIdentifier,
            bundleIdentifier: TestGarden.bundleIdentifier)
        let routes = garden.store.routes(sandboxKey: APIKey("key"), clock: garden.clock)
        try await Application(router: routes.router()).test(.live) { server in
            let port = try #require(server.port)
            let url = try #require(URL(string: "http://127.0.0.1:\(port)"))
            let console = try await GardenConsole(of: garden) { service in
                let reconciler = service.reconciler(
                    of: service.apps.first, asking: key.client(at: url, clock: garden.clock), about: [.localSandbox])
                return StoreActionService(service, at: [AppStoreActions(by: reconciler)], approving: approved)
            }
            let alice = try console.user()
            try await body(console, alice)
        }
    }

    private static let list = "/console/store-actions"

    private static func page(_ transaction: String) -> String {
        "/console/customers/-/alice/transactions/\(transaction)"
    }

    /// Sends the form of an action on a page.
    private static func ask(
        _ browser: Browser, on page: String, _ fields: [String: String]
    ) async throws -> Browser.Page {
        let shown = try await browser.get(page)
        let address = try #require(shown.text.firstMatch(of: /action="([^"]*\/store-actions[^"]*)"/)).1
        let identifier = try #require(shown.value(of: "action", inFormTo: String(address)))
        return try await browser.post(
            String(address).replacing("&amp;", with: "&"), fields.merging(["action": identifier]) { first, _ in first },
            from: page)
    }

    @Test func `support moves a charge on the page of a transaction, which shows the answer`() async throws {
        try await Self.run { console, alice in
            let transaction = try await console.buy("garden.premium.monthly", for: alice)
            let end = try #require(
                try await console.entitlements.transactions(of: alice, before: nil, limit: 1).first?.expiresAt)
            let browser = try await console.browser(.support)
            let page = Self.page(transaction)
            let shown = try await browser.get(page)
            // Apple lets no server refund or cancel.
            #expect(shown.has("Move the next charge") && !shown.has("Refund the order"))
            let fields = [
                "kind": "extend", "extend-days": "30", "extend-cause": "serviceIssue", "extend-reason": "An outage",
            ]
            let answer = try await Self.ask(browser, on: page, fields)
            #expect(answer.status == 303 && answer.location?.contains("done=requested") == true)
            let after = try #require(
                try await console.entitlements.transactions(of: alice, before: nil, limit: 1).first?.expiresAt)
            #expect(after == end.adding(days: 30))
            #expect(
                try await console.audit(of: alice).filter { $0.contains("store") } == [
                    "member support storeAsked garden.premium.monthly extend: An outage",
                    "App Store storeAnswered garden.premium.monthly extend accepted",
                ])
            for path in [page, Self.list] {
                let words = try await browser.get(path).words
                #expect(words.contains("An outage") && words.contains("Done"), "\(path)")
            }
            let korean = try await browser.get(page, headers: [.acceptLanguage: "ko"])
            #expect(korean.has("다음 결제일 연기"))
        }
    }

    @Test func `support moves the charge of a purchase that nobody has redeemed`() async throws {
        try await Self.run { console, _ in
            let bought = try console.garden.buy("garden.premium.monthly", account: "stranger")
            let transaction = try #require(bought.purchase?.transactionIdentifier)
            for notification in try console.garden.store.notifications() {
                _ = try await console.entitlements.receive(notification: Array(notification.signedPayload.utf8))
            }
            let browser = try await console.browser(.support)
            let page = "/console/unclaimed/\(transaction)"
            let fields = [
                "kind": "extend", "extend-days": "30", "extend-cause": "serviceIssue", "extend-reason": "An outage",
            ]
            let answer = try await Self.ask(browser, on: page, fields)
            #expect(answer.status == 303 && answer.location?.contains("done=requested") == true)
            let words = try await browser.get(page).words
            #expect(words.contains("An outage") && words.contains("Done"))
            #expect(try await !console.browser(.viewer).get(page).has("/store-actions\""))
        }
    }

    @Test func `another member approves what the operator lists`() async throws {
        try await Self.run(approving: [.extend]) { console, alice in
            let transaction = try await console.buy("garden.premium.monthly", for: alice)
            let support = try await console.browser(.support)
            _ = try await Self.ask(
                support, on: Self.page(transaction),
                ["kind": "extend", "extend-days": "3", "extend-cause": "other", "extend-reason": "An outage"])
            let own = try await support.get(Self.list)
            #expect(own.words.contains("Awaits approval") && own.has("/refusal") && !own.has("/approval"))
            let admin = try await console.browser(.admin)
            let shown = try await admin.get(Self.list)
            let approval = try #require(shown.text.firstMatch(of: /action="([^"]*\/approval)"/)).1
            let forged = try await support.post(String(approval), [:], from: Self.list)
            #expect(forged.status == 409 && forged.has("storeActionOwnApproval"))
            #expect(try await admin.post(String(approval), [:], from: Self.list).status == 303)
            #expect(try await admin.get(Self.list + "?state=confirmed").words.contains("Done"))
            #expect(
                try await console.audit(of: alice).contains(
                    "member admin storeRequestDecided garden.premium.monthly approved extend: An outage"))
        }
    }

    @Test func `an administrator moves the charges of all subscribers, and a viewer none`() async throws {
        try await Self.run { console, alice in
            let transaction = try await console.buy("garden.premium.monthly", for: alice)
            let admin = try await console.browser(.admin)
            let fields = [
                "kind": "extendAll", "product": "garden.premium.monthly",
                "place": "local/Sandbox \(TestGarden.bundleIdentifier)", "extendAll-days": "7",
                "extendAll-cause": "serviceIssue", "extendAll-storefronts": "", "extendAll-reason": "An outage",
            ]
            #expect(try await Self.ask(admin, on: Self.list, fields).status == 303)
            #expect(try await admin.get(Self.list).words.contains("Move the next charge of all subscribers"))
            let repeated = try await Self.ask(admin, on: Self.list, fields)
            #expect(repeated.status == 409 && repeated.has("storeActionRepeated"))
            let additional = fields.merging(["extendAll-additional": "yes"]) { $1 }
            #expect(try await Self.ask(admin, on: Self.list, additional).status == 303)
            let refused = try await Self.ask(admin, on: Self.list, fields.merging(["extendAll-days": "91"]) { $1 })
            #expect(refused.status == 400 && refused.has("storeActionTermsInvalid"))

            let viewer = try await console.browser(.viewer)
            #expect(try await !viewer.get(Self.page(transaction)).has("/store-actions"))
            let list = try await viewer.get(Self.list)
            #expect(list.words.contains("An outage") && !list.has("extendAll-days"))
            let forbidden = try await viewer.post(Self.list, fields, from: Self.list)
            #expect(forbidden.status == 403)
        }
    }
}
