import AppStore
import Catalog
import Features
import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Ledger
import Logging
import PlayStore
import Proofs
import Service
import TestSupport
import Testing

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
    static func run(_ body: @Sendable @escaping (GooglePlayFixture) async throws -> Void) async throws {
        let garden = try TestGarden()
        let folder = garden.folder.folder("play")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let play = try GooglePlay(folder: folder, clock: garden.clock, randomness: .seeded(3))
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
    func service(isReachable: Bool = true, presentedPerMinute: Int = 2000) async throws -> PlayService {
        let licensingKey = try play.perform { try $0.licensingKey(of: TestGarden.bundleIdentifier) }
        let key = AppKey(
            packageName: TestGarden.bundleIdentifier, publicKey: try PublicKey(rsaInformation: licensingKey),
            realm: .localPlay)
        let app = App(garden.catalog)
        let entitlements = EntitlementService(
            apps: Apps(app),
            verifier: ProofVerifier(anchors: try TrustAnchors([]), appKeys: [key], clock: garden.clock),
            ledger: try Ledger(file: garden.folder.file("ledger.sqlite")), clock: garden.clock,
            accepted: AcceptedOrigins([.localPlayProduction, .localPlayTest]))
        // Nothing listens on the port of discarded data.
        let nowhere = try #require(URL(string: "http://127.0.0.1:9"))
        let client = PlayDeveloperClient(
            account: account, url: isReachable ? url : nowhere, packageName: TestGarden.bundleIdentifier,
            realm: .localPlay, clock: garden.clock)
        return try await PlayService(
            entitlements,
            GooglePlayApp(
                client: client, app: app, entitlements: entitlements, presentedPerMinute: presentedPerMinute))
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

    /// The purchase as the Play has it now.
    func purchase(_ number: Int64) throws -> OneTimePurchase { try play.perform { try $0.purchase(number) } }

    func subscription(_ number: Int64) throws -> RecurringPurchase { try play.perform { try $0.subscription(number) } }

    func advance(days: Int64) { garden.clock.advance(milliseconds: days * 86_400_000) }

    func advance(seconds: Int64) { garden.clock.advance(milliseconds: seconds * 1000) }
}

/// A service that asks the local Play, and its routes.
final class PlayService: Sendable {
    let entitlements: EntitlementService
    let app: GooglePlayApp
    let metrics = ServiceMetrics()
    private let routes: ServiceRoutes
    private let key: String

    init(_ entitlements: EntitlementService, _ app: GooglePlayApp) async throws {
        (self.entitlements, self.app) = (entitlements, app)
        let keys = entitlements.ledger.apiKeys(clock: entitlements.clock)
        key = try await keys.make(name: "tests", scopes: Set(APIKeyScope.allCases)).key
        routes = ServiceRoutes(
            service: entitlements, authentication: .apiKeys(keys), metrics: metrics, googlePlay: GooglePlayApps([app]),
            clock: entitlements.clock)
    }

    struct Answer: JSONReadable {
        let status: Int
        let jsonData: Data

        /// The code of a problem document; nil for another answer.
        var code: String? { try? decoded(ProblemResource.self).code }
        var redemption: Redemption { get throws { try decoded(Redemption.self) } }
    }

    func send(
        _ method: HTTPRequest.Method, _ path: String, _ body: JSONValue? = nil, headers: HTTPFields = [:]
    ) async throws -> Answer {
        var headers = headers
        headers[.authorization] = "Bearer \(key)"
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

    func acknowledge() async throws {
        try await app.acknowledger(metrics: metrics, logger: ServiceFixture.logger).perform()
    }
}
