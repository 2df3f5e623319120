import Commerce
import Wire

extension QueueResource {
    init(_ transaction: PaymentTransaction, account: String, signedTransaction: String?) {
        self.init(
            number: transaction.identifier, account: account, productId: transaction.payment.productIdentifier,
            quantity: transaction.payment.quantity, state: transaction.state.rawValue, error: transaction.error?.name,
            transactionId: transaction.purchase?.transactionIdentifier,
            originalTransactionId: transaction.purchase?.originalTransactionIdentifier,
            signedTransaction: signedTransaction)
    }
}
