/// The subscriptions of a user, ordered by first purchase.
package struct UserSubscriptionList: Codable, Sendable {
    package let subscriptions: [UserSubscriptionResource]
}
