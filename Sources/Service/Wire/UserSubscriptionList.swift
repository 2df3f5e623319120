/// The subscriptions of a user, ordered by first purchase.
public struct UserSubscriptionList: Codable, Sendable {
    public let subscriptions: [UserSubscriptionResource]

    public init(subscriptions: [UserSubscriptionResource]) {
        self.subscriptions = subscriptions
    }
}
