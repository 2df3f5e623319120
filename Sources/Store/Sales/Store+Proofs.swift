import Commerce

/// What proves a purchase to a service.
extension Store {
    /// The app receipt over what an account has bought, in base64: what lasts, of each product the latest transaction, every
    /// period of a subscription, and what the app has not finished yet.
    public func receipt(account: String) throws(StoreError) -> String {
        try read { books in
            try issuer.receipt(over: try books.receiptTransactions(of: account), account: account, at: books.now)
        }
    }

    /// The signed form of one transaction of the queue (JWS). Where verification shall fail, its signature does not hold.
    public func signedTransaction(_ identifier: Int64) throws(StoreError) -> String {
        try read { books in
            guard let queued = try books.payments.transaction(identifier) else {
                throw StoreError.transactionNotFound(identifier)
            }
            guard let purchase = queued.transaction.purchase,
                let sold = try books.transactions.transaction(purchase.transactionIdentifier)
            else { throw StoreError.notPurchased(identifier) }
            let signed = try issuer.signedTransaction(sold, at: books.now)
            return books.settings.simulatedErrors[.verification] == nil ? signed : Self.damaged(signed)
        }
    }

    /// With another signature.
    private static func damaged(_ compact: String) -> String {
        let parts = compact.split(separator: ".")
        guard parts.count == 3, let first = parts[2].first else { return compact }
        return "\(parts[0]).\(parts[1]).\(first == "A" ? "B" : "A")\(parts[2].dropFirst())"
    }
}

extension Books {
    func receiptTransactions(of account: String) throws -> [Transaction] {
        let sold = try transactions.transactions(of: account)
        let waiting = try unfinishedTransactionIdentifiers(of: account)
        let latest = Dictionary(
            sold.map { ($0.productIdentifier, $0.transactionIdentifier) }, uniquingKeysWith: { $1 })
        return sold.filter { transaction in
            if waiting.contains(transaction.transactionIdentifier) { return true }
            return switch transaction.type {
            case .consumable: false
            case .autoRenewableSubscription, .nonRenewingSubscription: true
            case .nonConsumable: latest[transaction.productIdentifier] == transaction.transactionIdentifier
            }
        }
    }
}
