import Proofs

/// A question of the App Store about a purchase for which the customer has requested a refund (`CONSUMPTION_REQUEST`).
package struct OpenConsumptionRequest: Hashable, Sendable {
    package let origin: Origin
    /// The UUID of the notification with the question.
    package let notificationUUID: String
    package let transactionIdentifier: String
    /// True if a user has redeemed the purchase.
    package let isRedeemed: Bool
    /// True for an auto-renewable subscription, whose status Apple states with the question.
    package let isSubscription: Bool
}
