import Foundation
import Proofs

/// The result of a payment for a product, decided before anything is sold.
package enum PurchaseDecision: Hashable, Sendable {
    /// The payment fails.
    case fail(SKErrorCode)
    /// The subscription begins or changes.
    case subscribe(Product, Subscription)
    /// The account gets another transaction, free of charge, for a non-consumable that it owns.
    case buyAgain(original: Transaction)
    /// The product is sold at a price.
    case charge(Product, Price)

    /// - Parameters:
    /// - product: Nil if the store does not sell it.
    ///   - history: All transactions of the account, the oldest first; only a non-consumable depends on them.
    ///   - currency: The storefront's.
    package init(_ payment: Payment, for product: Product?, history: [Transaction], currency: String) {
        guard let product else {
            self = .fail(.storeProductNotAvailable)
            return
        }
        if let subscription = product.subscription {
            self = .subscribe(product, subscription)
        } else if payment.offer != nil {
            self = .fail(.invalidOfferIdentifier)
        } else if let original = Self.original(of: product, in: history) {
            self = .buyAgain(original: original)
        } else {
            let milliunits = product.price.milliunits * Int64(payment.quantity)
            self = .charge(product, Price(milliunits: milliunits, currency: currency))
        }
    }

    /// The first purchase of a non-consumable that the account still owns.
    private static func original(of product: Product, in history: [Transaction]) -> Transaction? {
        guard product.type == .nonConsumable else { return nil }
        return history.first {
            $0.productIdentifier == product.productIdentifier && $0.revocation == nil
                && $0.transactionIdentifier == $0.originalTransactionIdentifier
        }
    }
}

extension Transaction {
    /// A further transaction of the same purchase, free of charge: bought again or restored.
    package func repeated(
        transactionIdentifier: String,
        appAccountToken: UUID? = nil,
        at now: Timestamp
    ) -> Transaction {
        Transaction(
            transactionIdentifier: transactionIdentifier, originalTransactionIdentifier: originalTransactionIdentifier,
            orderIdentifier: orderIdentifier, webOrderLineItemIdentifier: webOrderLineItemIdentifier, account: account,
            productIdentifier: productIdentifier, type: type, subscriptionGroupIdentifier: subscriptionGroupIdentifier,
            quantity: quantity, purchaseDate: now, originalPurchaseDate: originalPurchaseDate,
            price: Price(milliunits: 0, currency: price.currency), offer: nil, reason: .purchase, ownership: ownership,
            storefrontCountryCode: storefrontCountryCode, expiresDate: expiresDate,
            appAccountToken: appAccountToken ?? self.appAccountToken)
    }
}
