import AppStore
import Catalog
import Features
import Foundation
import HTTPSupport
import Ledger
import Proofs
import Synchronization

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
        configuration = try ServeConfiguration(serve.options, serve.common)
        ledger = try Ledger(file: data.ledgerFile, features: .all(of: configuration))
    }

    /// Checks that the service will be able to listen, before the year is played.
    ///
    /// - Throws: `ServerNotStarted`.
    func requirePort() throws(ServerNotStarted) {
        let (host, port) = (configuration.server.host, configuration.server.port)
        guard port > 0, let code = Examination.listeningProblem(host: host, port: port) else { return }
        throw ServerNotStarted(listeningOn: "\(host):\(port)", code)
    }

    /// Plays a year of sales that ends now.
    func play() async throws {
        let chance = DemoChance(seed: seed)
        let end = SystemClock().now()
        let clock = DemoClock(end.adding(days: -365))
        let catalog = try Catalog(folder: data.catalogFolder)
        // Sales of the environment Production are the ones that the figures show first.
        try StoreApp.keep(
            catalog.bundleIdentifier, products: data.catalogFolder.appending(path: Catalog.configurationFile).path,
            environment: .production, appAppleIdentifier: Self.appAppleIdentifier, in: data)
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
        try await ledger.figures(clock: clock).rollUp()
    }

    /// Makes an API key with every scope.
    func makeKey() async throws -> String {
        let keys = ledger.apiKeys(clock: SystemClock())
        return try await keys.make(name: Self.member, scopes: Set(APIKeyScope.allCases)).key
    }

    /// Adds a person who may do everything.
    ///
    /// - Returns: The password.
    func addMember() async throws -> String {
        let team = TeamService(ledger: ledger, clock: SystemClock())
        let password = Randomness.system.bytes(6).hexadecimal
        let invitation = try await team.add(Self.member, role: .admin)
        try await team.accept(
            invitation: invitation, passwordHash: try team.passwords.hash(try Password(password, unlike: [])))
        return password
    }
}

/// The catalog of the demonstration: the sample catalog, with seeds and subscriptions.
enum DemoCatalog {
    static let prefix = "com.memolease.sesac1."

    /// Writes the catalog into a folder, with the pictures of the sample catalog if it is installed.
    static func write(into folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(PackageResources.Till_storekit).write(to: folder.appending(path: Catalog.configurationFile))
        try Data(PackageResources.Items_json).write(to: folder.appending(path: Catalog.itemsFile))
        let pictures = InstalledFolders().products.appending(path: "Art", directoryHint: .isDirectory)
        if pictures.isExistingFolder {
            try FileManager.default.copyItem(
                at: pictures, to: folder.appending(path: "Art", directoryHint: .isDirectory))
        }
    }
}

/// The chance of a demonstration: the same numbers for the same seed (SplitMix64; Steele, Lea and Flood 2014).
final class DemoChance: Sendable {
    private let state: Mutex<UInt64>

    init(seed: UInt64) {
        state = Mutex(seed)
    }

    var randomness: Randomness {
        Randomness { self.next() }
    }

    func number(below limit: Int) -> Int { Int(next() % UInt64(limit)) }

    /// True in a number of cases out of a thousand.
    func happens(perMille: Int) -> Bool { number(below: 1000) < perMille }

    func element<Element>(of elements: [Element]) -> Element { elements[number(below: elements.count)] }

    private func next() -> UInt64 {
        state.withLock { state in
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
            return mixed ^ mixed >> 31
        }
    }
}

/// A clock that stands still until it is set.
final class DemoClock: WallClock {
    private let moment: Mutex<Timestamp>

    init(_ moment: Timestamp) {
        self.moment = Mutex(moment)
    }

    func now() -> Timestamp { moment.withLock { $0 } }

    func set(_ moment: Timestamp) {
        self.moment.withLock { $0 = moment }
    }
}
