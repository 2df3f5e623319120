import Proofs

/// A change that follows from a refund. The store makes the changes in order.
package enum RefundEffect: Hashable, Sendable {
    case update(Transaction)
    case save(CustomerSubscription)
    /// A notification about a transaction and its subscription. The reason belongs to a consumption request.
    case notify(NotificationTypeV2, Transaction, CustomerSubscription?, ConsumptionRequestReason?)
}
