import AppStore
import Catalog
import Entitlements
import Features
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Ledger
import Logging
import PlayStore
import Proofs
import Service
import TestSupport
import Testing
import Vocabulary

/// A local Google Play that listens, and services that ask it over a socket. All services have one ledger file, as one service has
/// before and after a crash.
final class GooglePlayFixture: Sendable {
    let garden: TestGarden
    let play: GooglePlay
    /// The key file of a service account; its addresses are those of the running Play.
    private let account: GoogleServiceAccount
    private let url: URL

    private init(garden: TestGarden, play: GooglePlay, account: GoogleServiceAccount, url: URL) {
        (self.garden, self.play, self.account, self.url) = (garden, play, account, url)
    }

    /// Runs something beside a Play that listens.
    ///
    /// - Parameter refundRules: The content of `RefundRules.json`; nil for none.
    static func run(
        start: String = "2026-10-31T12:00:00Z", refundRules: String? = nil,
        _ body: @Sendable @escaping (GooglePlayFixture) async throws -> Void
    ) async throws {
        let garden = try TestGarden(refundRules: refundRules, start: start)
        let folder = garden.folder.folder("play")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let play = try GooglePlay(folder: folder, clock: garden.clock, randomness: .seeded(3), newKey: TestKeys().next)
        try play.perform { books in
            try books.add(
                PlayCatalog(
                    StoreKitConfiguration(file: TestGarden.file.path), bundleIdentifier: TestGarden.bundleIdentifier))
        }
        try await Application(router: play.routes(sandboxKey: APIKey("key")).router()).test(.live) { server in
            let port = try #require(server.port)
            let url = try #require(URL(string: "http://127.0.0.1:\(port)"))
            let key = try play.perform { try $0.makeServiceAccount(at: url) }
            try await body(
                GooglePlayFixture(
                    garden: garden, play: play, account: try GoogleServiceAccount(json: try key.json()), url: url))
        }
    }

    /// A service over the ledger file.
    ///
    /// - Parameters:
    ///   - isReachable: False for a service that reaches no Play.
    ///   - presentedPerMinute: The tokens that callers may present in a minute.
    ///   - origins: The accepted origins.
    ///   - followsCustomers: True for a service beside the Play, which goes by the own clocks of customers.
    ///   - refused: The moment before which a consumed purchase is refused; nil to grant each once.
    ///   - sender: The sender of the notifications that the service accepts; nil for a service that receives none.
    ///   - approved: The actions at the Play that a second person must approve.
    ///   - performing: Changes the performer of actions at the Play.
    func service(
        isReachable: Bool = true, presentedPerMinute: Int = 2000, followsCustomers: Bool = false,
        accepting origins: Set<Origin> = [.localPlayProduction, .localPlayTest],
        refusingConsumedBefore refused: Timestamp? = nil,
        notifiedBy sender: PlayService.Sender? = nil, approving approved: Set<StoreAction.Kind> = [],
        performing: (any StoreActionPerformer) -> any StoreActionPerformer = { $0 }
    ) async throws -> PlayService {
        let licensingKey = try play.perform { try $0.licensingKey(of: TestGarden.bundleIdentifier) }
        let key = AppKey(
            packageName: TestGarden.bundleIdentifier, publicKey: try PublicKey(rsaInformation: licensingKey),
            realm: .localPlay)
        let app = App(garden.catalog)
        let ledger = try Ledger(file: garden.folder.file("ledger.sqlite"))
        let clock: any WallClock =
            if followsCustomers { play.clock(naming: try await ledger.tokenNames) } else { garden.clock }
        let entitlements = EntitlementService(
            apps: Apps(app),
            verifier: ProofVerifier(anchors: try TrustAnchors([]), appKeys: [key], clock: garden.clock),
            ledger: ledger, clock: clock,
            accepted: AcceptedOrigins(origins), consumedRefusedBefore: refused)
        // Nothing listens on the port of discarded data.
        let nowhere = try #require(URL(string: "http://127.0.0.1:9"))
        let client = PlayDeveloperClient(
            account: account, url: isReachable ? url : nowhere, packageName: TestGarden.bundleIdentifier,
            realm: .localPlay, clock: garden.clock)
        let play = GooglePlayApp(
            client: client, app: app, entitlements: entitlements, presentedPerMinute: presentedPerMinute)
        return try await PlayService(
            self, play, notifiedBy: sender, pushTokens(from: sender),
            StoreActionService(
                entitlements, at: [performing(GooglePlayActions(at: play))], approving: approved))
    }

    /// The tokens of a sender of notifications.
    private func pushTokens(from sender: PlayService.Sender?) throws -> PushTokens? {
        let settings: PushTokens.Settings
        switch sender {
        case nil: return nil
        case .play:
            settings = .init(
                audience: PlayService.audience, email: PushSettings.standardEmail,
                keys: .address(url.appending(path: "oauth2/v1/certs")))
        case .issuer(let issuer):
            let keys = garden.folder.file("keys.json")
            try Data(try issuer.keys().utf8).write(to: keys)
            settings = .init(audience: TestPushIssuer.audience, email: TestPushIssuer.email, keys: .file(keys))
        }
        return PushTokens(settings, clock: garden.clock, logger: ServiceFixture.logger)
    }

    /// Sells the gate also by an option to rent it for two days, and by an offer to pre-order it nine days before its release.
    func offerRentalAndPreorder() throws {
        let now = garden.clock.now()
        let prices = #"[{"regionCode":"US","price":{"currencyCode":"USD","units":"2"},"availability":"AVAILABLE"}]"#
        func option(_ name: String, _ kind: String) -> String {
            #"{"purchaseOptionId":"\#(name)","state":"ACTIVE","regionalPricingAndAvailabilityConfigs":\#(prices),\#(kind)}"#
        }
        let name = #""packageName":"\#(TestGarden.bundleIdentifier)","productId":"garden.gate""#
        let options = [
            option("buy", #""buyOption":{"legacyCompatible":true}"#),
            option("rent", #""rentOption":{"rentalPeriod":"P2D"}"#),
        ].joined(separator: ",")
        let times = [("startTime", now), ("endTime", now.adding(days: 9)), ("releaseTime", now.adding(days: 9))]
            .map { #""\#($0)":"\#($1.rfc3339)""# }.joined(separator: ",")
        let behavior = #""priceChangeBehavior":"PRE_ORDER_PRICE_CHANGE_BEHAVIOR_NEW_ORDERS_ONLY""#
        let catalog = """
            {"oneTimeProducts":[{\(name),"purchaseOptions":[\(options)],
            "listings":[{"languageCode":"en-US","title":"A gate"}]}],
            "oneTimeProductOffers":[{\(name),"purchaseOptionId":"buy","offerId":"early","state":"ACTIVE",
            "preOrderOffer":{\(times),\(behavior)},
            "regionalPricingAndAvailabilityConfigs":[{"regionCode":"US","availability":"AVAILABLE","noOverride":{}}]}]}
            """
        let file = garden.folder.file("more.play.json")
        try Data(catalog.utf8).write(to: file)
        let more = try PlayCatalog(file: file)
        try play.perform { try $0.add(more) }
    }

    /// Buys a one-time product.
    func buy(
        _ product: String, _ change: (inout PlayPurchaseOrder) -> Void = { _ in }
    ) throws -> OneTimePurchase {
        try play.perform { try $0.buy(order(product, change)) }
    }

    func subscribe(
        _ product: String = "garden.basic.monthly", _ change: (inout PlayPurchaseOrder) -> Void = { _ in }
    ) throws -> RecurringPurchase {
        try play.perform { try $0.subscribe(order(product, change)) }
    }

    private func order(_ product: String, _ change: (inout PlayPurchaseOrder) -> Void) -> PlayPurchaseOrder {
        var order = PlayPurchaseOrder(packageName: TestGarden.bundleIdentifier, productId: product, account: "ada")
        change(&order)
        return order
    }

    /// The token that the app gets before its customer buys outside Google's billing.
    func externalToken(in program: BillingProgram) throws -> String {
        try play.perform {
            try $0.makeExternalTransactionToken(of: TestGarden.bundleIdentifier, in: program)
        }.externalTransactionToken
    }

    /// The purchase as the Play has it now.
    func purchase(_ number: Int64) throws -> OneTimePurchase { try play.perform { try $0.purchase(number) } }

    func subscription(_ number: Int64) throws -> RecurringPurchase { try play.perform { try $0.subscription(number) } }

    func advance(days: Int64) { garden.clock.advance(milliseconds: days * 86_400_000) }

    func advance(seconds: Int64) { garden.clock.advance(milliseconds: seconds * 1000) }
}

/// A service that asks the local Play, and its routes.
final class PlayService: Sendable {
    /// The sender of the notifications that a service accepts.
    enum Sender: Sendable {
        /// The Play, which pushes them by itself.
        case play
        /// The test, with tokens of this issuer.
        case issuer(TestPushIssuer)
    }

    fileprivate static let audience = "till-tests"

    let fixture: GooglePlayFixture
    let entitlements: EntitlementService
    let app: GooglePlayApp
    let alice: User
    let metrics = ServiceMetrics()
    /// The requests to reconcile voided purchases, one for each notification of such a purchase.
    let voidedRequests: GooglePlayReconciler.Requests
    let actions: StoreActionService
    /// The keys of two persons.
    let (adasKey, bobsKey): (String, String)
    let keys: APIKeys
    private let sender: Sender?
    private let routes: ServiceRoutes
    private let key: String

    /// - Parameter tokens: The tokens of the sender; nil for a service that receives no notifications.
    fileprivate init(
        _ fixture: GooglePlayFixture, _ app: GooglePlayApp, notifiedBy sender: Sender?, _ tokens: PushTokens?,
        _ actions: StoreActionService
    ) async throws {
        (self.fixture, self.app, self.sender, self.actions) = (fixture, app, sender, actions)
        let entitlements = app.purchases.entitlements
        self.entitlements = entitlements
        alice = try #require(User(name: "alice"))
        let keys = entitlements.ledger.apiKeys(clock: entitlements.clock)
        key = try await keys.make(name: "tests", scopes: Set(APIKeyScope.allCases)).key
        (adasKey, bobsKey) = (
            try await keys.make(name: "ada's", scopes: [.stores], person: "ada").key,
            try await keys.make(name: "bob's", scopes: [.stores], person: "bob").key
        )
        self.keys = keys
        let (apps, requests) = ([app], GooglePlayReconciler.Requests())
        voidedRequests = requests
        let stores = StoreClients(
            googlePlay: apps,
            playNotifications: tokens.map {
                GooglePlayNotifications(
                    tokens: $0, service: entitlements, apps: apps, onVoided: { requests.request() })
            })
        routes = ServiceRoutes(
            Till(entitlements, clock: entitlements.clock) { $0.storeActions = actions }, stores: stores,
            RouteSettings(.apiKeys(keys), metrics: metrics))
    }

    var play: GooglePlay { fixture.play }

    struct Answer: JSONReadable {
        let status: Int
        let jsonData: Data

        /// The code of a problem document; nil for another answer.
        var code: String? { try? decoded(ProblemResource.self).code }
        var redemption: Redemption { get throws { try decoded(Redemption.self) } }
    }

    func send(
        _ method: HTTPRequest.Method, _ path: String, _ body: JSONValue? = nil, headers: HTTPFields = [:],
        key: String? = nil
    ) async throws -> Answer {
        var headers = headers
        headers[.authorization] = "Bearer \(key ?? self.key)"
        return try await Application(router: routes.router()).test(.live) { [headers] client in
            let answer = try await client.executeRequest(
                uri: path, method: method, headers: headers, body: body.map { ByteBuffer(string: $0.compactText) })
            return Answer(status: answer.status.code, jsonData: Data(answer.body.readableBytesView))
        }
    }

    /// Redeems a purchase token over HTTP.
    func redeem(_ token: String, for user: String = "alice", headers: HTTPFields = [:]) async throws -> Answer {
        try await send(
            .post, "/v1/users/\(user)/transactions", .object(["purchaseToken": .string(token)]), headers: headers)
    }

    /// Redeems a signed purchase over HTTP.
    func redeem(_ purchase: SignedPurchase, for user: String = "alice") async throws -> Answer {
        try await send(.post, "/v1/users/\(user)/transactions", purchase.json)
    }

    /// The numbers of the user's items in a collection.
    /// The service's name of a token, which identifies its purchases.
    func name(of token: String) async throws -> String { try await app.purchases.tokenNames.name(of: token) }

    func items(_ collection: String, of user: String = "alice") async throws -> [Int] {
        try await send(.get, "/v1/users/\(user)/items").decoded(List<OwnedItemResource>.self).elements
            .filter { $0.collection == collection }.map(\.number)
    }

    func transactions(of user: String = "alice") async throws -> [TransactionResource] {
        try await send(.get, "/v1/users/\(user)/transactions").decoded(List<TransactionResource>.self).elements
    }

    func seeds(of user: String = "alice") async throws -> Int {
        try await send(.get, "/v1/users/\(user)/balances").decoded(List<Credit>.self).elements
            .first { $0.balance == "seeds" }?.amount ?? 0
    }

    /// The transaction of the only purchase that nobody has redeemed; nil if there is none.
    func unclaimed() async throws -> String? {
        let all = try await entitlements.unclaimedPurchases(ofTransaction: nil, after: nil, limit: 2)
        return all.count == 1 ? all.first?.transactionIdentifier : nil
    }

    func acknowledge() async throws {
        try await app.acknowledger(metrics: metrics, logger: ServiceFixture.logger).perform()
    }

    /// An order of the garden's product, in the name of alice.
    func order(_ product: String) async throws -> PlayPurchaseOrder {
        var order = PlayPurchaseOrder(packageName: TestGarden.bundleIdentifier, productId: product, account: "alice")
        order.obfuscatedAccountId = try await entitlements.appAccountToken(of: alice).uuidString
        return order
    }

    /// Advances the clock of all, and lets the Play do what is due.
    func advance(days: Int64, seconds: Int64 = 0) throws {
        fixture.advance(seconds: days * 86_400 + seconds)
        try play.perform { _ in }
    }

    /// The items of alice, besides the one that everybody owns.
    func items() async throws -> [String] {
        try await entitlements.ownItems(of: alice).map { "\($0.collection) \($0.number)" }
    }
}

/// The notifications that a service receives.
extension PlayService {
    /// Runs something beside a service that receives notifications, and the Play that it asks.
    ///
    /// - Parameters:
    ///   - origins: The accepted origins.
    ///   - isReachable: False for a Play that the service does not reach.
    ///   - followsCustomers: True to go by the own clocks of customers.
    static func run(
        _ sender: Sender = .play,
        accepting origins: Set<Origin> = [.localPlayProduction, .localPlayTest],
        isReachable: Bool = true,
        followsCustomers: Bool = false,
        refundRules: String? = nil,
        _ body: @Sendable @escaping (PlayService) async throws -> Void
    ) async throws {
        try await GooglePlayFixture.run(start: "2026-10-01T12:00:00Z", refundRules: refundRules) { fixture in
            let played = try await fixture.service(
                isReachable: isReachable, followsCustomers: followsCustomers, accepting: origins, notifiedBy: sender)
            guard case .play = sender else { return try await body(played) }
            try await Application(router: played.routes.router()).test(.live) { server in
                let port = try #require(server.port)
                var settings = PushSettings(
                    endpoint: try #require(URL(string: "http://127.0.0.1:\(port)/v1/notifications/google")))
                settings.audience = audience
                try fixture.play.perform { [settings] in try $0.set(settings) }
                let pushing = Task { try await fixture.play.pushing(logger: ServiceFixture.logger).run() }
                defer { pushing.cancel() }
                try await body(played)
            }
        }
    }

    /// A received notification.
    typealias Received = (type: String, outcome: NotificationOutcome, origin: Origin, app: String, content: String?)

    /// The received notifications, the oldest first.
    func received() async throws -> [Received] {
        try await entitlements.ledger.read { try $0.notifications(before: nil, limit: 1000).shown }.reversed().map {
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
}

/// Messages that a test pushes.
extension PlayService {
    /// The data of a notification.
    static func data(_ member: String, package: String = TestGarden.bundleIdentifier) -> String {
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
        let token = try token ?? issuer.token(at: fixture.garden.clock.now().secondsSince1970)
        let headers: HTTPFields = token.isEmpty ? [:] : [.authorization: "Bearer \(token)"]
        return try await Application(router: routes.router()).test(.router) { client in
            let answer = try await client.executeRequest(
                uri: "/v1/notifications/google", method: .post, headers: headers, body: ByteBuffer(string: body))
            return Answer(status: answer.status.code, jsonData: Data(answer.body.readableBytesView))
        }
    }
}
