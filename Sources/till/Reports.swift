import Proofs

/// A transaction of the payment queue in the output of commands.
struct TransactionReport: Encodable {
    /// The number that `till store approve`, `decline` and `resolve` take.
    let id: Int64
    let user: String
    let productId: String
    let quantity: Int
    let state: PaymentTransactionState
    /// The name of the SKError if the transaction failed.
    let error: String?
    let transactionId: String?
    let originalTransactionId: String?

    init(_ transaction: PaymentTransaction, user: String) {
        id = transaction.identifier
        self.user = user
        productId = transaction.payment.productIdentifier
        quantity = transaction.payment.quantity
        state = transaction.state
        error = transaction.error?.name
        transactionId = transaction.purchase?.transactionIdentifier
        originalTransactionId = transaction.purchase?.originalTransactionIdentifier
    }
}

extension Terminal {
    /// Prints a line for each item that the user owns. Free items are marked.
    /// - Parameter user: Nil for the user of the token.
    func owned(_ items: [Item], by user: User?, names: (Item) -> String) {
        line("\(user?.name ?? "The token's user") owns:")
        for item in items { line("  \(item)  \(names(item))") }
    }
}
