import Commerce
import Foundation
import Receipts

/// Why a payment comes to nothing, found out while it is worked on.
struct PaymentFailure: Error {
    let error: SKErrorCode
}

extension Books {
    /// Sells a product to an account.
    ///
    /// - Returns: What the customer's queue shows.
    /// - Throws: `PaymentFailure`.
    func sell(_ payment: Payment, account: String) throws -> Transaction {
        guard let product = configuration.product(payment.productIdentifier) else {
            throw PaymentFailure(error: .storeProductNotAvailable)
        }
        if let subscription = product.subscription {
            return try subscribe(payment, product, subscription, account: account)
        }
        guard payment.offer == nil else { throw PaymentFailure(error: .invalidOfferIdentifier) }
        if product.type == .nonConsumable, let original = try originalPurchase(of: product, account: account) {
            return try again(original, appAccountToken: payment.appAccountToken)
        }
        let identifier = newTransactionIdentifier()
        let transaction = Transaction(
            transactionIdentifier: identifier, originalTransactionIdentifier: identifier,
            orderIdentifier: newOrderIdentifier(), webOrderLineItemIdentifier: nil, account: account,
            productIdentifier: product.productIdentifier, type: product.type, subscriptionGroupIdentifier: nil,
            quantity: payment.quantity, purchaseDate: now, originalPurchaseDate: now,
            price: Price(
                milliunits: product.price.milliunits * Int64(payment.quantity), currency: storefront.currency),
            offer: nil, reason: .purchase, ownership: .purchased, storefrontCountryCode: storefront.countryCode,
            expiresDate: nil, appAccountToken: payment.appAccountToken)
        try transactions.add(transaction)
        try notify(.oneTimeCharge, nil, of: transaction)
        return transaction
    }

    /// The same purchase once more, for nothing: bought again, or restored.
    func again(_ original: Transaction, appAccountToken: UUID? = nil) throws -> Transaction {
        let transaction = Transaction(
            transactionIdentifier: newTransactionIdentifier(),
            originalTransactionIdentifier: original.originalTransactionIdentifier,
            orderIdentifier: original.orderIdentifier,
            webOrderLineItemIdentifier: original.webOrderLineItemIdentifier, account: original.account,
            productIdentifier: original.productIdentifier, type: original.type,
            subscriptionGroupIdentifier: original.subscriptionGroupIdentifier, quantity: original.quantity,
            purchaseDate: now, originalPurchaseDate: original.originalPurchaseDate,
            price: Price(milliunits: 0, currency: original.price.currency), offer: nil, reason: .purchase,
            ownership: original.ownership, storefrontCountryCode: original.storefrontCountryCode,
            expiresDate: original.expiresDate, appAccountToken: appAccountToken ?? original.appAccountToken)
        try transactions.add(transaction)
        return transaction
    }

    /// The first purchase an account made of a non-consumable and still has; nil when there is none.
    func originalPurchase(of product: Product, account: String) throws -> Transaction? {
        try transactions.transactions(of: account).first {
            $0.productIdentifier == product.productIdentifier && $0.revocation == nil
                && $0.transactionIdentifier == $0.originalTransactionIdentifier
        }
    }

    func newTransactionIdentifier() -> String { randomness.digits(16, startingWith: "2") }

    /// Ten letters and digits, of the form on Apple's invoices.
    func newOrderIdentifier() -> String {
        let alphabet = Array("ABCDEFGHJKLMNPQRSTUVWXYZ0123456789")
        return "M" + String(randomness.bytes(9).map { alphabet[Int($0) % alphabet.count] })
    }
}
