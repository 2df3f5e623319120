import GRDB
import Proofs

/// The proofs of purchases, for a service to verify.
extension Books {
    /// The app receipt of an account, in base64. `ReceiptContents` decides which transactions it has.
    package func receipt(account: String) throws -> String {
        let purchases = ReceiptContents.transactions(
            of: try transactions.transactions(of: account),
            unfinished: try unfinishedTransactionIdentifiers(of: account))
        return try issuer.receipt(over: purchases, account: account, at: try now(of: account))
    }

    /// The signed form (JWS) of one transaction of the queue, as the app gets it.
    package func signedTransaction(_ identifier: Int64) throws -> String {
        guard let purchase = try queued(identifier).transaction.purchase,
            let sold = try transactions.transaction(purchase.transactionIdentifier)
        else { throw StoreError.notPurchased(identifier) }
        return try signedForApp(sold)
    }

    /// The signed form (JWS) of a transaction, as the app gets it.
    package func signedTransaction(of transactionIdentifier: String) throws -> String {
        try signedForApp(try sale(transactionIdentifier))
    }

    /// The signed form of a transaction. Its signature is invalid if verification is simulated to fail.
    private func signedForApp(_ transaction: Transaction) throws -> String {
        let signed = try signed(transaction)
        return settings.simulatedErrors[.verification] == nil ? signed : Self.damaged(signed)
    }

    /// The same JWS with another signature.
    private static func damaged(_ compact: String) -> String {
        let parts = compact.split(separator: ".")
        guard parts.count == 3, let first = parts[2].first else { return compact }
        return "\(parts[0]).\(parts[1]).\(first == "A" ? "B" : "A")\(parts[2].dropFirst())"
    }
}

/// The requests of an app to StoreKit besides purchases. Each fails if the settings simulate an error.
extension Books {
    /// The products for sale (StoreKit, `Product.products(for:)`).
    package func products() throws -> [Product] {
        try throwSimulatedError(.loadProducts)
        return configuration.products
    }

    /// The states of an account's subscriptions (StoreKit, `Product.SubscriptionInfo.status`).
    package func subscriptionStatuses(of account: String) throws -> [StatusResponse.SubscriptionGroupIdentifierItem] {
        try throwSimulatedError(.subscriptionStatus)
        return try statusItems(subscriptions.subscriptions(of: account))
    }

    /// The signed app transaction (JWS) of an account (StoreKit, `AppTransaction.shared`).
    package func signedAppTransaction(of account: String) throws -> String {
        try throwSimulatedError(.appTransaction)
        return try issuer.signedAppTransaction(
            issuer.appTransactionIdentifier(of: account), at: try now(of: account))
    }

    /// - Throws: `StoreError`, `simulated`.
    func throwSimulatedError(_ call: StoreKitCall) throws {
        if let failure = settings.simulatedErrors[call] { throw StoreError.simulated(call, failure) }
    }

    /// Deletes all sales and notifications. Keys, settings and the times stay (StoreKitTest, `clearTransactions`).
    package func clearSales() throws {
        try transactions.storeLastChange()
        for table in [
            "payment_transaction", "consumption", "subscription", "app_store_transaction", "send_attempt",
            "notification", "mass_extension", "seat_claim", "used_nonce",
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
