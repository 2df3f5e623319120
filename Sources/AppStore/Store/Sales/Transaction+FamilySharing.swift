import Proofs

extension Transaction {
    /// - Throws: `StoreError`, `invalidAction`, if an account cannot get the purchase as a member of the family.
    package func checkShareable(with account: String, product: Product?) throws(StoreError) {
        try checkNotRevoked()
        guard product?.isFamilyShareable == true, type == .nonConsumable, ownership == .purchased,
            account != self.account
        else {
            throw .invalidAction(
                "Transaction \(transactionIdentifier) cannot be shared: only non-consumables that the catalog makes "
                    + "shareable can be, with another account.")
        }
    }

    /// The transaction of a family member: an original purchase of their own, free of charge.
    package func shared(with account: String, transactionIdentifier: String, orderIdentifier: String) -> Transaction {
        Transaction(
            transactionIdentifier: transactionIdentifier, originalTransactionIdentifier: transactionIdentifier,
            orderIdentifier: orderIdentifier, webOrderLineItemIdentifier: nil, account: account,
            productIdentifier: productIdentifier, type: type, subscriptionGroupIdentifier: nil, quantity: quantity,
            purchaseDate: purchaseDate, originalPurchaseDate: originalPurchaseDate,
            price: Price(milliunits: 0, currency: price.currency), offer: nil, reason: .purchase,
            ownership: .familyShared, storefrontCountryCode: storefrontCountryCode)
    }
}
