import AppStore
import Catalog
import Entitlements
import Features
import Foundation
import HTTPSupport
import Hummingbird
import Ledger
import Logging
import Proofs
import Service
import TestSupport
import Testing

/// A store that is not asked: a second person has to approve each action, and nobody does.
struct UnaskedStore: StoreActionPerformer {
    let app: String
    var origins: Set<Origin> = [.localSandbox]

    private static let failure = StoreActionFailure(
        ReconciliationError.unreachable(host: "127.0.0.1").rule, isFinal: false)

    func has(_ target: StoreActionTarget) async throws -> Bool { true }

    func prepare(_ action: StoreAction, _ target: StoreActionTarget?) async throws -> StoreActionPreparation {
        throw Self.failure
    }

    func perform(
        _ action: StoreAction, _ target: StoreActionTarget?, after before: JSONObject
    ) async throws -> JSONObject { throw Self.failure }

    func look(at action: StoreAction, _ target: StoreActionTarget?) async throws -> JSONObject? { throw Self.failure }
}

/// The service's routes over a separate ledger and shop.
struct ServiceFixture {
    let shop: TestShop
    /// The routes, with accounts.
    let routes: ServiceRoutes
    /// The routes as a service has them, built once for all requests.
    private let responder: RouterResponder<ServiceContext>
    let keys: APIKeys
    /// An API key with every scope.
    let key: String
    let ledger: Ledger
    let figures: FigureService

    /// The folder of the service; the fixture keeps it until the end of the test.
    private let folder: TemporaryFolder?

    /// - Parameters:
    ///   - chain: A chain to trust besides that of the shop.
    ///   - others: The apps that the service sells besides that of the shop.
    ///   - disk: The disk with a reserve of free space; nil for no reserve.
    ///   - origins: The origins of pages that may call the routes for apps.
    ///   - account: The service account of each app at Google Play, which the service does not reach; nil for none.
    ///   - schema: The place of the ledger in a PostgreSQL server; nil for a file.
    init(
        trusting chain: CertificateChain? = nil,
        selling others: [App] = [],
        limits: RequestLimits? = nil,
        tokens: TokenSettings? = nil,
        maximumUncachedChains: Int = 2,
        proxies: Int = 0,
        requests: NetworkCounts? = nil,
        disk: ManualDisk? = nil,
        origins: [WebOrigin] = [],
        account: GoogleServiceAccount? = nil,
        keeping folder: TemporaryFolder? = nil,
        on schema: TestSchema? = nil
    ) async throws {
        self.folder = folder
        shop = try TestShop()
        let ledger =
            if let schema {
                try Ledger(try schema.ledgerAddress)
            } else {
                try Ledger(file: shop.folder.file("ledger.sqlite"))
            }
        keys = ledger.apiKeys(clock: shop.clock)
        key = try await keys.make(name: "tests", scopes: Set(APIKeyScope.allCases)).key
        let roots = shop.store.rootCertificates + [chain?.root.certificate].compactMap(\.self)
        let verifier = ProofVerifier(
            anchors: try TrustAnchors(roots.compactMap { try TrustAnchor($0) }), clock: shop.clock)
        let metrics = ServiceMetrics()
        let accounts = AccountService(
            ledger: ledger, clock: shop.clock, templates: try MailTemplates(), cost: .minimal)
        let administration = try await CatalogService(
            apps: try Apps([App(shop.catalog)] + others), ledger: ledger, clock: shop.clock)
        let service = EntitlementService(
            apps: administration.apps, verifier: verifier, ledger: ledger, clock: shop.clock,
            onVerify: metrics.recordVerification)
        self.ledger = ledger
        let figures = ledger.figures(clock: shop.clock)
        self.figures = figures
        let till = Till(service, clock: shop.clock) { [clock = shop.clock] in
            $0.accounts = accounts
            $0.administration = administration
            $0.figures = figures
            ($0.profiles, $0.seedApp) = (service.profiles, service.profiles)
            $0.webhooks = service.webhooks(clock: clock)
            $0.storeActions = StoreActionService(
                service, at: service.apps.all.map { UnaskedStore(app: $0.bundleIdentifier) },
                approving: Set(StoreAction.Kind.allCases))
        }
        // Nothing listens on the port of discarded data.
        let nowhere = try #require(URL(string: "http://127.0.0.1:9"))
        let stores = StoreClients(
            googlePlay: account.map { [clock = shop.clock] account in
                service.apps.all.map { app in
                    GooglePlayApp(
                        client: PlayDeveloperClient(
                            account: account, url: nowhere, packageName: app.bundleIdentifier, clock: clock), app: app,
                        entitlements: service)
                }
            } ?? [],
            playNotifications: GooglePlayNotifications(
                tokens: PushTokens(
                    .init(
                        audience: TestPushIssuer.audience, email: TestPushIssuer.email,
                        keys: .file(shop.folder.file("google-keys.json"))), clock: shop.clock, logger: Self.logger),
                service: service, apps: []))
        var settings = RouteSettings(
            .apiKeys(
                keys,
                tokens.map { [clock = shop.clock] in UserTokens($0, clock: clock, logger: Self.logger) },
                accounts),
            limits: limits, metrics: metrics)
        settings.maximumUncachedChains = maximumUncachedChains
        settings.listeners = EventListeners()
        (settings.proxies, settings.requests, settings.origins) = (proxies, requests, origins)
        settings.reserve = disk.map { [clock = shop.clock] disk in
            StorageReserve(bytes: 1 << 20, clock: clock, logger: Self.logger, freeBytes: disk.askFree)
        }
        routes = ServiceRoutes(till, stores: stores, settings)
        responder = routes.router().buildResponder()
    }

    /// Buys a product at the shop, without redeeming it.
    func buy(_ product: String, account: String = "alice") throws -> PaymentTransaction {
        _ = try shop.store.add(Payment(productIdentifier: "com.memolease.sesac1.\(product)"), account: account)
        return try #require(try shop.store.process(account: account).first)
    }

    static let logger = Logger(label: "tests", factory: { _ in SwiftLogNoOpLogHandler() })

    /// A service account with a new key.
    static func playAccount() throws -> GoogleServiceAccount {
        let key = try PrivateKey.generateRSA().pem().replacing("\n", with: "\\n")
        let file = """
            {"type":"service_account","client_email":"till@p.iam.gserviceaccount.com","private_key":"\(key)",
            "token_uri":"http://127.0.0.1:9/token"}
            """
        return try GoogleServiceAccount(json: Array(file.utf8))
    }

    struct Answer: JSONReadable, Sendable {
        let status: Int
        let headers: HTTPFields
        let body: Data

        var contentType: String? { headers[.contentType] }

        var jsonData: Data { body }

        /// The code of a problem document; nil for another answer.
        var code: String? { try? decoded(ProblemResource.self).code }
    }

    /// - Parameter key: Another key than the fixture's; empty for none.
    func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        body: String? = nil,
        bytes: Data? = nil,
        key: String? = nil,
        headers: HTTPFields = [:],
        over framework: TestingSetup = .router
    ) async throws -> Answer {
        let bytes = bytes ?? body.map { Data($0.utf8) }
        var headers = headers
        let key = key ?? self.key
        if !key.isEmpty { headers[.authorization] = "Bearer \(key)" }
        return try await Application(responder: responder).test(framework) { [headers] client in
            try await client.execute(
                uri: path, method: method, headers: headers, body: bytes.map { ByteBuffer(bytes: $0) }
            ) { response in
                Answer(
                    status: response.status.code, headers: response.headers,
                    body: Data(response.body.readableBytesView))
            }
        }
    }
}

extension TestIssuer {
    /// The settings of a service that accepts the issuer's tokens.
    ///
    /// - Parameter folder: The folder of the file with the keys.
    func settings(keptIn folder: TemporaryFolder) throws -> TokenSettings {
        let keys = folder.file("keys.json")
        try Data(Self.keySet([publicKey]).utf8).write(to: keys)
        return TokenSettings(issuer: Self.issuer, audiences: [(Self.audience, nil)], keys: .file(keys))
    }
}
