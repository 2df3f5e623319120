/// The status of an account's subscriptions.
package struct SubscriptionStatusList: Codable, Sendable {
    package let subscriptions: [SubscriptionStatusResource]
}
