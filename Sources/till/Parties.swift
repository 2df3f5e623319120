import Catalog
import CatalogAdministration
import Commerce
import Device
import Entitlements
import Foundation
import Ledger
import Receipts
import Server
import Signatures
import Store

/// The three parties on one machine, wired together: store, service and device, with nothing but signed bytes between
/// store and service.
struct Parties: Sendable {
    let catalog: Catalog
    let store: Store
    /// Which service the device talks to.
    private let server: ServerOptions
    private let service: EntitlementService

    init(_ data: DataDirectory, server: ServerOptions = ServerOptions()) throws {
        self.server = server
        catalog = try Catalog(folder: Installation.products)
        try data.prepare()
        store = try data.store()
        try data.trust(store)
        let ledger = try SQLiteLedger(file: data.ledgerFile)
        service = EntitlementService(
            catalog: try CatalogService(files: catalog, ledger: ledger, clock: store.clock).current,
            verifier: ProofVerifier(
                anchors: try TrustAnchors(folders: data.trustedFolders),
                clock: store.clock),
            ledger: ledger,
            clock: store.clock)
    }

    /// Runs the service on a free port, as long as `body` needs it, and hands `body` a user's line to it.
    func withService<Value: Sendable>(
        for user: User,
        _ body: @Sendable @escaping (any ServiceConnection) async throws -> Value
    ) async throws -> Value {
        // Good for this process alone, and known to nobody else.
        let key = Randomness.system.bytes(32).hexadecimal
        return try await LoopbackServer.run(ServiceRoutes(service: service, authentication: .processKey(APIKey(key)))) {
            url in
            try await body(HTTPServiceConnection(client: ServiceClient(url: url, credential: key), user: user))
        }
    }

    /// The user as the service knows it; nil where a token says whose it is.
    func named(_ user: User) -> User? { server.named(user) }

    /// Runs the app of a user: its queue in the store, its line to the service.
    func withDevice<Value: Sendable>(
        of user: User,
        outcome: PaymentOutcome = .purchased,
        proof: ProofChoice = .receipt,
        report: @escaping @Sendable (DeviceStep) -> Void,
        _ body: @Sendable @escaping (PaymentQueueObserver, any ServiceConnection) async throws -> Value
    ) async throws -> Value {
        let queue = LocalStoreConnection(store: store, account: user.name, outcome: outcome, proof: proof)
        if let service = try server.connection(for: user) {
            return try await body(PaymentQueueObserver(store: queue, service: service, report: report), service)
        }
        return try await withService(for: user) { service in
            try await body(PaymentQueueObserver(store: queue, service: service, report: report), service)
        }
    }
}

extension Catalog {
    /// What an item is called, for a person.
    func name(of item: Item) -> String {
        if ownedByEverybody.contains(item) { return "(everybody's)" }
        return product(granting: item)?.localization(language: "en")?.displayName ?? ""
    }
}

extension URL {
    var isExistingFolder: Bool {
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory.boolValue
    }
}
