import AppStore
import Catalog
import Entitlements
import Features
import Foundation
import HTTPSupport
import Ledger
import PlayStore
import Proofs
import Service
import Vocabulary

/// A store, the service and the device on one machine. Only signed bytes pass from the store to the service.
struct Parties: Sendable {
    let catalog: Catalog
    /// The service of this process, whichever the device talks to.
    let localService: LocalService
    private let store: DeviceStore
    private let server: ServerOptions

    private enum DeviceStore {
        case appStore(Store)
        case play(GooglePlay)
    }

    /// Creates the data directory, the store and the ledger if there are none.
    ///
    /// - Parameters:
    ///   - server: The service that the device talks to.
    init(_ data: DataDirectory, server: ServerOptions, store: StoreChoice = .appStore) async throws {
        self.server = server
        catalog = try data.catalog()
        let clocks: StoreClocks
        switch store {
        case .appStore:
            try data.prepare()
            let appStore = try data.store()
            try data.trust(appStore)
            self.store = .appStore(appStore)
            clocks = StoreClocks(appStore: appStore, play: try data.openedPlay)
        case .play:
            let play = try data.play()
            self.store = .play(play)
            clocks = StoreClocks(appStore: try data.hasStore() ? data.store() : nil, play: play)
        }
        localService = try await LocalService(
            data, apps: Apps(App(catalog)), clocks: clocks, asking: clocks.play)
        let played = KeptConfiguration.KeptApp(
            bundleIdentifier: catalog.bundleIdentifier, catalog: data.catalogPlace.folder?.absoluteURL.path,
            appAppleIdentifier: nil)
        try await localService.keep(
            KeptConfiguration(
                apps: [played], accepted: AcceptedOrigins(), sendsWebhooks: false, allowsReset: false,
                isOfService: false))
    }

    /// The user as the service knows it; nil if the token names the user.
    func named(_ user: User) -> User? { server.named(user) }

    func queue(
        of user: User, outcome: PaymentOutcome = .purchased, proof: ProofChoice = .receipt
    ) -> any DeviceQueue {
        switch store {
        case .appStore(let store): AppStoreQueue(store: store, account: user.name, outcome: outcome, proof: proof)
        case .play(let play):
            PlayQueue(play, catalog, account: user.name, isPending: outcome == .deferred, proof: proof)
        }
    }

    /// Runs a user's app, with its queue in the store and its connection to the service.
    func withDevice<Value: Sendable>(
        of user: User,
        issuer: String? = nil,
        at queue: any DeviceQueue,
        report: @escaping @Sendable (DeviceStep) -> Void,
        _ body: @Sendable @escaping (PaymentQueueObserver, HTTPServiceConnection) async throws -> Value
    ) async throws -> Value {
        try await server.withService(for: user, issuer: issuer, or: { localService }) { service in
            try await body(PaymentQueueObserver(store: queue, service: service, report: report), service)
        }
    }
}

extension Catalog {
    func named(_ items: [Item]) -> [(item: Item, words: String)] { items.map { ($0, name(of: $0)) } }

    /// The items of a user. One whose product has no name in the catalog is named by the product that the user has bought.
    func named(_ items: [OwnedItemResource]) -> [(item: Item, words: String)] {
        items.map { owned in
            let name = name(of: owned.item)
            return (owned.item, name.isEmpty ? owned.productId ?? "" : name)
        }
    }

    func name(of item: Item) -> String {
        if ownedByEverybody.contains(item) { return "(everybody's)" }
        return product(granting: item)?.localization(language: "en")?.displayName ?? ""
    }
}

/// The service over a data directory's ledger, in this process.
struct LocalService: Sendable {
    private let till: Till
    /// The local Google Play that the service asks about purchases, and the file of its service account; nil for none.
    private let play: (store: GooglePlay, accountFile: URL)?

    /// Opens the ledger, and creates it if there is none.
    ///
    /// - Parameters:
    ///   - play: The local Google Play that the service asks about purchases.
    ///   - features: The features that no command needs, and whose tables are created.
    ///   - migrates: True if missing tables and columns are added.
    init(
        _ data: DataDirectory,
        apps: Apps,
        clocks: StoreClocks,
        asking play: GooglePlay? = nil,
        accepting accepted: AcceptedOrigins = AcceptedOrigins(),
        using features: [LedgerFeature] = [],
        migrates: Bool = true
    ) async throws {
        let ledger = try Ledger(file: data.ledgerFile, features: .all(using: features), migrates: migrates)
        self.play = play.map { ($0, data.playAccountFile) }
        let clock = try await clocks.current(of: ledger, makesNames: migrates)
        let administration = try await CatalogService(apps: apps, ledger: ledger, clock: clock)
        let service = EntitlementService(
            apps: administration.apps,
            verifier: try ProofVerifier(trusting: data.trustedFolders, clock: clocks.latest),
            ledger: ledger, clock: clock, accepted: accepted)
        till = try Till(service) {
            $0.administration = administration
            // Receivers compare the time of messages with theirs.
            $0.webhooks = service.webhooks(
                clock: SystemClock(), allowsPrivateAddresses: try Self.allowsPrivateWebhooks)
        }
    }

    /// The catalogs that name items and products.
    var catalogs: Catalogs { till.entitlements.catalogs }

    /// Keeps the configuration in the ledger, unless a service has run over it.
    func keep(_ configuration: KeptConfiguration) async throws {
        try await till.ledger.write { try $0.keep(configuration) }
    }

    /// Opens the ledger of an earlier command, and creates nothing but the tables of the features.
    ///
    /// - Throws: `CommandError` if there is no ledger; `PermissionDenied`.
    init(
        reading data: DataDirectory, _ known: KnownConfiguration, using features: [LedgerFeature]
    ) async throws {
        try await self.init(
            data, apps: known.apps, clocks: try data.clocks, accepting: known.accepted, using: features,
            migrates: !features.isEmpty)
    }

    /// The figures of a ledger. No figure depends on the catalog, so it is the one that comes with Till, and nobody's proofs are trusted.
    init(of figures: FigureService, clock: any WallClock) throws {
        play = nil
        till = Till(
            EntitlementService(
                apps: Apps(App(try CatalogSource.sample.catalog())),
                verifier: ProofVerifier(anchors: try TrustAnchors([]), clock: clock), ledger: figures.ledger,
                clock: clock)
        ) { $0.figures = figures }
    }

    /// True if the environment lets webhooks have private addresses, as for `till serve`.
    private static var allowsPrivateWebhooks: Bool {
        get throws(ConfigurationError) {
            let environment = SettingsLayer(environment: ProcessInfo.processInfo.environment)
            guard let setting = Setting.named("webhook-private-addresses"),
                case .flag(let isAllowed)? = try environment.value(of: setting)
            else { return false }
            return isAllowed
        }
    }

    /// Records the changes by the passing of time, such as expired items, in the histories of users. A subscription may have
    /// renewed without a service that was notified. So its end is left to a service.
    func recordDueStates() async throws {
        let service = till.entitlements
        let now = service.clock.now()
        try await service.recordDueStates(at: now, holding: now)
        for customer in service.customers {
            try await service.recordDueStates(holding: customer.now, of: customer)
        }
    }

    /// Runs the service on a free port as long as `body` needs it, and passes `body` a client with every scope.
    func withClient<Value: Sendable>(
        _ body: @Sendable @escaping (ServiceClient) async throws -> Value
    ) async throws -> Value {
        guard let play else { return try await withClient(asking: [], body) }
        return try await LoopbackServer.run({ play.store.routes(sandboxKey: SandboxKey().apiKey).router() }) { url in
            try await self.withClient(asking: try self.apps(at: play.store, url, by: play.accountFile), body)
        }
    }

    /// The app at a local Google Play.
    ///
    /// - Parameters:
    ///   - url: The address of the Play in this process.
    ///   - accountFile: The file of the service account.
    private func apps(at play: GooglePlay, _ url: URL, by accountFile: URL) throws -> GooglePlayApps {
        let key = try play.perform { try $0.serviceAccountKey(keptIn: accountFile, at: url) }
        let account = try GoogleServiceAccount(json: try key.json())
        return try till.entitlements.apps.all.flatMap { app in
            try GooglePlayServices.apps(
                of: app, package: PackageName.name(ofApp: app.bundleIdentifier), asking: account, at: url, by: [],
                for: till.entitlements)
        }
    }

    private func withClient<Value: Sendable>(
        asking googlePlay: GooglePlayApps,
        _ body: @Sendable @escaping (ServiceClient) async throws -> Value
    ) async throws -> Value {
        // Valid in this process alone.
        let key = Randomness.system.bytes(32).hexadecimal
        return try await LoopbackServer.run(
            ServiceRoutes(
                till, stores: StoreClients(googlePlay: googlePlay), RouteSettings(.processKey(APIKey(key)))
            ).router
        ) { url in
            try await body(ServiceClient(url: url, credential: key))
        }
    }
}
