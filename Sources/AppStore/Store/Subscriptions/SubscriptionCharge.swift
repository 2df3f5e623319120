import Proofs

/// One paid period of a subscription.
package struct SubscriptionCharge: Hashable, Sendable {
    package let productIdentifier: String
    package let price: Price
    package let offer: SubscriptionOffer?
    package let reason: TransactionReason
    package let startDate: Timestamp
    package let expiresDate: Timestamp
}
