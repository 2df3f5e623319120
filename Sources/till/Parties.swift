import AppStore
import ArgumentParser
import Catalog
import Features
import Foundation
import HTTPSupport
import Ledger
import Proofs
import Service

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
        localService = try await LocalService(
            data, catalog: catalog, clocks: StoreClocks(appStore: store, play: try data.openedPlay))
    }

    /// The user as the service knows it; nil if the token names the user.
    func named(_ user: User) -> User? { server.named(user) }

    /// Runs a user's app, with its queue in the store and its connection to the service.
    func withDevice<Value: Sendable>(
        of user: User,
        outcome: PaymentOutcome = .purchased,
        proof: ProofChoice = .receipt,
        report: @escaping @Sendable (DeviceStep) -> Void,
        _ body: @Sendable @escaping (PaymentQueueObserver, HTTPServiceConnection) async throws -> Value
    ) async throws -> Value {
        let queue = LocalStoreConnection(store: store, account: user.name, outcome: outcome, proof: proof)
        return try await server.withService(for: user, or: { localService }) { service in
            try await body(PaymentQueueObserver(store: queue, service: service, report: report), service)
        }
    }
}

extension Catalog {
    /// Items with their names.
    func named(_ items: [Item]) -> [(item: Item, words: String)] { items.map { ($0, name(of: $0)) } }

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

/// The proof that the app sends to the service.
enum ProofChoice: String, CaseIterable, ExpressibleByArgument, Sendable {
    case receipt
    case transaction
}

/// A device's connection to the store in the same process: the payment queue of one account.
struct LocalStoreConnection: StoreConnection {
    let store: Store
    let account: String
    /// The outcome of this device's payments.
    let outcome: PaymentOutcome
    let proof: ProofChoice

    func add(_ payment: Payment) async throws -> PaymentTransaction {
        try store.add(payment, account: account, outcome: outcome)
    }

    func processPayments() async throws {
        _ = try store.process(account: account)
    }

    func transaction(_ identifier: Int64) async throws -> PaymentTransaction {
        try store.read { try $0.queued(identifier, account: account).transaction }
    }

    func unfinishedTransactions() async throws -> [PaymentTransaction] {
        try store.read { try $0.payments.transactions(account: account) }.map(\.transaction).filter {
            $0.state != .finished
        }
    }

    func proof(of transaction: PaymentTransaction) async throws -> Proof {
        switch proof {
        case .receipt: .receipt(try store.read { try $0.receipt(account: account) })
        case .transaction: .signedTransaction(try store.read { try $0.signedTransaction(transaction.identifier) })
        }
    }

    func finish(_ transaction: PaymentTransaction) async throws {
        _ = try store.perform(.finish, on: transaction.identifier, account: account)
    }
}

/// The service over a data directory's ledger, in this process.
struct LocalService: Sendable {
    private let service: EntitlementService
    private let administration: CatalogService
    private let webhooks: WebhookService

    /// Opens the ledger, and creates it if there is none.
    ///
    /// - Parameters:
    ///   - features: The features that no command needs, and whose tables are created.
    ///   - migrates: True if missing tables and columns are added.
    init(
        _ data: DataDirectory,
        catalog: Catalog,
        clocks: StoreClocks,
        accepting accepted: Set<Origin> = Origin.defaultAccepted,
        using features: [LedgerFeature] = [],
        migrates: Bool = true
    ) async throws {
        let ledger = try Ledger(file: data.ledgerFile, features: .all(using: features), migrates: migrates)
        let clock = clocks.current
        administration = try await CatalogService(apps: Apps(App(catalog)), ledger: ledger, clock: clock)
        // Receivers compare the time of messages with theirs.
        webhooks = ledger.webhooks(of: administration.apps, clock: SystemClock())
        service = EntitlementService(
            apps: administration.apps,
            verifier: try ProofVerifier(trusting: data.trustedFolders, clock: clocks.latest),
            ledger: ledger, clock: clock, accepted: AcceptedOrigins(accepted))
    }

    /// Opens the ledger of an earlier command, and creates nothing but the tables of the features.
    ///
    /// - Throws: `CommandError` if there is no ledger; `PermissionDenied`.
    init(
        reading data: DataDirectory, accepting accepted: Set<Origin>, using features: [LedgerFeature]
    ) async throws {
        try data.requireLedger()
        try await self.init(
            data, catalog: try Catalog(folder: data.catalogFolder), clocks: try data.clocks, accepting: accepted,
            using: features, migrates: !features.isEmpty)
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
        // Valid in this process alone.
        let key = Randomness.system.bytes(32).hexadecimal
        return try await LoopbackServer.run(
            ServiceRoutes(
                service: service, authentication: .processKey(APIKey(key)), administration: administration,
                webhooks: webhooks, allowsPrivateAddresses: try Self.allowsPrivateWebhooks
            ).router
        ) { url in
            try await body(ServiceClient(url: url, credential: key))
        }
    }
}
