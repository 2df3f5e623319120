/// The status of an account's subscription in one group.
package struct SubscriptionStatusResource: Codable, Sendable {
    /// The latest transaction of a subscription.
    package struct Transaction: Codable, Sendable {
        /// Apple's number of the status: 1 is active, 2 is expired.
        package let status: Int
        package let originalTransactionId: String
        /// A JWS.
        package let signedTransactionInfo: String
        /// A JWS.
        package let signedRenewalInfo: String
    }

    package let subscriptionGroupIdentifier: String
    package let lastTransactions: [Transaction]
}
