import Vocabulary
import AppStore
import Catalog
import Console
import Entitlements
import Features
import Foundation
import HTTPSupport
import Ledger
import Proofs
import Service
// The problem documents of the store's errors.
import AppStore
import Features
import TestSupport
import Testing

/// The console beside a local store that sells every kind of product.
struct LocalStoreFixture {
    let garden: TestGarden
    let ledger: Ledger
    let entitlements: EntitlementService
    let team: TeamService
    let routes: ServiceRoutes
    let streams: LiveStreams?
    let metrics = ServiceMetrics()
    var store: Store { garden.store }

    /// - Parameter hasStore: False for a service without a local store.
    init(hasStore: Bool = true) async throws {
        garden = try TestGarden(start: "2026-10-10T12:00:00Z")
        ledger = try Ledger(file: garden.folder.file("ledger.sqlite"))
        let keys = ledger.apiKeys(clock: garden.clock)
        team = TeamService(ledger: ledger, clock: garden.clock, cost: .minimal)
        let administration = try await CatalogService(
            apps: Apps(App(garden.catalog)), ledger: ledger, clock: garden.clock)
        // The service goes by the store's clock.
        entitlements = EntitlementService(
            apps: administration.apps, verifier: try garden.verifier(), ledger: ledger, clock: garden.store.clock)
        let till = Till(entitlements, clock: garden.clock) { $0.administration = administration }
        let console = ConsoleRoutes(
            TestServices(till, team: team, keys: keys, store: hasStore ? garden.store : nil, metrics: metrics),
            isSecure: false)
        streams = console.storeStreams
        routes = ServiceRoutes(till, RouteSettings(.apiKeys(keys)), others: [console])
    }

    /// A browser that is logged in with a role, under the role's name.
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

    /// Buys a product.
    ///
    /// - Returns: The transaction identifier.
    func buy(_ name: String, account: String = "alice") throws -> String {
        try #require(try garden.buy("garden.\(name)", account: account).purchase).transactionIdentifier
    }

    /// The items that a user owns, without those that everybody owns.
    func items(of name: String) async throws -> [String] {
        try await entitlements.items(of: try #require(User(name: name))).map(\.item.description).filter {
            $0 != "bed 0"
        }
    }
}
