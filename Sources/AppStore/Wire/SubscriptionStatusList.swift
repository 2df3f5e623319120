/// The status of an account's subscriptions.
public struct SubscriptionStatusList: Codable, Sendable {
    public let subscriptions: [SubscriptionStatusResource]

    public init(subscriptions: [SubscriptionStatusResource]) {
        self.subscriptions = subscriptions
    }
}
