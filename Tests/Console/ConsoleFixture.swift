import AppStore
import Catalog
import Console
import Entitlements
import Features
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger
import PlayStore
import Proofs
import Service
import Synchronization
import TestSupport
import Testing
import Vocabulary

/// The console over a ledger and a local store of its own.
struct ConsoleFixture {
    let shop: TestShop
    let ledger: Ledger
    let entitlements: EntitlementService
    let figures: FigureService
    let webhooks: WebhookService
    let administration: CatalogService
    let team: TeamService
    let keys: APIKeys
    let health: TestHealth
    let metrics = ServiceMetrics()
    let services: TestServices
    let routes: ServiceRoutes
    let streams: LiveStreams

    /// - Parameters:
    ///   - isAdministered: True if the catalog can be changed at run time.
    ///   - hasFigures: True if the service has figures.
    ///   - keepsProofs: True if the ledger keeps proofs.
    ///   - isSecure: True if browsers reach the service over TLS.
    ///   - others: The catalogs of further apps.
    init(
        isAdministered: Bool = true, hasFigures: Bool = true, keepsProofs: Bool = false, isSecure: Bool = false,
        others: [Catalog] = []
    ) async throws {
        shop = try TestShop()
        ledger = try Ledger(file: shop.folder.file("ledger.sqlite"))
        health = TestHealth()
        keys = ledger.apiKeys(clock: shop.clock)
        team = TeamService(ledger: ledger, clock: shop.clock, cost: .minimal)
        administration = try await CatalogService(
            apps: try Apps(([shop.catalog] + others).map { App($0) }), ledger: ledger, clock: shop.clock)
        figures = ledger.figures(clock: shop.clock)
        entitlements = EntitlementService(
            apps: administration.apps, verifier: try shop.verifier(), ledger: ledger, clock: shop.clock,
            keepsProofs: keepsProofs)
        webhooks = entitlements.webhooks(clock: shop.clock)
        let till = Till(entitlements, clock: shop.clock) { [administration, entitlements, figures, webhooks] in
            $0.administration = isAdministered ? administration : nil
            $0.figures = hasFigures ? figures : nil
            $0.profiles = entitlements.profiles
            $0.webhooks = webhooks
        }
        services = TestServices(
            till, team: team, keys: keys, store: shop.store, play: try GooglePlay(in: shop.folder, clock: shop.clock),
            metrics: metrics, health: health)
        let console = ConsoleRoutes(services, isSecure: isSecure)
        streams = console.streams
        routes = ServiceRoutes(till, RouteSettings(.apiKeys(keys), metrics: metrics), others: [console])
    }

    /// Buys a product at the local store, and redeems it for a user.
    @discardableResult
    func buy(_ product: String, for user: String, account: String = "alice") async throws -> PaymentTransaction {
        _ = try shop.store.add(Payment(productIdentifier: "com.memolease.sesac1.\(product)"), account: account)
        let transaction = try #require(try shop.store.process(account: account).first)
        let proof = try shop.store.signedTransaction(transaction.identifier)
        _ = try await entitlements.redeem(Array(proof.utf8), for: try #require(User(name: user)), by: .user)
        return transaction
    }

    /// Sends the local store's notifications to the service. A purchase without a known user is unclaimed.
    func notify() async throws {
        for notification in try shop.store.notifications() {
            _ = try await entitlements.receive(notification: Array(notification.signedPayload.utf8))
        }
    }

    /// Buys a product at the local store, and returns its signed transaction.
    func sign(_ product: String, account: String = "alice") throws -> String {
        _ = try shop.store.add(Payment(productIdentifier: "com.memolease.sesac1.\(product)"), account: account)
        return try shop.store.signedTransaction(try #require(try shop.store.process(account: account).first).identifier)
    }

    /// Stores a question of Google Play about a disputed payment.
    @discardableResult
    func dispute(_ order: String) async throws -> GooglePurchaseService {
        let purchases = GooglePurchaseService(
            entitlements: entitlements, app: entitlements.apps.first, packageName: "com.example.garden",
            origins: [.localPlayProduction])
        try await purchases.record(
            reviewOf: order, "secret-of-\(order)", notifiedAs: order, from: .localPlayProduction,
            at: shop.clock.now())
        return purchases
    }

    /// A browser that is logged in with a role.
    func browser(_ role: TeamRole, name: String? = nil) async throws -> Browser {
        let name = name ?? role.rawValue
        let secret = try await team.add(name, role: role)
        let hash = try team.passwords.hash(try Password("correct horse battery", unlike: []))
        try await team.accept(invitation: secret, passwordHash: hash)
        let browser = Browser(routes: routes)
        _ = try await browser.get("/console/log-in")
        let answer = try await browser.post(
            "/console/log-in", ["name": name, "password": "correct horse battery"], from: "/console/log-in")
        try #require(answer.status == 303)
        return browser
    }
}

extension GooglePlay {
    /// A local Google Play in a folder of its own.
    convenience init(in folder: TemporaryFolder, clock: any WallClock) throws {
        let own = folder.folder("google-play")
        try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
        try self.init(folder: own, clock: clock, randomness: .seeded(1), newKey: TestKeys().next)
    }
}

/// The services of a console in a test.
final class TestServices: ConsoleServices {
    let till: Till
    let team: TeamService
    let door: RedemptionDoor
    let keys: APIKeys
    let store: Store?
    let play: GooglePlay?
    let metrics: ServiceMetrics
    let health: any HealthSource
    let answersConsumptionRequests = false
    let duties: StoreDuties = [
        .consumptionAnswer: [.localSandbox], .refundReview: [.localPlayProduction],
        .acknowledgement: [.localPlayProduction], .externalTransaction: [.localPlayProduction],
        .externalPurchase: [.localSandbox],
    ]
    let orders: (@Sendable (String) async throws -> [(transaction: String, original: String)])?
    /// The receiver of test messages answers with this.
    let testWebhook: (@Sendable (WebhookEndpoint) async throws -> WebhookDelivery.Outcome)? = { endpoint in
        endpoint.url.contains("slow") ? .unanswered(code: "timedOut") : .answered(status: 204)
    }
    private let voided = Mutex<[VoidedPurchases]>([])

    var voidedPurchases: @Sendable () async throws -> [VoidedPurchases] {
        { self.voided.withLock { $0 } }
    }

    func show(_ lists: VoidedPurchases...) { voided.withLock { $0 = lists } }

    private let listed = Mutex<[any ConsoleReconciliation]>([])

    var reconciliations: [any ConsoleReconciliation] {
        get { listed.withLock { $0 } }
        set { listed.withLock { $0 = newValue } }
    }

    init(
        _ till: Till, team: TeamService, keys: APIKeys, store: Store?, play: GooglePlay? = nil,
        metrics: ServiceMetrics = ServiceMetrics(), health: any HealthSource = TestHealth(),
        orders: (@Sendable (String) async throws -> [(transaction: String, original: String)])? = nil
    ) {
        self.till = till
        self.team = team
        door = RedemptionDoor(till.entitlements, asking: [], counting: metrics)
        self.keys = keys
        self.store = store
        self.play = play
        self.metrics = metrics
        self.health = health
        self.orders = orders
    }

    func export(_ user: User) async throws -> [UInt8]? {
        try await till.entitlements.export(of: user, at: till.clock.now(), namingKeys: true)
    }
}

/// A reconciliation whose runs the test makes.
struct TestReconciliation: ConsoleReconciliation {
    let bundleIdentifier: String
    let address = "https://store.example"
    let origins: Set<Origin> = [.localSandbox]
    let runs = ReconciliationRuns()
    let checkpoint: ReconciliationCheckpoint?

    func interval(of subject: ReconciliationRuns.Subject) -> Int64? { subject == .notifications ? 3600 : nil }

    func checkpoint(of subject: ReconciliationRuns.Subject) async throws -> ReconciliationCheckpoint? { checkpoint }
}
