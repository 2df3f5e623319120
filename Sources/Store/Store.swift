import Catalog
import Commerce
import Foundation
import GRDB
import Receipts
import Signatures

/// A local App Store: it sells the catalog's products, keeps each account's payment queue in its own database, and signs
/// what it has sold. It grants nothing.
public final class Store: Sendable {
    private let catalog: Catalog
    private let clock: any WallClock
    private let randomness: Randomness
    private let issuer: ProofIssuer
    private let queue: DatabaseQueue
    private let path: String

    /// Opens the store in a folder, with new keys and an empty queue when there is none yet.
    public init(
        folder: URL,
        catalog: Catalog,
        clock: any WallClock,
        randomness: Randomness
    ) throws(StoreError) {
        self.catalog = catalog
        self.clock = clock
        self.randomness = randomness
        issuer = ProofIssuer(
            keys: try StoreKeys(
                folder: folder.appending(path: "keys", directoryHint: .isDirectory), clock: clock,
                randomness: randomness),
            bundleIdentifier: catalog.bundleIdentifier, storefront: catalog.storefront, clock: clock,
            randomness: randomness)
        let file = folder.appending(path: "store.sqlite", directoryHint: .notDirectory)
        path = file.path
        queue = try Self.open(file)
    }

    /// The roots of the store's two chains, which a service has to trust to accept its proofs.
    public var rootCertificates: [Certificate] {
        [issuer.keys.transactionSigner, issuer.keys.receiptSigner].compactMap(\.chain.last)
    }

    /// Adds a payment to an account's queue; it is purchasing until `process` takes it further.
    public func add(
        _ payment: Payment,
        account: String,
        outcome: PaymentOutcome = .purchased
    ) throws(StoreError) -> PaymentTransaction {
        guard catalog.product(payment.productIdentifier) != nil else {
            throw .productNotFound(payment.productIdentifier)
        }
        guard Payment.quantities.contains(payment.quantity) else { throw .quantityOutOfRange(payment.quantity) }
        return try write { try $0.add(payment, account: account, outcome: outcome) }
    }

    /// Takes every payment of an account that is still purchasing to the outcome asked for.
    ///
    /// - Returns: The transactions that changed.
    public func process(account: String) throws(StoreError) -> [PaymentTransaction] {
        try write { records in
            let purchasing = try records.transactions(account: account).filter { $0.transaction.state == .purchasing }
            return try purchasing.map { queued in
                switch try records.outcome(of: queued.transaction.identifier) {
                case .purchased where !isSold(queued):
                    try apply(.fail, to: queued, error: .storeProductNotAvailable, in: records)
                case .purchased: try apply(.purchase, to: queued, in: records)
                case .deferred: try apply(.awaitApproval, to: queued, in: records)
                case .failed(let error): try apply(.fail, to: queued, error: error, in: records)
                }
            }
        }
    }

    /// Approves a deferred transaction: it is purchased, unless the product was withdrawn meanwhile.
    public func approve(_ identifier: Int64) throws(StoreError) -> QueuedTransaction {
        if let queued = try read({ try $0.transaction(identifier) }), queued.transaction.state == .deferred,
            !isSold(queued)
        {
            return try change(identifier, by: .decline, error: .storeProductNotAvailable)
        }
        return try change(identifier, by: .approve)
    }

    /// Declines a deferred transaction: it fails, cancelled.
    public func decline(_ identifier: Int64) throws(StoreError) -> QueuedTransaction {
        try change(identifier, by: .decline, error: .paymentCancelled)
    }

    /// Takes a transaction out of the queue, for good: the app has handled it. Of a finished one, nothing is left to do: two
    /// launches of the app may both have handled it.
    public func finish(_ identifier: Int64, account: String) throws(StoreError) -> PaymentTransaction {
        do throws(StoreError) {
            return try change(identifier, by: .finish, account: account).transaction
        } catch .illegalTransition(IllegalPaymentTransition(state: .finished, event: .finish)) {
            return try transaction(identifier, account: account)
        }
    }

    /// One of an account's transactions.
    public func transaction(_ identifier: Int64, account: String) throws(StoreError) -> PaymentTransaction {
        guard let queued = try read({ try $0.transaction(identifier) }), queued.account == account else {
            throw .transactionNotFound(identifier)
        }
        return queued.transaction
    }

    /// All transactions, or one account's, finished ones included, in the order in which they were added.
    public func transactions(account: String? = nil) throws(StoreError) -> [QueuedTransaction] {
        try read { try $0.transactions(account: account) }
    }

    /// Adds a restored transaction for each product that the account bought, unless one of it is in the queue for the app to
    /// finish anyway.
    public func restoreCompletedTransactions(account: String) throws(StoreError) {
        try write { records in
            let transactions = try records.transactions(account: account).map(\.transaction)
            for product in Set(transactions.map(\.payment.productIdentifier)).sorted() {
                let ofProduct = transactions.filter { $0.payment.productIdentifier == product }
                guard !ofProduct.contains(where: { $0.state.isAwaitingFinish && $0.purchase != nil }),
                    let first = ofProduct.first(where: { $0.purchase != nil }), let original = first.purchase
                else { continue }
                try records.addRestored(self.again(original), of: first.payment, account: account)
            }
        }
    }

    /// The app receipt over what an account has bought, in base64: of each product the latest transaction, and those that
    /// the app has not finished yet.
    public func receipt(account: String) throws(StoreError) -> String {
        let bought = try transactions(account: account).map(\.transaction).filter { $0.purchase != nil }
        let latest = Dictionary(bought.map { ($0.payment.productIdentifier, $0.identifier) }) { max($0, $1) }
        let purchases = bought.compactMap { transaction in
            let isShown =
                transaction.state.isAwaitingFinish
                || latest[transaction.payment.productIdentifier] == transaction.identifier
            return isShown ? transaction.purchase.map { (payment: transaction.payment, purchase: $0) } : nil
        }
        return try sign { try issuer.receipt(over: purchases, account: account) }
    }

    /// The signed form of one transaction (JWS).
    public func signedTransaction(_ identifier: Int64) throws(StoreError) -> String {
        guard let queued = try read({ try $0.transaction(identifier) }) else { throw .transactionNotFound(identifier) }
        guard let purchase = queued.transaction.purchase else { throw .notPurchased(identifier) }
        return try sign {
            try issuer.signedTransaction(queued.transaction.payment, purchase, account: queued.account)
        }
    }

    /// Whether the catalog still has the product; it may be withdrawn between the payment and now.
    private func isSold(_ queued: QueuedTransaction) -> Bool {
        catalog.product(queued.transaction.payment.productIdentifier) != nil
    }

    private func change(
        _ identifier: Int64,
        by event: PaymentTransactionEvent,
        account: String? = nil,
        error: SKErrorCode? = nil
    ) throws(StoreError) -> QueuedTransaction {
        try write { records in
            guard let queued = try records.transaction(identifier), account == nil || queued.account == account else {
                throw StoreError.transactionNotFound(identifier)
            }
            let changed = try apply(event, to: queued, error: error, in: records)
            return QueuedTransaction(account: queued.account, transaction: changed)
        }
    }

    /// Takes one transaction through one event.
    private func apply(
        _ event: PaymentTransactionEvent,
        to queued: QueuedTransaction,
        error: SKErrorCode? = nil,
        in records: PaymentRecords
    ) throws -> PaymentTransaction {
        let transaction = queued.transaction
        let state: PaymentTransactionState
        do { state = try transaction.state.after(event) } catch { throw StoreError.illegalTransition(error) }
        let changed = PaymentTransaction(
            identifier: transaction.identifier,
            payment: transaction.payment,
            state: state,
            error: state == .failed ? error : transaction.error,
            purchase: state == .purchased
                ? try purchase(transaction.payment, account: queued.account, in: records) : transaction.purchase)
        try records.update(changed)
        return changed
    }

    /// A new purchase; of a non-consumable bought before it costs nothing and refers to the first.
    private func purchase(
        _ payment: Payment,
        account: String,
        in records: PaymentRecords
    ) throws -> PaymentTransaction.Purchase {
        guard let product = catalog.product(payment.productIdentifier) else {
            throw StoreError.productNotFound(payment.productIdentifier)
        }
        if let original = try records.originalPurchase(of: product.productIdentifier, account: account) {
            return again(original)
        }
        let identifier = randomness.digits(16, startingWith: "2")
        let now = clock.now()
        return PaymentTransaction.Purchase(
            transactionIdentifier: identifier,
            originalTransactionIdentifier: identifier,
            purchaseDate: now,
            originalPurchaseDate: now,
            price: Price(
                milliunits: product.price.milliunits * Int64(payment.quantity), currency: product.price.currency))
    }

    /// The same purchase once more, for nothing.
    private func again(_ original: PaymentTransaction.Purchase) -> PaymentTransaction.Purchase {
        PaymentTransaction.Purchase(
            transactionIdentifier: randomness.digits(16, startingWith: "2"),
            originalTransactionIdentifier: original.originalTransactionIdentifier,
            purchaseDate: clock.now(),
            originalPurchaseDate: original.originalPurchaseDate,
            price: Price(milliunits: 0, currency: original.price.currency))
    }
}

extension Store {
    private static func open(_ file: URL) throws(StoreError) -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "store"
        configuration.busyMode = .timeout(10)
        configuration.journalMode = .wal
        do {
            // One at a time: two that found a new file would both make its tables.
            return try PrivateFile.withLock(file.appendingPathExtension("lock")) {
                try PrivateFile.ensureExists(at: file)
                let queue = try DatabaseQueue(path: file.path, configuration: configuration)
                try queue.writeWithoutTransaction { database in
                    // GRDB chooses NORMAL for WAL, under which a power cut may take back a sale.
                    try database.execute(sql: "PRAGMA synchronous = FULL")
                }
                let migrator = StoreSchema.migrator
                guard try queue.read({ try !migrator.hasBeenSuperseded($0) }) else {
                    throw StoreError.storage(StorageFault(cause: .newerVersion, path: file.path))
                }
                try migrator.migrate(queue)
                return queue
            }
        } catch let error as StoreError {
            throw error
        } catch is PrivateFile.Failure {
            throw .storage(StorageFault(cause: .cannotOpen, path: file.path))
        } catch {
            throw fault(error, path: file.path)
        }
    }

    private func write<Value>(_ body: (PaymentRecords) throws -> Value) throws(StoreError) -> Value {
        do {
            return try queue.write { try body(PaymentRecords(database: $0)) }
        } catch let error as StoreError {
            throw error
        } catch {
            throw Self.fault(error, path: path)
        }
    }

    private func read<Value>(_ body: (PaymentRecords) throws -> Value) throws(StoreError) -> Value {
        do {
            return try queue.read { try body(PaymentRecords(database: $0)) }
        } catch {
            throw Self.fault(error, path: path)
        }
    }

    private func sign(_ body: () throws -> String) throws(StoreError) -> String {
        do { return try body() } catch { throw .signingFailed("\(error)") }
    }

    private static func fault(_ error: any Error, path: String) -> StoreError {
        guard let error = error as? DatabaseError else { return .storage(StorageFault(cause: .failed, path: path)) }
        return .storage(StorageFault(sqliteResultCode: error.resultCode.rawValue, path: path))
    }
}
