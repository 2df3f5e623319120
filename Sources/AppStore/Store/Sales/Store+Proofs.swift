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
            guard let queued = try books.payments.transaction(identifier) else {
                throw StoreError.transactionNotFound(identifier)
            }
            guard let purchase = queued.transaction.purchase,
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
