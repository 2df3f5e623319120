import Catalog
import Entitlements
import Features
import Foundation
import HTTPSupport
import Hummingbird
import Ledger
import PlayStore
import Proofs
import Service
import TestSupport
import Testing

/// A local Google Play that sells two subscriptions, and a service that asks it, each on a socket of its own and on one clock.
final class PlayYearFixture: Sendable {
    private static let packageName = YearFixture.bundleIdentifier
    private static let audience = "https://garden.example.com/notifications"

    let clock: ManualClock
    let play: GooglePlay
    let service: EntitlementService
    let app: GooglePlayApp
    let reconciler: GooglePlayReconciler
    let figures: FigureService
    let metrics = ServiceMetrics()
    /// A key with every scope.
    let key: String
    private let folder: TemporaryFolder
    private let routes: ServiceRoutes

    private init(_ folder: TemporaryFolder, _ clock: ManualClock, _ play: GooglePlay, at url: URL) async throws {
        (self.folder, self.clock, self.play) = (folder, clock, play)
        let ledger = try Ledger(file: folder.file("ledger.sqlite"))
        let keys = ledger.apiKeys(clock: clock)
        key = try await keys.make(name: "tests", scopes: Set(APIKeyScope.allCases)).key
        service = EntitlementService(
            apps: Apps(App(try YearFixture.catalog(in: folder.folder("catalog")))),
            verifier: ProofVerifier(anchors: try TrustAnchors([]), clock: play.clock), ledger: ledger, clock: play.clock
        )
        figures = ledger.figures(clock: play.clock)
        let account = try play.perform { try $0.makeServiceAccount(at: url) }.json()
        app = GooglePlayApp(
            client: PlayDeveloperClient(
                account: try GoogleServiceAccount(json: account), url: url, packageName: Self.packageName,
                realm: .localPlay, clock: play.clock, tokenClock: clock),
            app: service.apps.first, entitlements: service)
        reconciler = app.reconciler
        let tokens = PushTokens(
            .init(
                audience: Self.audience, email: PushSettings.standardEmail,
                keys: .address(url.appending(path: "oauth2/v1/certs"))), clock: clock, logger: ServiceFixture.logger)
        let apps = [app]
        let stores = StoreClients(
            googlePlay: apps,
            playNotifications: GooglePlayNotifications(tokens: tokens, service: service, apps: apps))
        let till = Till(service, clock: play.clock) { [figures] in $0.figures = figures }
        routes = ServiceRoutes(till, stores: stores, RouteSettings(.apiKeys(keys), metrics: metrics))
    }

    /// Runs something beside a Play and its service.
    ///
    /// - Parameter notifies: True if the Play pushes notifications to the service.
    static func run<Value: Sendable>(
        notifies: Bool,
        _ body: @Sendable @escaping (PlayYearFixture, TestClient) async throws -> Value
    ) async throws -> Value {
        let folder = try TemporaryFolder(isInMemory: true)
        let clock = ManualClock(try #require(Timestamp(rfc3339: "2027-01-01T12:00:00Z")))
        let playFolder = folder.folder("play")
        try FileManager.default.createDirectory(at: playFolder, withIntermediateDirectories: true)
        let play = try GooglePlay(folder: playFolder, clock: clock, randomness: .seeded(5), newKey: TestKeys().next)
        return try await Application(router: play.routes(sandboxKey: APIKey("key")).router()).test(.live) { server in
            let port = try #require(server.port)
            let url = try #require(URL(string: "http://127.0.0.1:\(port)"))
            let fixture = try await PlayYearFixture(folder, clock, play, at: url)
            try fixture.sell(premiumPrice: 10)
            return try await Application(router: fixture.routes.router()).test(.live) { client in
                if notifies {
                    let port = try #require(client.port)
                    var settings = PushSettings(
                        endpoint: try #require(URL(string: "http://127.0.0.1:\(port)/v1/notifications/google")))
                    settings.audience = audience
                    try play.perform { [settings] in try $0.set(settings) }
                }
                return try await body(fixture, client)
            }
        }
    }

    /// Sells both subscriptions from now on, the basic one for 5 dollars a month after a week for nothing.
    func sell(premiumPrice: Int) throws {
        func product(_ name: String, _ price: Int) -> String {
            """
            {"packageName": "\(Self.packageName)", "productId": "garden.\(name).monthly",
             "listings": [{"languageCode": "en-US", "title": "\(name)"}],
             "basePlans": [{"basePlanId": "monthly", "state": "ACTIVE",
                "autoRenewingBasePlanType": {"billingPeriodDuration": "P1M", "gracePeriodDuration": "P3D"},
                "regionalConfigs": [{"regionCode": "US", "price": {"currencyCode": "USD", "units": "\(price)"}}]}]}
            """
        }
        let catalog = """
            {"subscriptions": [\(product("basic", 5)), \(product("premium", premiumPrice))],
             "subscriptionOffers": [{"packageName": "\(Self.packageName)", "productId": "garden.basic.monthly",
                "basePlanId": "monthly", "offerId": "trial", "state": "ACTIVE",
                "phases": [{"duration": "P1W", "regionalConfigs": [{"regionCode": "US", "free": {}}]}]}]}
            """
        let file = folder.file("Year.play.json")
        try Data(catalog.utf8).write(to: file)
        try play.perform { try $0.add(PlayCatalog(file: file)) }
    }

    /// Raises the price of the premium plan, with the customers' consent, for all who have an earlier one.
    func raisePremiumPrice(to price: Int) throws {
        try sell(premiumPrice: price)
        let migration = """
            {"regionsVersion": {"version": "2025/03"}, "regionalPriceMigrations": [{"regionCode": "US",
             "oldestAllowedPriceVersionTime": "\(clock.now().rfc3339)"}]}
            """
        let path = """
            {"packageName": "\(Self.packageName)", "productId": "garden.premium.monthly", "basePlanId": "monthly"}
            """
        let request = try JSONDecoder().decode(PriceMigrationRequests.Migrate.self, from: Data(migration.utf8))
        let place = try JSONDecoder().decode(CatalogPlace.self, from: Data(path.utf8))
        _ = try play.perform { try $0.migratePrices(request, at: place) }
    }

    /// An order of a customer for a subscription.
    func order(_ product: String, by customer: String) -> PlayPurchaseOrder {
        PlayPurchaseOrder(packageName: Self.packageName, productId: "garden.\(product).monthly", account: customer)
    }

    /// Acknowledges what is due, as the service does each second.
    func acknowledge() async throws {
        try await app.acknowledger(metrics: metrics, logger: ServiceFixture.logger).perform()
    }
}
