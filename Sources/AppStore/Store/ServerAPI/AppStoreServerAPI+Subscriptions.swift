import Foundation
import Proofs

package struct StatusResponse: Encodable, Sendable {
    package struct SubscriptionGroupIdentifierItem: Encodable, Sendable {
        package let subscriptionGroupIdentifier: String
        package let lastTransactions: [LastTransactionsItem]
    }

    package struct LastTransactionsItem: Encodable, Sendable {
        package let status: Status
        package let originalTransactionId: String
        package let signedTransactionInfo: String
        package let signedRenewalInfo: String
    }

    package let environment: AppStoreEnvironment
    package let bundleId: String
    package let data: [SubscriptionGroupIdentifierItem]
}

extension AppStoreServerAPI {
    /// `GET /inApps/v1/subscriptions/{anyTransactionId}`
    ///
    /// - Parameter statuses: The requested statuses, as the query has them; empty for all.
    package func allSubscriptionStatuses(_ anyTransactionId: String, statuses: [String]) throws -> StatusResponse {
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
