import Proofs

/// A question of the App Store about a purchase for which the customer has requested a refund (`CONSUMPTION_REQUEST`).
public struct OpenConsumptionRequest: Hashable, Sendable {
    public let origin: Origin
    /// The UUID of the notification with the question.
    public let notificationUUID: String
    public let transactionIdentifier: String
    /// True if a user has redeemed the purchase.
    public let isRedeemed: Bool
    /// True for an auto-renewable subscription, whose status Apple states with the question.
    public let isSubscription: Bool
}
