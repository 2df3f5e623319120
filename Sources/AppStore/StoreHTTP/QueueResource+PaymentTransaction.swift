import Proofs

extension QueueResource {
    /// - Parameter effect: The effect of the payment; nil to omit it.
    init(
        _ transaction: PaymentTransaction,
        account: String,
        signedTransaction: String?,
        effect: PurchaseEffect?
    ) {
        self.init(
            number: transaction.identifier, account: account, productId: transaction.payment.productIdentifier,
            quantity: transaction.payment.quantity, state: transaction.state.rawValue, error: transaction.error?.name,
            transactionId: transaction.purchase?.transactionIdentifier,
            originalTransactionId: transaction.purchase?.originalTransactionIdentifier,
            signedTransaction: signedTransaction, effect: effect?.kind.rawValue, price: effect?.price?.milliunits,
            currency: effect?.price?.currency, nextProductId: effect?.nextProductIdentifier,
            renewalDate: effect?.renewalDate?.rfc3339)
    }
}
