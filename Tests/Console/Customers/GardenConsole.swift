import AppStore
import Catalog
import Console
import Entitlements
import Features
import Foundation
import HTTPSupport
import Ledger
import PlayStore
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// The console over a ledger and the local store of the garden, which sells every kind of product.
struct GardenConsole {
    let garden: TestGarden
    let ledger: Ledger
    let entitlements: EntitlementService
    let profiles: ProfileService
    let webhooks: WebhookService
    let team: TeamService
    let keys: APIKeys
    let routes: ServiceRoutes
    var store: Store { garden.store }

    /// - Parameters:
    ///   - keepsProofs: True to store the signed bytes of proofs.
    ///   - appKeys: The trusted keys of apps on Google Play.
    ///   - hasFeatures: False to turn profiles and webhooks off.
    ///   - orders: The transactions of the orders that an App Store knows.
    ///   - makePlay: Makes the local Google Play; none by default.
    ///   - garden: The garden; nil for a new one.
    ///   - storeActions: Makes the actions at stores; by default, the service has no key of one.
    init(
        keepsProofs: Bool = false,
        appKeys: [AppKey] = [],
        hasFeatures: Bool = true,
        orders: (@Sendable (String) async throws -> [(transaction: String, original: String)])? = nil,
        play makePlay: (TestGarden) throws -> GooglePlay? = { _ in nil },
        of garden: TestGarden? = nil,
        storeActions: (EntitlementService) -> StoreActionService = { StoreActionService($0) }
    ) async throws {
        let garden = try garden ?? TestGarden()
        self.garden = garden
        ledger = try Ledger(file: garden.folder.file("ledger.sqlite"))
        keys = ledger.apiKeys(clock: garden.clock)
        team = TeamService(ledger: ledger, clock: garden.clock, cost: .minimal)
        let administration = try await CatalogService(
            apps: Apps(App(garden.catalog)), ledger: ledger, clock: garden.clock)
        entitlements = EntitlementService(
            apps: administration.apps, verifier: try garden.verifier(appKeys: appKeys), ledger: ledger,
            clock: garden.store.clock,
            keepsProofs: keepsProofs)
        profiles = entitlements.profiles
        webhooks = entitlements.webhooks(clock: garden.clock)
        let actions = storeActions(entitlements)
        let till = Till(entitlements, clock: garden.store.clock) { [profiles, webhooks] in
            $0.storeActions = actions
            $0.administration = administration
            ($0.profiles, $0.webhooks) = (hasFeatures ? profiles : nil, hasFeatures ? webhooks : nil)
        }
        let services = TestServices(
            till, team: team, keys: keys, store: garden.store, play: try makePlay(garden), orders: orders)
        routes = ServiceRoutes(
            till, RouteSettings(.apiKeys(keys)), others: [ConsoleRoutes(services, isSecure: false)])
    }

    func user(_ name: String = "alice", issuer: String = "") throws -> User {
        try #require(User(issuer: issuer, name: name))
    }

    /// Buys a product at the local store, and redeems it for a user.
    ///
    /// - Returns: The identifier of the transaction.
    @discardableResult
    func buy(_ product: String, for user: User, quantity: Int = 1) async throws -> String {
        let bought = try garden.buy(product, quantity: quantity, account: user.name)
        let proof = try store.signedTransaction(bought.identifier)
        _ = try await entitlements.redeem(Array(proof.utf8), for: user)
        return try #require(bought.purchase).transactionIdentifier
    }

    /// Receives all notifications of the store so far.
    func notify() async throws {
        for notification in try store.notifications() {
            _ = try await entitlements.receive(notification: Array(notification.signedPayload.utf8))
        }
    }

    /// A browser that is logged in with a role.
    func browser(_ role: TeamRole) async throws -> Browser {
        let secret = try await team.add(role.rawValue, role: role)
        let hash = try team.passwords.hash(try Password("correct horse battery", unlike: []))
        try await team.accept(invitation: secret, passwordHash: hash)
        let browser = Browser(routes: routes)
        let answer = try await browser.post(
            "/console/log-in", ["name": role.rawValue, "password": "correct horse battery"], from: "/console/log-in")
        try #require(answer.status == 303)
        return browser
    }

    /// The audit log of a user as texts, oldest first.
    func audit(of user: User) async throws -> [String] {
        try await ledger.read { try $0.audit(of: user) }.map { record in
            let entry = record.entry
            return [entry.actor.description, entry.event.rawValue, entry.subject, entry.reason]
                .compactMap(\.self).joined(separator: " ")
        }
    }
}

/// A store of the garden that is not asked.
struct SilentStore: StoreActionPerformer {
    let app = TestGarden.bundleIdentifier
    let origins: Set<Origin>

    func has(_ target: StoreActionTarget) async throws -> Bool { true }

    func prepare(_ action: StoreAction, _ target: StoreActionTarget?) async throws -> StoreActionPreparation {
        .due([:])
    }

    func perform(
        _ action: StoreAction, _ target: StoreActionTarget?, after before: JSONObject
    ) async throws -> JSONObject { [:] }

    func look(at action: StoreAction, _ target: StoreActionTarget?) async throws -> JSONObject? { nil }
}

extension Browser.Page {
    /// The text of the page without its elements and without the marks that isolate texts from outside.
    var words: String {
        let content = text.firstRange(of: "<main").map { String(text[$0.lowerBound...]) } ?? text
        let words = content.replacing(/<[^>]*>/, with: "")
        return words.replacing("\u{2068}", with: "").replacing("\u{2069}", with: "")
    }

    /// The value of a hidden field of the form with an action.
    func value(of field: String, inFormTo action: String) -> String? {
        guard let start = text.firstRange(of: "action=\"\(action)\"") else { return nil }
        let name = text[start.upperBound...].firstRange(of: "name=\"\(field)\" value=\"")
        return name.map { String(text[$0.upperBound...].prefix { $0 != "\"" }) }
    }
}

extension String {
    /// The text as a page contains it.
    var forHTML: String {
        replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;").replacing("'", with: "&#39;")
    }
}
