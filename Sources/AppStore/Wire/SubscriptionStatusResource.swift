/// The status of an account's subscription in one group.
public struct SubscriptionStatusResource: Codable, Sendable {
    /// The latest transaction of a subscription.
    public struct Transaction: Codable, Sendable {
        /// Apple's number of the status: 1 is active, 2 is expired.
        public let status: Int
        public let originalTransactionId: String
        /// A JWS.
        public let signedTransactionInfo: String
        /// A JWS.
        public let signedRenewalInfo: String

        public init(
            status: Int,
            originalTransactionId: String,
            signedTransactionInfo: String,
            signedRenewalInfo: String
        ) {
            self.status = status
            self.originalTransactionId = originalTransactionId
            self.signedTransactionInfo = signedTransactionInfo
            self.signedRenewalInfo = signedRenewalInfo
        }
    }

    public let subscriptionGroupIdentifier: String
    public let lastTransactions: [Transaction]

    public init(subscriptionGroupIdentifier: String, lastTransactions: [Transaction]) {
        self.subscriptionGroupIdentifier = subscriptionGroupIdentifier
        self.lastTransactions = lastTransactions
    }
}
