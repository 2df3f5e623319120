import AppStore
import Catalog
import Foundation
import Proofs

/// The store, the service and the device on one machine. Only signed bytes pass from the store to the service.
struct Parties: Sendable {
    let catalog: Catalog
    let store: Store
    /// The service of this process, whichever the device talks to.
    let localService: LocalService
    private let server: ServerOptions

    /// Creates the data directory, the store and the ledger if there are none.
    ///
    /// - Parameter server: The service that the device talks to.
    init(_ data: DataDirectory, server: ServerOptions) async throws {
        self.server = server
        catalog = try Catalog(folder: data.catalogFolder)
        try data.prepare()
        store = try data.store()
        try data.trust(store)
        localService = try await LocalService(data, catalog: catalog, clock: store.clock)
    }

    /// The user as the service knows it; nil if the token names the user.
    func named(_ user: User) -> User? { server.named(user) }

    /// Runs a user's app, with its queue in the store and its connection to the service.
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
        return try await localService.run(for: user) { service in
            try await body(PaymentQueueObserver(store: queue, service: service, report: report), service)
        }
    }
}

extension Catalog {
    /// The name of an item, for a person.
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
