import AppStore
import Catalog
import Features
import Foundation
import HTTPSupport
import Ledger
import Proofs
import Service

/// The service over a data directory's ledger, in this process.
struct LocalService: Sendable {
    private let service: EntitlementService

    /// Opens the ledger, and creates it if there is none.
    ///
    /// - Parameter migrates: True if missing tables and columns are added.
    init(
        _ data: DataDirectory,
        catalog: Catalog,
        clock: any WallClock,
        accepting accepted: Set<Origin> = Origin.defaultAccepted,
        migrates: Bool = true
    ) async throws {
        let ledger = try Ledger(file: data.ledgerFile, features: .all(), migrates: migrates)
        service = EntitlementService(
            apps: try await CatalogService(apps: Apps(App(catalog)), ledger: ledger, clock: clock).apps,
            verifier: ProofVerifier(anchors: try TrustAnchors(folders: data.trustedFolders), clock: clock),
            ledger: ledger, clock: clock, accepted: AcceptedOrigins(accepted))
    }

    /// Opens the ledger of an earlier command, and creates nothing.
    ///
    /// - Throws: `DataDirectoryMissing` if there is no ledger; `PermissionDenied`.
    init(reading data: DataDirectory, accepting accepted: Set<Origin>) async throws {
        try data.requireLedger()
        // A subscription ends by the clock of the store that sold it.
        let store = try data.hasStore() ? data.store() : nil
        let clock: any WallClock = store?.clock ?? SystemClock()
        try await self.init(
            data, catalog: try Catalog(folder: data.catalogFolder), clock: clock, accepting: accepted, migrates: false)
    }

    /// Runs the service on a free port as long as `body` needs it, and passes `body` a user's connection to it.
    func run<Value: Sendable>(
        for user: User,
        _ body: @Sendable @escaping (any ServiceConnection) async throws -> Value
    ) async throws -> Value {
        try await withClient { try await body(HTTPServiceConnection(client: $0, user: user)) }
    }

    /// Records the changes by the passing of time, such as expired items, in the histories of users. A subscription may have
    /// renewed without a service that was notified. So its end is left to a service.
    func recordDueStates() async throws {
        let now = service.clock.now()
        try await service.recordDueStates(at: now, holding: now)
    }

    /// Runs the service on a free port as long as `body` needs it, and passes `body` a client with every scope.
    func withClient<Value: Sendable>(
        _ body: @Sendable @escaping (ServiceClient) async throws -> Value
    ) async throws -> Value {
        // Valid in this process alone.
        let key = Randomness.system.bytes(32).hexadecimal
        return try await LoopbackServer.run(
            ServiceRoutes(service: service, authentication: .processKey(APIKey(key))).router
        ) { url in
            try await body(ServiceClient(url: url, credential: key))
        }
    }
}
