import Commerce

/// A question of the App Store about a purchase whose refund the customer asks for (`CONSUMPTION_REQUEST`).
public struct OpenConsumptionRequest: Hashable, Sendable {
    public let origin: Origin
    /// Of the notification that asked.
    public let notificationUUID: String
    public let transactionIdentifier: String
    /// Whether a user has what was bought.
    public let isRedeemed: Bool
}
