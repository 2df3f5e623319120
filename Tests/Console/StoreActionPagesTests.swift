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

    /// The HTML of the form of an action; nil without one.
    private static func form(_ kind: String, in text: String) -> String? {
        text.components(separatedBy: "<form ").compactMap { $0.components(separatedBy: "</form>").first }
            .first { $0.contains("name=\"kind\" value=\"\(kind)\"") }
    }

    /// The form of an action on a page, as a browser sends it, with the given values.
    private static func filled(
        _ fields: [String: String], in page: Browser.Page
    ) throws -> (path: String, fields: [String: String]) {
        let form = try #require(Self.form(fields["kind"] ?? "", in: page.text))
        var sent: [String: String] = [:]
        for input in form.matches(
            of: /<input type="(?:hidden|text|number)"(?: id="[^"]*")? name="([^"]*)" value="([^"]*)"/)
        {
            sent[String(input.1)] = String(input.2)
        }
        for choice in form.matches(of: /<select id="[^"]*" name="([^"]*)"><option value="([^"]*)"/) {
            sent[String(choice.1)] = String(choice.2)
        }
        let path = try #require(form.firstMatch(of: /action="([^"]*)"/)).1.replacing("&amp;", with: "&")
        return (String(path), sent.merging(fields) { $1 })
    }

    /// Sends the form of an action on a page.
    private static func ask(
        _ browser: Browser, on page: String, _ fields: [String: String]
    ) async throws -> Browser.Page {
        let form = try filled(fields, in: try await browser.get(page))
        return try await browser.post(form.path, form.fields, from: page)
    }

    /// Sells a user a subscription to a bench and a rake, which a server has described.
    private static func buyTools(_ console: GardenConsole, for user: User) async throws -> String {
        let charge = AdvancedCommerceCharge(
            items: [
                .init(sku: "bench", displayName: "Bench", description: "A bench", price: 9990),
                .init(sku: "rake", displayName: "Rake", description: "A rake", price: 990),
            ],
            terms: .init(displayName: "Tools", description: "All tools", period: .oneMonth), currency: "USD",
            taxCode: "C003-00-2", requestReferenceIdentifier: UUID().uuidString)
        let added = try console.store.add(
            Payment(productIdentifier: "garden.basic.yearly").with(charge), account: user.name)
        let bought = try #require(try console.store.process(account: user.name).first)
        let proof = try console.store.signedTransaction(added.identifier)
        _ = try await console.entitlements.redeem(Array(proof.utf8), for: user)
        return try #require(bought.purchase).transactionIdentifier
    }

    @Test func `the pages have a form, with its fields, of each action at each store`() async throws {
        let stores = SilentStore(origins: [.localSandbox, .localPlayProduction])
        let console = try await GardenConsole(storeActions: { StoreActionService($0, at: [stores]) })
        let (now, alice) = (console.garden.clock.now(), try console.user())
        let orders = ["GPA.3345-1234-5678-90123": "garden.basic.monthly", "GPA.3345-1234-5678-90124": "garden.season"]
        for (order, product) in orders {
            let claim = Claim(
                app: TestGarden.bundleIdentifier, origin: .localPlayProduction, transactionIdentifier: order,
                originalTransactionIdentifier: "token-\(product)", productIdentifier: product, quantity: 1,
                purchaseDate: now, revocationDate: nil, signedAt: now,
                proofDigest: [UInt8](repeating: UInt8(product.utf8.count), count: 32),
                item: Item(collection: "plus", number: 1), credit: nil, expiresAt: now.adding(days: 30),
                facts: TransactionFacts([.orderId: .text(order)]))
            _ = try await console.ledger.write { try $0.redeem([claim], for: alice, at: now) }
        }
        let admin = try await console.browser(.admin)
        func text(_ path: String) async throws -> String { try await admin.get(path).text }
        func kinds(_ text: String) -> Set<String> {
            Set(text.matches(of: /name="kind" value="([^"]*)"/).map { String($0.1) })
        }
        let bob = try console.user("bob")
        let tools = try await Self.buyTools(console, for: bob)
        let described = try await text(Self.page(tools).replacing("alice", with: "bob"))
        let listed = try await text(Self.list)
        let sold = try await text(Self.page(try await console.buy("garden.premium.monthly", for: alice)))
        let once = try await text(Self.page(try await console.buy("garden.gate", for: alice)))
        var play: [String: String] = [:]
        for (order, product) in orders {
            play[product] = try await text(Self.page(order) + "?origin=localPlay/Production")
        }
        let renewing = try #require(play["garden.basic.monthly"])
        // What the store would refuse has no form.
        #expect(kinds(sold) == ["extend", "migrate"] && kinds(once).isEmpty)
        #expect(kinds(try #require(play["garden.season"])) == ["refund"])
        let pages: [PurchaseStore: String] = [.appStore: described + sold + listed, .playStore: renewing]
        let model = try Project.text("Documentation/ThreatModel.md")
        for kind in StoreAction.Kind.allCases {
            #expect(model.contains("`\(kind.rawValue)`"), "the threat model does not name \(kind)")
            for endpoint in kind.rule.endpoints {
                let form = try #require(
                    Self.form(kind.rawValue, in: pages[endpoint.store] ?? ""), "\(kind) at \(endpoint.store.name)")
                for field in endpoint.fields {
                    #expect(form.contains("name=\"\(kind.rawValue)-\(field.rawValue)\""), "\(field) of \(kind)")
                    guard case .choice(let choices) = field.rule.value else { continue }
                    for choice in choices { #expect(form.contains("value=\"\(choice.word)\""), "\(choice.word)") }
                }
            }
        }
    }

    @Test(arguments: [
        (#"[{"SKU":"bench"}]"#, false), (#"[{"price":1,"revocationDate":1790000000000}]"#, false),
        (#"[{"SKU":["bench"]}]"#, true),
        (#"[{"SKU":"bench"},{"price":1}]"#, true), (#""bench""#, true),
    ])
    func `the page says that no form names an item whose form Apple does not document`(
        items: String, isTold: Bool
    ) async throws {
        let store = SilentStore(origins: [.localSandbox])
        let console = try await GardenConsole(storeActions: { StoreActionService($0, at: [store]) })
        let (now, alice) = (console.garden.clock.now(), try console.user())
        let claim = Claim(
            app: TestGarden.bundleIdentifier, origin: .localSandbox, transactionIdentifier: "1000",
            originalTransactionIdentifier: "1000", productIdentifier: "garden.basic.yearly", quantity: 1,
            purchaseDate: now, revocationDate: nil, signedAt: now, proofDigest: [UInt8](repeating: 7, count: 32),
            item: Item(collection: "plus", number: 1), credit: nil, expiresAt: now.adding(days: 30),
            facts: TransactionFacts([.advancedCommerceInfo: .text("{\"items\":\(items)}")]))
        _ = try await console.ledger.write { try $0.redeem([claim], for: alice, at: now) }
        let page = try await console.browser(.support).get(Self.page("1000"))
        #expect(page.words.contains("An item of this purchase has another form than Apple documents") == isTold)
        #expect((Self.form("revoke", in: page.text) != nil) == items.contains("bench\"}"))
        #expect(try await !console.browser(.viewer).get(Self.page("1000")).words.contains("than Apple documents"))
    }

    @Test(arguments: [
        (StoreAction.Kind.cancel, [:] as [String: String], "{}", "DID_CHANGE_RENEWAL_STATUS"),
        (
            .revoke, ["revoke-request-refundType": "PRORATED", "revoke-request-refundReason": "LEGAL"],
            #"{"refundType":"PRORATED","refundReason":"LEGAL","refundRiskingPreference":false}"#, "REFUND"
        ),
        (
            .refund, ["refund-1-refundType": "CUSTOM", "refund-1-refundAmount": "0.5"],
            #"{"items":[{"SKU":"rake","refundType":"CUSTOM","refundAmount":500,"refundReason":"UNINTENDED_PURCHASE","revoke":false}],"refundRiskingPreference":false}"#,
            "REFUND"
        ),
        (
            .changePrice, ["changePrice-0-price": "8.99"], #"{"items":[{"SKU":"bench","price":8990}]}"#,
            "PRICE_CHANGE"
        ),
        (
            .changeMetadata,
            ["changeMetadata-descriptors-displayName": "Shed", "changeMetadata-1-description": "An old rake"],
            #"{"descriptors":{"displayName":"Shed","effective":"IMMEDIATELY"},"items":[{"currentSKU":"rake","description":"An old rake","effective":"IMMEDIATELY"}]}"#,
            "METADATA_UPDATE"
        ),
    ])
    func `support sends Apple a request about a purchase that a server has described`(
        kind: StoreAction.Kind, values: [String: String], request: String, told: String
    ) async throws {
        try await Self.run { console, alice in
            let page = Self.page(try await Self.buyTools(console, for: alice))
            let browser = try await console.browser(.support)
            let fields = values.merging(["kind": kind.rawValue, "\(kind.rawValue)-reason": "Asked by phone"]) { $1 }
            let answer = try await Self.ask(browser, on: page, fields)
            #expect(answer.status == 303, "\(answer.words.suffix(300))")
            let action = try #require(
                try await StoreActionService(console.entitlements).actions(limit: 1).first)
            #expect(JSONValue.object(action.terms).compactText == "{\"request\":\(request)}")
            #expect([.accepted, .confirmed].contains(action.state), "\(action.lastError ?? "")")
            #expect(try console.store.notifications().contains { $0.type.rawValue == told })
            #expect(
                try await console.audit(of: alice).contains(
                    "member support storeAsked garden.basic.yearly \(kind.rawValue): Asked by phone"))
            #expect(try await browser.get(page).words.contains("Asked by phone"))
        }
    }

    @Test func `a request of Apple's that asks for nothing is refused, and nobody is asked`() async throws {
        try await Self.run { console, alice in
            let page = Self.page(try await Self.buyTools(console, for: alice))
            let browser = try await console.browser(.support)
            let wrong = [
                ["kind": "refund"], ["kind": "changePrice"], ["kind": "changeMetadata"],
                ["kind": "changePrice", "changePrice-0-price": "cheap"],
                ["kind": "revoke", "revoke-request-refundType": "CUSTOM"],
                // One item is paid back, and another is to be taken without its money.
                ["kind": "refund", "refund-0-refundType": "FULL", "refund-1-revoke": "on"],
            ]
            for var fields in wrong {
                fields["\(fields["kind"] ?? "")-reason"] = "Asked by phone"
                let answer = try await Self.ask(browser, on: page, fields)
                #expect(answer.status == 422 && answer.has("fieldInvalid"), "\(fields)")
            }
            #expect(try await StoreActionService(console.entitlements).actions(limit: 1).isEmpty)
            let korean = try await browser.get(page, headers: [.acceptLanguage: "ko"])
            #expect(korean.has("남은 기간에 해당하는 금액") && korean.has("아이템도 회수"))
        }
    }

    @Test func `an administrator migrates a subscription, and support does not`() async throws {
        try await Self.run { console, alice in
            let page = Self.page(try await console.buy("garden.premium.monthly", for: alice))
            let admin = try await console.browser(.admin)
            let fields = [
                "kind": "migrate", "migrate-request-targetProductId": "garden.basic.yearly",
                "migrate-request-taxCode": "C003", "migrate-descriptors-displayName": "Tools",
                "migrate-descriptors-description": "All tools", "migrate-0-SKU": "bench",
                "migrate-0-displayName": "Bench", "migrate-0-description": "A bench", "migrate-reason": "New plans",
            ]
            let support = try await console.browser(.support)
            #expect(Self.form("migrate", in: try await support.get(page).text) == nil)
            let form = try Self.filled(fields, in: try await admin.get(page))
            #expect(try await support.post(form.path, form.fields, from: page).status == 403)
            #expect(try await Self.ask(admin, on: page, fields).status == 303)
            #expect(try console.store.notifications().contains { $0.type == .migration })
        }
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
