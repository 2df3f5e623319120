import GRDB
import Proofs

/// The proofs of purchases, for a service to verify.
extension Store {
    /// The app receipt of an account, in base64. `ReceiptContents` decides which transactions it has.
    package func receipt(account: String) throws(StoreError) -> String {
        try read { books in
            try issuer.receipt(over: try books.receiptTransactions(of: account), account: account, at: books.now)
        }
    }

    /// The signed form (JWS) of one transaction of the queue. Its signature is invalid if verification is simulated to fail.
    package func signedTransaction(_ identifier: Int64) throws(StoreError) -> String {
        try read { books in
            guard let purchase = try books.queued(identifier).transaction.purchase,
                let sold = try books.transactions.transaction(purchase.transactionIdentifier)
            else { throw StoreError.notPurchased(identifier) }
            return try Self.signed(sold, in: books)
        }
    }

    /// The signed form (JWS) of a transaction, as the app gets it. Its signature is invalid if verification is simulated to
    /// fail.
    package func signedTransaction(of transactionIdentifier: String) throws(StoreError) -> String {
        try read { books in try Self.signed(try books.sale(transactionIdentifier), in: books) }
    }

    private static func signed(_ transaction: Transaction, in books: Books) throws -> String {
        let signed = try books.issuer.signedTransaction(transaction, at: books.now)
        return books.settings.simulatedErrors[.verification] == nil ? signed : damaged(signed)
    }

    /// The same JWS with another signature.
    private static func damaged(_ compact: String) -> String {
        let parts = compact.split(separator: ".")
        guard parts.count == 3, let first = parts[2].first else { return compact }
        return "\(parts[0]).\(parts[1]).\(first == "A" ? "B" : "A")\(parts[2].dropFirst())"
    }
}

extension Books {
    /// The transactions of an account's receipt. `ReceiptContents` has the rules.
    func receiptTransactions(of account: String) throws -> [Transaction] {
        ReceiptContents.transactions(
            of: try transactions.transactions(of: account),
            unfinished: try unfinishedTransactionIdentifiers(of: account))
    }
}

/// The requests of an app to StoreKit besides purchases. Each fails if the settings simulate an error.
extension Store {
    /// The products for sale (StoreKit, `Product.products(for:)`).
    package func products() throws(StoreError) -> [Product] {
        try read { books in
            try books.throwSimulatedError(.loadProducts)
            return configuration.products
        }
    }

    /// The states of an account's subscriptions (StoreKit, `Product.SubscriptionInfo.status`).
    package func subscriptionStatuses(
        of account: String
    ) throws(StoreError) -> [StatusResponse.SubscriptionGroupIdentifierItem] {
        try read { books in
            try books.throwSimulatedError(.subscriptionStatus)
            return try books.subscriptions.subscriptions(of: account).compactMap(books.statusItem)
        }
    }

    /// The signed app transaction (JWS) of an account (StoreKit, `AppTransaction.shared`).
    package func signedAppTransaction(of account: String) throws(StoreError) -> String {
        try read { books in
            try books.throwSimulatedError(.appTransaction)
            return try issuer.signedAppTransaction(of: account, at: books.now)
        }
    }
}

extension Books {
    /// - Throws: `StoreError`, `simulated`.
    func throwSimulatedError(_ call: StoreKitCall) throws {
        if let failure = settings.simulatedErrors[call] { throw StoreError.simulated(call, failure) }
    }
}

extension Books {
    /// Deletes all sales and notifications. Keys, settings and the time stay (StoreKitTest, `clearTransactions`).
    package func clearSales() throws {
        try transactions.storeLastChange()
        for table in [
            "payment_transaction", "consumption", "subscription", "app_store_transaction", "send_attempt",
            "notification", "mass_extension",
        ] {
            try database.execute(sql: "DELETE FROM \(table)")
        }
    }

    func count(_ table: String) throws -> Int {
        try Int.fetchOne(database, sql: "SELECT count(*) FROM \(table)") ?? 0
    }
}

/// The transactions of an app receipt.
package enum ReceiptContents {
    /// The identifiers of the transactions that the app has yet to finish.
    package static func unfinished(in queue: [PaymentTransaction]) -> Set<String> {
        Set(queue.filter(\.state.isAwaitingFinish).compactMap(\.purchase?.transactionIdentifier))
    }

    /// The transactions of a history that the receipt has: the unfinished ones, every period of a subscription, and the
    /// latest transaction of each non-consumable.
    ///
    /// - Parameter history: All transactions of the account, the oldest first.
    package static func transactions(of history: [Transaction], unfinished: Set<String>) -> [Transaction] {
        let latest = Dictionary(
            history.map { ($0.productIdentifier, $0.transactionIdentifier) }, uniquingKeysWith: { $1 })
        return history.filter { transaction in
            if unfinished.contains(transaction.transactionIdentifier) { return true }
            return switch transaction.type {
            case .consumable: false
            case .autoRenewableSubscription, .nonRenewingSubscription: true
            case .nonConsumable: latest[transaction.productIdentifier] == transaction.transactionIdentifier
            }
        }
    }
}
