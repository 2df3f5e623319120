import Foundation
import Proofs

/// The App Store Server API of the store, with Apple's names: the requests of a developer's server about transactions,
/// subscriptions and notifications.
///
/// Its functions throw `ServerAPIError` for Apple's errors, and `StoreError` for errors of the store itself.
extension Books {
    /// The identifier of an auto-renewable subscription.
    func subscriptionProduct(_ identifier: String?) throws(ServerAPIError) -> String {
        guard let identifier, configuration.product(identifier)?.subscription != nil else { throw .invalidProductId }
        return identifier
    }

    /// The sale of a transaction identifier.
    ///
    /// - Parameter notFound: The error for an identifier that the store does not know.
    /// - Throws: `ServerAPIError`.
    func apiTransaction(
        _ identifier: String,
        orThrow notFound: ServerAPIError = .transactionIdNotFound
    ) throws -> Transaction {
        guard Self.isIdentifier(identifier) else { throw ServerAPIError.invalidTransactionId }
        if let transaction = try transactions.transaction(identifier) { return transaction }
        throw issuer.isAppTransactionIdentifier(identifier) ? .appTransactionIdNotSupported : notFound
    }

    /// The account of any of its transaction identifiers, or of its app transaction identifier.
    ///
    /// - Returns: Nil for the app transaction of an account that has bought nothing.
    /// - Throws: `ServerAPIError`.
    func apiAccount(ofAny identifier: String) throws -> String? {
        guard Self.isIdentifier(identifier) else { throw ServerAPIError.invalidTransactionId }
        if let transaction = try transactions.transaction(identifier) { return transaction.account }
        guard issuer.isAppTransactionIdentifier(identifier) else { throw ServerAPIError.transactionIdNotFound }
        return try transactions.accounts().first { issuer.appTransactionIdentifier(of: $0) == identifier }
    }

    /// `GET /inApps/v1/transactions/appTransactions/{anyTransactionId}`
    func appTransactionInfo(_ anyTransactionId: String) throws -> String {
        let account = try apiAccount(ofAny: anyTransactionId)
        return try issuer.signedAppTransaction(
            account.map(issuer.appTransactionIdentifier(of:)) ?? anyTransactionId,
            at: try account.map(now(of:)) ?? now)
    }

    /// The first purchase by the customer, by its own transaction identifier.
    ///
    /// - Parameter notFound: The error for an identifier that the store does not know.
    /// - Throws: `ServerAPIError`.
    func apiOriginalTransaction(_ identifier: String, orThrow notFound: ServerAPIError) throws -> Transaction {
        let transaction = try apiTransaction(identifier, orThrow: notFound)
        guard transaction.originalTransactionIdentifier == identifier else {
            throw ServerAPIError.transactionIdNotOriginalTransactionId
        }
        guard transaction.ownership == .purchased else { throw ServerAPIError.familyTransactionNotSupported }
        return transaction
    }

    static func isIdentifier(_ text: String) -> Bool {
        (1...40).contains(text.utf8.count)
            && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}

package struct StatusResponse: Encodable, Sendable {
    package struct SubscriptionGroupIdentifierItem: Codable, Sendable {
        package let subscriptionGroupIdentifier: String
        package internal(set) var lastTransactions: [LastTransactionsItem]
    }

    package struct LastTransactionsItem: Codable, Sendable {
        package let status: Status
        package let originalTransactionId: String
        package let signedTransactionInfo: String
        package let signedRenewalInfo: String
    }

    package let environment: AppStoreEnvironment
    package let bundleId: String
    /// Nil in the sandbox, as in each payload.
    package let appAppleId: Int64?
    package let data: [SubscriptionGroupIdentifierItem]
}

extension Books {
    /// `GET /inApps/v1/subscriptions/{anyTransactionId}`
    ///
    /// - Parameter statuses: The requested statuses, as the query has them; empty for all.
    package func allSubscriptionStatuses(_ anyTransactionId: String, statuses: [String]) throws -> StatusResponse {
        let wanted = try Set(
            statuses.map { text throws(ServerAPIError) in
                guard let status = Int(text).flatMap(Status.init) else { throw .invalidStatus }
                return status
            })
        let found = try (apiAccount(ofAny: anyTransactionId).map(subscriptions.subscriptions(of:)) ?? [])
            .filter { wanted.isEmpty || wanted.contains($0.status) }
        return StatusResponse(
            environment: issuer.environment, bundleId: issuer.bundleIdentifier, appAppleId: issuer.appAppleIdentifier,
            data: try statusItems(found))
    }

    /// The last transactions in each group: of the subscription that a customer has bought, and of those that follow other customers'.
    func statusItems(
        _ subscriptions: [CustomerSubscription]
    ) throws -> [StatusResponse.SubscriptionGroupIdentifierItem] {
        var items: [StatusResponse.SubscriptionGroupIdentifierItem] = []
        for subscription in subscriptions {
            guard let latest = try transactions.latest(original: subscription.originalTransactionIdentifier) else {
                continue
            }
            let last = StatusResponse.LastTransactionsItem(
                status: subscription.status, originalTransactionId: subscription.originalTransactionIdentifier,
                signedTransactionInfo: try signed(latest),
                signedRenewalInfo: try issuer.signedRenewalInfo(subscription, try terms(of: subscription.account)))
            let group = subscription.groupIdentifier
            if let index = items.firstIndex(where: { $0.subscriptionGroupIdentifier == group }) {
                items[index].lastTransactions.append(last)
            } else {
                items.append(.init(subscriptionGroupIdentifier: group, lastTransactions: [last]))
            }
        }
        return items
    }
}

struct OrderLookupResponse: Encodable, Sendable {
    /// 0 if the order exists, else 1, as in Apple's API.
    let status: Int
    /// Nil if the order does not exist.
    let signedTransactions: [String]?
}

extension Books {
    /// `PUT /inApps/v1/transactions/{originalTransactionId}/appAccountToken`: for a subscription, later periods have it too.
    func setAppAccountToken(_ token: String?, of originalTransactionId: String) throws {
        var transaction = try apiOriginalTransaction(originalTransactionId, orThrow: .originalTransactionIdNotFound)
        guard let token = token.flatMap(UUID.init(uuidString:)) else {
            throw ServerAPIError.invalidAppAccountTokenUUID
        }
        if var subscription = try subscriptionOrNone(of: transaction) {
            subscription.appAccountToken = token
            try subscriptions.save(subscription)
            transaction = try transactions.latest(original: originalTransactionId) ?? transaction
        }
        transaction.appAccountToken = token
        try transactions.update(transaction)
    }

    func signed(_ transaction: Transaction) throws -> String {
        try issuer.signedTransaction(transaction, at: try now(of: transaction.account))
    }
}
