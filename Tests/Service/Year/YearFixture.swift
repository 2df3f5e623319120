import AppStore
import Catalog
import Entitlements
import Features
import Foundation
import HTTPSupport
import Ledger
import Logging
import Proofs
import Service
import TestSupport
import Testing

/// A local App Store that sells `Year.storekit`, and the parts of a service that trusts it, on one clock.
struct YearFixture: Sendable {
    static let bundleIdentifier = "com.example.garden"
    private static let file = Project.root.appending(path: "Tests/Service/Year/Year.storekit")
    private static let items = """
        {
          "bundleId": "\(bundleIdentifier)",
          "ownedByEverybody": [ { "collection": "bed", "number": 0 } ],
          "items": [
            { "productID": "garden.gate", "collection": "gate", "number": 1 },
            { "productID": "garden.season", "collection": "bed", "number": 1, "duration": "P3M" },
            { "productID": "garden.basic.monthly", "collection": "plus", "number": 1 },
            { "productID": "garden.basic.yearly", "collection": "plus", "number": 1 },
            { "productID": "garden.premium.monthly", "collection": "plus", "number": 2 },
            { "productID": "garden.duo.monthly", "collection": "plus", "number": 3 },
            { "productID": "garden.team.monthly", "collection": "team", "number": 1 },
            { "productID": "garden.seeds", "balance": "seeds", "amount": 10 }
          ]
        }
        """

    let folder: TemporaryFolder
    let clock: ManualClock
    let store: Store
    let ledger: Ledger
    let verifier: ProofVerifier
    let service: EntitlementService
    let webhooks: WebhookService
    let figures: FigureService
    let routes: ServiceRoutes
    /// A key with every scope.
    let key: String

    init() async throws {
        folder = try TemporaryFolder(isInMemory: true)
        clock = ManualClock(try #require(Timestamp(rfc3339: "2027-01-01T12:00:00Z")))
        let catalog = try Self.catalog(in: folder.folder("catalog"))
        try TestShop.installKeys(in: folder.folder("store"))
        store = try Self.store(in: folder, selling: catalog.configuration, clock)
        ledger = try Ledger(file: folder.file("ledger.sqlite"))
        let keys = ledger.apiKeys(clock: clock)
        key = try await keys.make(name: "tests", scopes: Set(APIKeyScope.allCases)).key
        verifier = ProofVerifier(
            anchors: try TrustAnchors(store.rootCertificates.compactMap { try TrustAnchor($0) }),
            clock: store.latestClock)
        let apps = Apps(App(catalog))
        service = EntitlementService(apps: apps, verifier: verifier, ledger: ledger, clock: store.clock)
        webhooks = service.webhooks(clock: clock, allowsPrivateAddresses: true)
        let figures = ledger.figures(clock: clock)
        self.figures = figures
        routes = ServiceRoutes(Till(service, clock: clock) { $0.figures = figures }, RouteSettings(.apiKeys(keys)))
    }

    /// The same store after its team has taken a product off sale.
    func storeWithdrawing(_ product: String) throws -> Store {
        let file = folder.file("withdrawn.storekit")
        let text = try String(contentsOf: Self.file, encoding: .utf8)
        // Under another name it is another product.
        try Data(text.replacing("\"\(product)\"", with: "\"\(product).withdrawn\"").utf8).write(to: file)
        return try Self.store(in: folder, selling: try StoreKitConfiguration(file: file.path), clock)
    }

    private static func store(
        in folder: TemporaryFolder,
        selling configuration: StoreKitConfiguration,
        _ clock: ManualClock
    ) throws -> Store {
        try Store(
            folder: folder.folder("store"), bundleIdentifier: bundleIdentifier, configuration: configuration,
            clock: clock, randomness: .system)
    }

    static func catalog(in folder: URL) throws -> Catalog {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: file, to: folder.appending(path: Catalog.configurationFile))
        try Data(items.utf8).write(to: folder.appending(path: Catalog.itemsFile))
        return try Catalog(folder: folder)
    }
}
