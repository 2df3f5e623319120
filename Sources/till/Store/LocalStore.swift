import AppStore
import ArgumentParser
import Catalog
import Entitlements
import Foundation
import HTTPSupport
import Ledger
import Logging
import PlayStore
import Proofs
import ServiceLifecycle
import Vocabulary

/// The app that the store of a data directory sells for. The file `app.json` keeps it for later commands.
struct StoreApp {
    /// The content of `app.json`.
    private struct Record: Codable {
        let bundleId: String
        let environment: AppStoreEnvironment
        /// The app's number in the App Store; nil for the one of the configuration.
        let appAppleId: Int64?
    }

    let configuration: StoreKitConfiguration
    private let record: Record

    /// The app that a store was made for, else the app of a catalog.
    init(of data: DataDirectory) throws {
        guard let bytes = try? Data(contentsOf: data.storeAppFile) else {
            let catalog = try data.catalog()
            configuration = catalog.configuration
            record = Record(bundleId: catalog.bundleIdentifier, environment: .sandbox, appAppleId: nil)
            return
        }
        guard let record = try? JSONDecoder().decode(Record.self, from: bytes) else {
            throw CommandError(
                "storeAppInvalid",
                "The file \(data.storeAppFile.path) is damaged: name the app again with till store.")
        }
        self.record = record
        configuration = try StoreKitConfiguration(file: data.storeProductsFile.path)
    }

    /// Makes a store without an app sell for a new one, or for the same app other products.
    ///
    /// - Parameters:
    ///   - environment: Nil for that of the store, or else the sandbox.
    ///   - appAppleIdentifier: Nil for that of the store.
    /// - Throws: `CommandError` if the store has sold for another app.
    static func keep(
        _ bundleIdentifier: String,
        products: String,
        environment: AppStoreEnvironment?,
        appAppleIdentifier: Int64?,
        in data: DataDirectory
    ) throws {
        // A damaged file is replaced.
        let known = try? StoreApp(of: data).record
        let record = Record(
            bundleId: bundleIdentifier, environment: environment ?? known?.environment ?? .sandbox,
            appAppleId: appAppleIdentifier ?? known?.appAppleId)
        let configuration = try StoreKitConfiguration(file: products)
        let hasSold = FileManager.default.fileExists(atPath: data.storeFile.path)
        if let known, hasSold, known.bundleId != record.bundleId || known.environment != record.environment {
            throw CommandError(
                "storeAppInvalid",
                "This data directory has a store of \(known.bundleId) in \(known.environment.rawValue): "
                    + "name another directory with --data.")
        }
        try Data(configuration.text.utf8).write(to: data.storeProductsFile, options: .atomic)
        try JSONEncoder().encode(record).write(to: data.storeAppFile, options: .atomic)
    }

    func open(_ folder: URL) throws(StoreError) -> Store {
        try Store(
            folder: folder, bundleIdentifier: record.bundleId, configuration: configuration,
            environment: record.environment, appAppleIdentifier: record.appAppleId, clock: SystemClock(),
            randomness: .system)
    }
}

/// A store for development in the process of the service. The service trusts its proofs and receives its notifications.
struct LocalStore: Sendable {
    let store: Store
    let sandboxKey: SandboxKey
    let routes: StoreRoutes
    /// Sends notifications. An attempt before the service listens would fail, and a sandbox makes no other.
    let sending: DelayedService
    private let logger: Logger

    init(_ data: DataDirectory, sandboxKey: SandboxKey, logger: Logger) throws {
        try data.prepare()
        let store = try data.store()
        try data.trust(store)
        (self.store, self.sandboxKey, self.logger) = (store, sandboxKey, logger)
        routes = store.routes(sandboxKey: sandboxKey.apiKey)
        sending = DelayedService { try await store.notificationSending(logger: logger).run() }
    }

    /// Sends notifications to the service in this process, which listens now, unless another address is set, and names the store's
    /// OCSP responder there.
    func sendNotifications(to service: URL) {
        do {
            _ = try store.update { settings in
                let isOurs =
                    settings.notificationsURL.map { $0.path == Self.path && $0.host() == service.host() } ?? true
                if isOurs { settings.notificationsURL = service.appending(path: Self.path) }
            }
            try store.offerRealtimeURL(service.appending(path: Self.retentionPath))
        } catch {
            logger.error("the store cannot be told where to notify", metadata: ["code": "\(error.code)"])
        }
        store.announceResponder(at: service, logger: logger)
        sending.begin()
    }

    private static let path = "/v1/notifications/apple"
    private static let retentionPath = "/v1/retention/apple"
}

/// A background part of a local store that begins once the service beside it listens.
struct DelayedService: ServiceLifecycle.Service {
    private let beginning: AsyncStream<Void>
    private let waiting: AsyncStream<Void>.Continuation
    private let work: @Sendable () async throws -> Void

    init(_ work: @escaping @Sendable () async throws -> Void) {
        (beginning, waiting) = AsyncStream.makeStream()
        self.work = work
    }

    func begin() { waiting.finish() }

    func run() async throws {
        await cancelWhenGracefulShutdown { for await _ in beginning {} }
        guard !Task.isCancelled, !Task.isShuttingDownGracefully else { return }
        try await work()
    }
}

extension Store {
    /// Names the OCSP responder of a store that listens now.
    func announceResponder(at address: URL, logger: Logger) {
        do { try nameResponder(at: address) } catch {
            logger.error(
                "the store's certificates cannot name its OCSP responder", metadata: ["code": "\(error.code)"])
        }
    }
}

/// The clocks of the local stores that have sold the purchases of a ledger. A store whose clock is behind is at the time of the other.
struct StoreClocks: Sendable {
    let appStore: Store?
    let play: GooglePlay?

    /// The clock by which subscriptions end: the machine's without a store.
    var current: any WallClock { current(play?.clock) }

    /// The clock of a service, which knows the customers of the Play by the names that its ledger gives purchase tokens.
    ///
    /// - Parameter makesNames: False to write nothing. A ledger without names has no purchases of the Play.
    /// - Throws: `StorageFault`.
    func current(of ledger: Ledger, makesNames: Bool = true) async throws -> any WallClock {
        guard let play else { return current(nil) }
        let names: PurchaseTokenNames? =
            if makesNames { try await ledger.tokenNames } else { try await ledger.read { try $0.tokenNames } }
        return current(names.map { play.clock(naming: $0) } ?? play.clock)
    }

    private func current(_ play: PlayClock?) -> any WallClock {
        guard let appStore else { return play ?? SystemClock() }
        return play.map { ClockOfBothStores(appStore: appStore.clock, play: $0) } ?? appStore.clock
    }

    /// The clock of a verifier: no proof of the stores is signed after it.
    var latest: any WallClock {
        guard let appStore else { return play?.latestClock ?? SystemClock() }
        return play.map { LaterClock(first: appStore.latestClock, second: $0.latestClock) } ?? appStore.latestClock
    }
}

private struct LaterClock: WallClock {
    let first: any WallClock
    let second: any WallClock

    func now() -> Timestamp { max(first.now(), second.now()) }
}

/// The later clock of an App Store and a Play. Customers of both may have their own.
private struct ClockOfBothStores: CustomerClocks {
    let appStore: StoreClock
    let play: PlayClock

    func now() -> Timestamp { max(appStore.now(), play.now()) }

    var hasCustomers: Bool { appStore.hasCustomers || play.hasCustomers }

    func time(ofBuyerOf transactionIdentifier: String) -> Timestamp? {
        appStore.time(ofBuyerOf: transactionIdentifier) ?? play.time(ofBuyerOf: transactionIdentifier)
    }

    func customers() -> [CustomerTime] { appStore.customers() + play.customers() }
}

/// The last options of a command that serves a local store alone.
struct LocalStoreOptions: ParsableArguments {
    @Option(help: "The lowest level that is logged: trace, debug, info, notice, warning, error or critical.")
    var logLevel: Logger.Level = .notice

    @OptionGroup var sandbox: SandboxKeyOptions

    @OptionGroup var common: CommonOptions

    func logger(_ label: String) -> Logger {
        var logger = Logger(label: label, factory: LogFormat.text.handler(label:))
        logger.logLevel = logLevel
        return logger
    }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}

/// The secret by which tests act as the customer and as Apple.
struct SandboxKey: Sendable {
    private static let lengths = 16...256

    /// The text of a random key, to be printed; nil for a fixed key, which is never printed.
    let printed: String?
    let apiKey: APIKey

    init() {
        let text = Randomness.system.bytes(16).hexadecimal
        printed = text
        apiKey = APIKey(text)
    }

    /// - Parameter source: The option or variable that has the key.
    /// - Throws: `ConfigurationError`, without the key.
    init(fixed text: String, from source: String) throws(ConfigurationError) {
        guard Self.lengths.contains(text.utf8.count), text.isVisibleASCII else {
            throw ConfigurationError(
                message:
                    "\(source) must have 16 to 256 characters of ASCII without spaces. `openssl rand -hex 16` prints a key.",
                isWrongValue: true)
        }
        printed = nil
        apiKey = APIKey(text)
    }

    /// The line of a started store.
    var line: String { "Sandbox key: \(printed ?? "the fixed one")" }
}

/// The option and the variable of a fixed sandbox key.
struct SandboxKeyOptions: ParsableArguments {
    static let variable = "TILL_SANDBOX_KEY"

    @Option(
        help: .value(
            "key",
            "The sandbox key, of 16 to 256 characters, for CI (default: $TILL_SANDBOX_KEY, else a random one that is printed)."
        ))
    var sandboxKey: String?

    /// The key in use: the option's, else the variable's, else a random one.
    ///
    /// - Throws: `ConfigurationError` for a key that is too short or too long, or cannot be sent in a header.
    func key() throws(ConfigurationError) -> SandboxKey {
        if let sandboxKey { return try SandboxKey(fixed: sandboxKey, from: "--sandbox-key") }
        guard let text = ProcessInfo.variable(Self.variable) else { return SandboxKey() }
        return try SandboxKey(fixed: text, from: Self.variable)
    }
}

extension DataDirectory {
    fileprivate var storeAppFile: URL { storeFolder.file("app.json") }

    fileprivate var storeProductsFile: URL { storeFolder.file("Products.storekit") }

    /// Opens the local App Store to sell or to play a customer, and keeps the catalog that the command names.
    func store() throws -> Store {
        let store = try openStore()
        try keepCatalog()
        return store
    }

    private func openStore() throws -> Store { try StoreApp(of: self).open(storeFolder) }

    /// Adds the store's roots to the certificates that the service trusts.
    func trust(_ store: Store) throws {
        for root in store.rootCertificates {
            if let anchor = try TrustAnchor(root) { try TrustFolder(trustFolder).add(anchor) }
        }
    }

    var clocks: StoreClocks {
        get throws { StoreClocks(appStore: try hasStore() ? openStore() : nil, play: try openedPlay) }
    }

    /// The local Google Play; nil if there is none.
    var openedPlay: GooglePlay? {
        get throws { try playFile.exists() ? openPlay() : nil }
    }
}
