import Catalog
import Foundation
import GRDB
import HTTPSupport
import Proofs
import Synchronization

/// A local App Store. It sells the products of a StoreKit configuration, keeps each account's payment queue and subscriptions
/// in its own database, and signs proofs of its sales. It grants nothing.
package final class Store: Sendable {
    package let configuration: StoreKitConfiguration
    package var bundleIdentifier: String { issuer.bundleIdentifier }
    /// The environment that its proofs state.
    package var environment: AppStoreEnvironment { issuer.environment }
    let issuer: ProofIssuer
    let machineClock: any WallClock
    let queue: DatabaseQueue
    let readings = ClockReadings()
    /// The observers of the commits that change the store, by the numbers of their registrations.
    private let observers = Mutex<(last: Int, all: [Int: @Sendable () -> Void])>((0, [:]))
    /// The file of the database. Faults name it.
    let path: String
    /// The database with the team's keys; nil for the store's own.
    private let teamKeyQueue: DatabaseQueue?
    /// True for a store that ends with its last reference.
    var isInMemory: Bool { path == Self.memory }
    /// The name of a database in memory, as SQLite has it.
    private static let memory = ":memory:"
    /// The maximum number of due events in one commit.
    static let catchUpLimit = 200

    /// Opens the store in a folder. A new folder gets new keys and an empty queue.
    ///
    /// - Parameters:
    /// - appAppleIdentifier: The app's number in the App Store, for proofs of the environment `Production` and for realtime
    ///   requests; nil for the configuration's.
    /// - isDurable: False for a demonstration. A power cut may then lose sales.
    /// - clock: The machine's clock. The store's clock and those of its accounts are this one plus an offset.
    package init(
        folder: URL,
        bundleIdentifier: String,
        configuration: StoreKitConfiguration,
        environment: AppStoreEnvironment = .sandbox,
        appAppleIdentifier: Int64? = nil,
        isDurable: Bool = true,
        clock: any WallClock,
        randomness: Randomness
    ) throws(StoreError) {
        self.configuration = configuration
        machineClock = clock
        issuer = ProofIssuer(
            keys: try StoreKeys(
                folder: folder.appending(path: "keys", directoryHint: .isDirectory), clock: clock,
                randomness: randomness),
            bundleIdentifier: bundleIdentifier, environment: environment,
            knownAppAppleIdentifier: appAppleIdentifier ?? configuration.settings.appAppleIdentifier,
            randomness: randomness)
        let file = folder.appending(path: "store.sqlite", directoryHint: .notDirectory)
        path = file.path
        queue = try StoreSchema.open(file, label: "store", isDurable ? .full : .off)
        teamKeyQueue = nil
    }

    /// A fresh store in memory. It sells the same products for the same app, signs with the same keys, and accepts the same team keys,
    /// also those that are made later. Its certificates name an OCSP responder of its own, if those of the other store name one.
    ///
    /// - Parameter path: The path of its routes below the other store's address, such as `stores/suite-7`.
    init(besides main: Store, at path: String) throws(StoreError) {
        (configuration, machineClock) = (main.configuration, main.machineClock)
        var issuer = main.issuer
        issuer.keys = StoreKeys(of: main.issuer.keys, below: path)
        self.issuer = issuer
        (self.path, teamKeyQueue) = (Self.memory, main.queue)
        queue = try StoreSchema.openInMemory(named: Self.memory)
    }

    /// The roots of the store's two chains. A service has to trust them to accept the store's proofs.
    package var rootCertificates: [Certificate] { issuer.keys.roots }

    /// The time of the store's clock.
    package var now: Timestamp {
        let offset = readings.value(.offset, before: 0) { try queue.read { try StateRecords(database: $0).offset() } }
        return machineClock.now().adding(milliseconds: offset)
    }

    /// The latest time of the store's clock and of the accounts' own. No proof is signed after it.
    package var latestTime: Timestamp {
        let machineTime = machineClock.now()
        let offset = readings.value(.latestOffset, before: Int64(0)) {
            try queue.read { database in
                let latest = try ClockRecords(database: database, machineTime: machineTime).latestTime()
                return max(
                    try StateRecords(database: database).offset(),
                    (latest ?? machineTime).millisecondsSince1970 - machineTime.millisecondsSince1970)
            }
        }
        return machineTime.adding(milliseconds: offset)
    }

    /// Runs a use case in one transaction, after all due events.
    package func write<Value>(_ body: (Books) throws -> Value) throws(StoreError) -> Value {
        do { return try writeOrThrow(body) } catch { throw fault(error) }
    }

    /// The same for a use case that throws its own errors.
    package func writeOrThrow<Value>(_ body: (Books) throws -> Value) throws -> Value {
        do {
            // Batches keep the finished events and let other callers in.
            while try !commit({ try books($0).catchUp(limit: Self.catchUpLimit) }) {}
            return try commit { database in
                let books = try books(database)
                _ = try books.catchUp()
                return try body(books)
            }
        } catch { throw ownError(error) }
    }

    /// Reads the books after all due events.
    package func read<Value>(_ body: (Books) throws -> Value) throws(StoreError) -> Value {
        do { return try readOrThrow(body) } catch { throw fault(error) }
    }

    /// The same for a use case that throws its own errors.
    package func readOrThrow<Value>(_ body: (Books) throws -> Value) throws -> Value {
        do {
            let isDue = try queue.read { database in
                try books(database).isDue()
            }
            guard !isDue else { return try writeOrThrow(body) }
            return try queue.read { try body(try books($0)) }
        } catch { throw ownError(error) }
    }

    /// The error of a use case, or else the fault of the store.
    private func ownError(_ error: any Error) -> any Error {
        error is any ServerAPIRefusal || error is any CodedError ? error : fault(error)
    }

    /// Runs a use case in one transaction, without blocking the caller's thread.
    func committing<Value: Sendable>(_ body: @escaping @Sendable (Books) throws -> Value) async throws -> Value {
        let (value, hasChanged) = try await queue.write { [self] database in
            try Self.noting(database) { try body(try books(database)) }
        }
        if hasChanged { notifyObservers() }
        return value
    }

    /// Commits one transaction, and then notifies the observers if it has changed anything.
    func commit<Value>(_ body: (Database) throws -> Value) throws -> Value {
        let (value, hasChanged) = try queue.write { database in try Self.noting(database) { try body(database) } }
        if hasChanged { notifyObservers() }
        return value
    }

    /// The value, and true if the body has changed anything.
    private static func noting<Value>(_ database: Database, _ body: () throws -> Value) throws -> (Value, Bool) {
        let before = database.totalChangesCount
        let value = try body()
        return (value, database.totalChangesCount != before)
    }

    func books(_ database: Database) throws -> Books {
        let (state, machineTime) = (StateRecords(database: database), machineClock.now())
        return Books(
            database: database, configuration: configuration, issuer: issuer,
            settings: try state.settings() ?? StoreSettings(configuration), teamKeyQueue: teamKeyQueue,
            machineTime: machineTime, now: machineTime.adding(milliseconds: try state.offset()))
    }

    func fault(_ error: any Error) -> StoreError { StoreError(error, path: path) }

    /// The maximum length of an account's name, in bytes of UTF-8.
    package static let maximumAccountLength = LocalAccount.maximumLength

    /// - Throws: `StoreError`, `accountInvalid`, for a name that is empty, too long or has control characters.
    package static func check(account: String) throws(StoreError) {
        guard LocalAccount.isValid(account) else { throw .accountInvalid(account) }
    }
}

/// The store's database inside one transaction, at one moment of the clocks. Use cases read and write it.
package struct Books {
    let database: Database
    let configuration: StoreKitConfiguration
    let issuer: ProofIssuer
    let settings: StoreSettings
    /// The database with the team's keys: that of the main store for a named one; nil for this database.
    let teamKeyQueue: DatabaseQueue?
    let machineTime: Timestamp
    /// The time of the store's clock, or the moment of `at`. What belongs to an account has the time of `now(of:)`.
    var now: Timestamp
    /// True at the moment of `at`, which is then the time of every account.
    var isAtMoment = false

    var randomness: Randomness { issuer.randomness }
    package var state: StateRecords { StateRecords(database: database) }
    package var payments: PaymentRecords { PaymentRecords(database: database) }
    package var transactions: TransactionRecords { TransactionRecords(database: database) }
    var subscriptions: SubscriptionRecords { SubscriptionRecords(database: database) }
    package var notifications: SentNotificationRecords { SentNotificationRecords(database: database) }

    var terms: SubscriptionTerms { settings.terms(of: configuration, at: now) }
    var storefront: Storefront { terms.storefront }

    /// The same books at another moment, such as when an event became due.
    func at(_ moment: Timestamp) -> Books {
        var books = self
        (books.now, books.isAtMoment) = (moment, true)
        return books
    }
}

/// The registration of an observer of a store, until `cancel` or its last reference.
package typealias StoreObservation = AnyDatabaseCancellable

extension Store {
    /// Notifies an observer of each commit that has changed the store.
    ///
    /// Commits of this process notify it at once. Another process may use the same database. A slow check of SQLite's
    /// `data_version`, which only such commits change, finds them.
    ///
    /// - Parameters:
    ///   - interval: The pause between checks for commits of other processes.
    ///   - observer: The observer, which must not block. Several commits may result in one call.
    package func observe(
        checkingEvery interval: Duration = .seconds(2),
        _ observer: @escaping @Sendable () -> Void
    ) -> StoreObservation {
        let number = observers.withLock { observers in
            observers.last += 1
            observers.all[observers.last] = observer
            return observers.last
        }
        let first = try? queue.read(Self.dataVersion)
        let check = Task { [queue] in
            var known = first
            // A cancelled sleep ends the loop.
            while (try? await Task.sleep(for: interval)) != nil {
                // An error ends nothing: the next use case reports it.
                guard let version = try? await queue.read(Self.dataVersion), version != known else { continue }
                known = version
                observer()
            }
        }
        return StoreObservation { [weak self] in
            _ = self?.observers.withLock { $0.all.removeValue(forKey: number) }
            check.cancel()
        }
    }

    package var observerCount: Int { observers.withLock { $0.all.count } }

    private func notifyObservers() {
        for observer in observers.withLock({ Array($0.all.values) }) { observer() }
    }

    /// A number that changes with each commit of another connection, and not with those of this one.
    @Sendable private static func dataVersion(_ database: Database) throws -> Int64? {
        try Int64.fetchOne(database, sql: "PRAGMA data_version")
    }
}
