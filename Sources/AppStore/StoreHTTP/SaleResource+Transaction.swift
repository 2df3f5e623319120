import Proofs

extension SaleResource {
    package init(_ transaction: Transaction) {
        self.init(
            transactionId: transaction.transactionIdentifier,
            originalTransactionId: transaction.originalTransactionIdentifier,
            orderId: transaction.orderIdentifier, account: transaction.account,
            productId: transaction.productIdentifier, type: transaction.type.rawValue,
            quantity: transaction.quantity, purchaseDate: transaction.purchaseDate.rfc3339,
            expiresDate: transaction.expiresDate?.rfc3339, price: transaction.price.milliunits,
            currency: transaction.price.currency, revocationDate: transaction.revocation?.date.rfc3339,
            isUpgraded: transaction.isUpgraded)
    }
}
