import Catalog
import Features
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Ledger
import PlayStore
import Proofs
import Service
import TestSupport
import Testing

/// A service beside a local Google Play, each on a socket of its own. The Play sells the products of the garden. The service asks it
/// about purchases, and receives its notifications.
final class PlayedService: Sendable {
    /// The sender of the notifications that the service accepts.
    enum Sender: Sendable {
        /// The Play, which pushes them by itself.
        case play
        /// The test, with tokens of this issuer.
        case issuer(TestPushIssuer)
    }

    struct Answer: JSONReadable {
        let status: Int
        let jsonData: Data

        /// The code of a problem document; nil for another answer.
        var code: String? { try? decoded(ProblemResource.self).code }
    }

    /// A purchase of the ledger's list of notifications: type, outcome and origin.
    typealias Received = (type: String, outcome: NotificationOutcome, origin: Origin, app: String, content: String?)

    private static let packageName = TestGarden.bundleIdentifier
    private static let audience = "till-tests"

    let garden: TestGarden
    let play: GooglePlay
    let service: EntitlementService
    let app: GooglePlayApp
    let reconciler: GooglePlayReconciler
    let alice: User
    let metrics = ServiceMetrics()
    /// The number of requests to reconcile voided purchases.
    let voidedRequests: GooglePlayReconciler.Requests
    private let sender: Sender
    private let routes: ServiceRoutes

    /// - Parameters:
    ///   - url: The address of the Play; another one for a Play that does not answer.
    private init(
        _ garden: TestGarden, _ play: GooglePlay, at url: URL, sender: Sender, accepting origins: Set<Origin>,
        keys: URL
    ) throws {
        (self.garden, self.play, self.sender) = (garden, play, sender)
        alice = try #require(User(name: "alice"))
        service = EntitlementService(
            apps: Apps(App(garden.catalog)),
            verifier: ProofVerifier(anchors: try TrustAnchors([]), clock: garden.clock),
            ledger: try Ledger(file: garden.folder.file("ledger.sqlite")), clock: garden.clock,
            accepted: AcceptedOrigins(origins))
        let account = try play.perform { try $0.makeServiceAccount(at: url) }.json()
        app = GooglePlayApp(
            client: PlayDeveloperClient(
                account: try GoogleServiceAccount(json: account), url: url, packageName: Self.packageName,
                realm: .localPlay, clock: garden.clock),
            app: service.apps.first, entitlements: service)
        reconciler = app.reconciler
        let settings: PushTokens.Settings
        switch sender {
        case .play:
            settings = .init(
                audience: Self.audience, email: PushSettings.standardEmail,
                keys: .address(url.appending(path: "oauth2/v1/certs")))
        case .issuer(let issuer):
            try Data(try issuer.keys().utf8).write(to: keys)
            settings = .init(audience: TestPushIssuer.audience, email: TestPushIssuer.email, keys: .file(keys))
        }
        let requests = GooglePlayReconciler.Requests()
        voidedRequests = requests
        routes = ServiceRoutes(
            service: service,
            authentication: .apiKeys(service.ledger.apiKeys(clock: garden.clock)), metrics: metrics,
            playNotifications: GooglePlayNotifications(
                tokens: PushTokens(settings, clock: garden.clock, logger: ServiceFixture.logger), service: service,
                apps: GooglePlayApps([app]), onVoided: { requests.request() }),
            clock: garden.clock)
    }

    /// Runs something beside a service and its Play.
    ///
    /// - Parameters:
    ///   - origins: The accepted origins.
    ///   - isReachable: False for a Play that the service does not reach.
    static func run(
        _ sender: Sender = .play,
        accepting origins: Set<Origin> = [.localPlayProduction, .localPlayTest],
        isReachable: Bool = true,
        _ body: @Sendable @escaping (PlayedService) async throws -> Void
    ) async throws {
        let garden = try TestGarden(start: "2026-10-01T12:00:00Z")
        let folder = garden.folder.folder("play")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let play = try GooglePlay(folder: folder, clock: garden.clock, randomness: .seeded(3))
        try play.perform { books in
            try books.add(
                PlayCatalog(
                    StoreKitConfiguration(file: TestGarden.file.path), bundleIdentifier: TestGarden.bundleIdentifier))
        }
        let router = play.routes(sandboxKey: APIKey("key")).router()
        try await Application(router: router).test(.live) { server in
            // Nothing listens on the port 1.
            let port = isReachable ? try #require(server.port) : 1
            let url = try #require(URL(string: "http://127.0.0.1:\(port)"))
            let played = try PlayedService(
                garden, play, at: url, sender: sender, accepting: origins, keys: garden.folder.file("keys.json"))
            guard case .play = sender else { return try await body(played) }
            try await Application(router: played.routes.router()).test(.live) { server in
                let port = try #require(server.port)
                var settings = PushSettings(
                    endpoint: try #require(URL(string: "http://127.0.0.1:\(port)/v1/notifications/google")))
                settings.audience = audience
                try play.perform { [settings] in try $0.set(settings) }
                let pushing = Task { try await play.pushing(logger: ServiceFixture.logger).run() }
                defer { pushing.cancel() }
                try await body(played)
            }
        }
    }

    /// An order of the garden's product, in the name of alice.
    func order(_ product: String) async throws -> PlayPurchaseOrder {
        var order = PlayPurchaseOrder(packageName: Self.packageName, productId: product, account: "alice")
        order.obfuscatedAccountId = try await service.appAccountToken(of: alice).uuidString
        return order
    }

    /// Advances the clock of all, and lets the Play do what is due.
    func advance(days: Int64, seconds: Int64 = 0) throws {
        garden.clock.advance(milliseconds: days * 86_400_000 + seconds * 1000)
        try play.perform { _ in }
    }

    /// The items of alice, besides the one that everybody owns.
    func items() async throws -> [String] {
        try await service.ownItems(of: alice).map { "\($0.collection) \($0.number)" }
    }

    func seeds() async throws -> Int {
        try await service.balances(of: alice).reduce(0) { $0 + $1.amount }
    }

    /// The received notifications, the oldest first.
    func received() async throws -> [Received] {
        try await service.ledger.read { try $0.notifications(before: nil, limit: 1000).shown }.reversed().map {
            ($0.notification.type, $0.notification.outcome, $0.notification.origin, $0.app, $0.notification.content)
        }
    }

    /// Waits for a number of notifications of a type.
    func expect(
        _ type: String, count: Int = 1, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await expectEventually(sourceLocation: sourceLocation) {
            try await received().count { $0.type == type } == count
        }
    }

    func outcomes(of type: String) async throws -> [NotificationOutcome] {
        try await received().filter { $0.type == type }.map(\.outcome)
    }

    /// Acknowledges what is due, as the service does by itself.
    func acknowledge() async throws {
        try await app.acknowledger(metrics: metrics, logger: ServiceFixture.logger).perform()
    }
}

/// Messages that a test pushes.
extension PlayedService {
    /// The data of a notification.
    static func data(_ member: String, package: String = packageName) -> String {
        #"{"version":"1.0","packageName":"\#(package)","eventTimeMillis":"1790856000000",\#(member)}"#
    }

    static func ofSubscription(_ token: String, type: Int = 2) -> String {
        data(#""subscriptionNotification":{"version":"1.0","notificationType":\#(type),"purchaseToken":"\#(token)"}"#)
    }

    static func ofProduct(_ token: String, type: Int = 1) -> String {
        data(#""oneTimeProductNotification":{"version":"1.0","notificationType":\#(type),"purchaseToken":"\#(token)"}"#)
    }

    /// Pushes a message as Pub/Sub does.
    ///
    /// - Parameters:
    ///   - identifier: The identifier of the message.
    ///   - token: Another token than a genuine one; empty for none.
    func push(_ data: String, identifier: String = "1", token: String? = nil) async throws -> Answer {
        let encoded = Base64.encode(data.utf8)
        return try await push(
            body: """
                {"message":{"data":"\(encoded)","messageId":"\(identifier)","message_id":"\(identifier)",\
                "publishTime":"2026-10-01T12:00:00Z"},"subscription":"projects/p/subscriptions/s"}
                """, token: token)
    }

    func push(body: String, token: String? = nil) async throws -> Answer {
        guard case .issuer(let issuer) = sender else { preconditionFailure("The Play pushes by itself.") }
        let token = try token ?? issuer.token(at: garden.clock.now().secondsSince1970)
        let headers: HTTPFields = token.isEmpty ? [:] : [.authorization: "Bearer \(token)"]
        return try await Application(router: routes.router()).test(.router) { client in
            let answer = try await client.executeRequest(
                uri: "/v1/notifications/google", method: .post, headers: headers, body: ByteBuffer(string: body))
            return Answer(status: answer.status.code, jsonData: Data(answer.body.readableBytesView))
        }
    }
}
