import Foundation
import Proofs

/// A purchase, a renewal or a restoration in the App Store (StoreKit, `Transaction`).
package struct Transaction: Hashable, Sendable, Codable {
    package let transactionIdentifier: String
    /// The first purchase of the same product or subscription group. A first purchase has its own identifier here.
    package let originalTransactionIdentifier: String
    /// The number on Apple's invoice.
    package let orderIdentifier: String
    /// The identifier of a subscription's period; nil for any other product.
    package let webOrderLineItemIdentifier: String?
    /// The customer's App Store account.
    package let account: String
    package let productIdentifier: String
    package let type: ProductType
    package let subscriptionGroupIdentifier: String?
    package let quantity: Int
    package let purchaseDate: Timestamp
    package let originalPurchaseDate: Timestamp
    /// The amount charged.
    package let price: Price
    package let offer: SubscriptionOffer?
    package let reason: TransactionReason
    package let ownership: InAppOwnershipType
    /// The storefront of the purchase, as ISO 3166-1 alpha-3.
    package let storefrontCountryCode: String
    package var expiresDate: Timestamp?
    package var appAccountToken: UUID?
    /// True if the customer upgraded to a higher subscription before the end of the period.
    package var isUpgraded = false
    package var revocation: TransactionStatement.Revocation?

    package init(
        transactionIdentifier: String,
        originalTransactionIdentifier: String,
        orderIdentifier: String,
        webOrderLineItemIdentifier: String?,
        account: String,
        productIdentifier: String,
        type: ProductType,
        subscriptionGroupIdentifier: String?,
        quantity: Int,
        purchaseDate: Timestamp,
        originalPurchaseDate: Timestamp,
        price: Price,
        offer: SubscriptionOffer?,
        reason: TransactionReason,
        ownership: InAppOwnershipType,
        storefrontCountryCode: String,
        expiresDate: Timestamp? = nil,
        appAccountToken: UUID? = nil
    ) {
        self.transactionIdentifier = transactionIdentifier
        self.originalTransactionIdentifier = originalTransactionIdentifier
        self.orderIdentifier = orderIdentifier
        self.webOrderLineItemIdentifier = webOrderLineItemIdentifier
        self.account = account
        self.productIdentifier = productIdentifier
        self.type = type
        self.subscriptionGroupIdentifier = subscriptionGroupIdentifier
        self.quantity = quantity
        self.purchaseDate = purchaseDate
        self.originalPurchaseDate = originalPurchaseDate
        self.price = price
        self.offer = offer
        self.reason = reason
        self.ownership = ownership
        self.storefrontCountryCode = storefrontCountryCode
        self.expiresDate = expiresDate
        self.appAccountToken = appAccountToken
    }

    /// The purchase, as the payment queue shows it.
    var purchase: PaymentTransaction.Purchase {
        PaymentTransaction.Purchase(
            transactionIdentifier: transactionIdentifier,
            originalTransactionIdentifier: originalTransactionIdentifier, purchaseDate: purchaseDate,
            originalPurchaseDate: originalPurchaseDate, price: price)
    }
}
