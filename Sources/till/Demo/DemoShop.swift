import AppStore
import Catalog
import Features
import Foundation
import HTTPSupport
import Ledger
import Proofs

/// The data directory of a demonstration: a store and a ledger with the same sales.
struct DemoShop {
    /// The name of the person who may log in.
    static let member = "demo"
    private static let appAppleIdentifier: Int64 = 1_540_000_000
    private static let url = "http://127.0.0.1/v1/notifications/apple"

    /// The service of the demonstration, which is started after the year.
    let serve: Serve
    let configuration: ServeConfiguration
    private let data: DataDirectory

    var dataPath: String { data.folder.path }
    var catalogPath: String { data.catalogFolder.path }

    private let ledger: Ledger
    private let seed: UInt64

    init(folder: URL, seed: UInt64, port: Int) throws {
        let catalogFolder = folder.appending(path: "catalog", directoryHint: .isDirectory)
        try DemoCatalog.write(into: catalogFolder)
        self.seed = seed
        data = DataDirectory(
            path: folder.appending(path: "data", directoryHint: .isDirectory).path, catalogPath: catalogFolder.path)
        try data.prepare()
        serve = try Serve.parse([
            "--store", "--console", "--webhooks", "--webhook-private-addresses", "--profiles",
            "--catalog-administration", "--keep-proofs", "--port", String(port), "--log-level", "warning", "--data",
            data.folder.path, "--catalog", catalogFolder.path,
        ])
        configuration = try ServeConfiguration(
            serve.options, dataPath: data.folder.path, catalogPath: catalogFolder.path)
        ledger = try Ledger(file: data.ledgerFile, features: .all(of: configuration))
    }

    /// Plays a year of sales that ends now.
    func play() async throws {
        let chance = DemoChance(seed: seed)
        let end = SystemClock().now()
        let clock = DemoClock(end.adding(days: -365))
        let catalog = try Catalog(folder: data.catalogFolder)
        // Sales of the environment Production are the ones that the figures show first.
        let app = try StoreApp(
            bundleIdentifier: catalog.bundleIdentifier,
            products: data.catalogFolder.appending(path: Catalog.configurationFile).path, environment: .production,
            appAppleIdentifier: Self.appAppleIdentifier, storeFolder: data.storeFolder,
            catalogFolder: data.catalogFolder)
        try app.keep(in: data.storeFolder, catalogFolder: data.catalogFolder)
        // The keys and the ledger's identifiers are secrets, and come from the system.
        let store = try Store(
            folder: data.storeFolder, bundleIdentifier: catalog.bundleIdentifier, configuration: catalog.configuration,
            environment: .production, appAppleIdentifier: Self.appAppleIdentifier, isDurable: false, clock: clock,
            randomness: chance.randomness)
        try data.trust(store)
        _ = try store.update { $0.notificationsURL = URL(string: Self.url) }
        let service = EntitlementService(
            apps: try await CatalogService(apps: Apps(App(catalog)), ledger: ledger, clock: clock).apps,
            verifier: ProofVerifier(anchors: try TrustAnchors(folders: data.trustedFolders), clock: clock),
            ledger: ledger, clock: clock)
        try await service.registerApps()
        var year = DemoYear(store: store, service: service, clock: clock, chance: chance, end: end)
        try await year.play()
        // The service sets its own address when it listens.
        _ = try store.update { $0.notificationsURL = nil }
        try await FigureService(ledger: ledger, clock: clock).rollUp()
    }

    /// Makes an API key with every scope.
    func makeKey() async throws -> String {
        let keys = APIKeys(ledger: ledger, clock: SystemClock(), randomness: .system)
        return try await keys.make(name: Self.member, scopes: Set(APIKeyScope.allCases)).key
    }

    /// Adds a person who may do everything.
    ///
    /// - Returns: The password.
    func addMember() async throws -> String {
        let team = TeamService(ledger: ledger, clock: SystemClock(), randomness: .system)
        let password = Randomness.system.bytes(6).hexadecimal
        let invitation = try await team.add(Self.member, role: .admin)
        try await team.accept(
            invitation: invitation, passwordHash: try team.hash(try Password(password, unlike: [])))
        return password
    }
}
