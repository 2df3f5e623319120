import Foundation
import Proofs

public struct StatusResponse: Encodable, Sendable {
    public struct SubscriptionGroupIdentifierItem: Encodable, Sendable {
        public let subscriptionGroupIdentifier: String
        public let lastTransactions: [LastTransactionsItem]
    }

    public struct LastTransactionsItem: Encodable, Sendable {
        public let status: Status
        public let originalTransactionId: String
        public let signedTransactionInfo: String
        public let signedRenewalInfo: String
    }

    public let environment: AppStoreEnvironment
    public let bundleId: String
    public let data: [SubscriptionGroupIdentifierItem]
}

extension AppStoreServerAPI {
    /// `GET /inApps/v1/subscriptions/{anyTransactionId}`
    ///
    /// - Parameter statuses: The requested statuses, as the query has them; empty for all.
    public func allSubscriptionStatuses(_ anyTransactionId: String, statuses: [String]) throws -> StatusResponse {
        let wanted = try Set(
            statuses.map { text throws(ServerAPIError) in
                guard let status = Int(text).flatMap(Status.init) else { throw .invalidStatus }
                return status
            })
        return try read { books in
            let account = try books.apiAccount(ofAny: anyTransactionId)
            let items = try books.subscriptions.subscriptions(of: account)
                .filter { wanted.isEmpty || wanted.contains($0.status) }
                .compactMap { try books.statusItem($0) }
            return StatusResponse(
                environment: books.issuer.environment, bundleId: store.bundleIdentifier, data: items)
        }
    }
}

extension Books {
    /// A customer has one subscription in each group.
    func statusItem(
        _ subscription: CustomerSubscription
    ) throws -> StatusResponse.SubscriptionGroupIdentifierItem? {
        guard let latest = try transactions.latest(original: subscription.originalTransactionIdentifier) else {
            return nil
        }
        return StatusResponse.SubscriptionGroupIdentifierItem(
            subscriptionGroupIdentifier: subscription.groupIdentifier,
            lastTransactions: [
                StatusResponse.LastTransactionsItem(
                    status: subscription.status, originalTransactionId: subscription.originalTransactionIdentifier,
                    signedTransactionInfo: try signed(latest),
                    signedRenewalInfo: try issuer.signedRenewalInfo(subscription, terms, at: now))
            ])
    }
}
