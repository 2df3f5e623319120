/// The subscriptions of a user, by their first purchases.
public struct UserSubscriptionList: Codable, Sendable {
    public let subscriptions: [UserSubscriptionResource]

    public init(subscriptions: [UserSubscriptionResource]) {
        self.subscriptions = subscriptions
    }
}
