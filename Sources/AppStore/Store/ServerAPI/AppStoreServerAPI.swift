import Foundation
import Proofs

/// The App Store Server API of one store, with Apple's names: the requests of a developer's server about transactions,
/// subscriptions and notifications.
///
/// Its functions throw `ServerAPIError` for Apple's errors, and `StoreError` for errors of the store itself.
package struct AppStoreServerAPI: Sendable {
    let store: Store

    package init(store: Store) {
        self.store = store
    }
}

extension AppStoreServerAPI {
    /// Reads the books. Rethrows an error of the API unchanged.
    func read<Value>(_ body: (Books) throws -> Value) throws -> Value {
        try store.read { books in
            do { return Result<Value, ServerAPIError>.success(try body(books)) } catch let error as ServerAPIError {
                return .failure(error)
            }
        }.get()
    }

    /// Writes to the books. An error rolls back all changes.
    func write<Value>(_ body: (Books) throws -> Value) throws -> Value {
        try store.writeOrThrow(body)
    }

    /// A UUID in lower case; Apple's clients use both cases.
    static func uuid(_ text: String, orThrow error: ServerAPIError) throws(ServerAPIError) -> String {
        guard let uuid = UUID(uuidString: text) else { throw error }
        return uuid.lowercasedString
    }

    /// The identifier of an auto-renewable subscription.
    func subscriptionProduct(_ identifier: String?) throws(ServerAPIError) -> String {
        guard let identifier, store.configuration.product(identifier)?.subscription != nil else {
            throw .invalidProductId
        }
        return identifier
    }
}

extension Books {
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
        throw try account(ofAppTransaction: identifier) == nil ? notFound : .appTransactionIdNotSupported
    }

    /// The account of any of its transaction identifiers, or of its app transaction identifier.
    ///
    /// - Throws: `ServerAPIError`.
    func apiAccount(ofAny identifier: String) throws -> String {
        guard Self.isIdentifier(identifier) else { throw ServerAPIError.invalidTransactionId }
        if let transaction = try transactions.transaction(identifier) { return transaction.account }
        guard let account = try account(ofAppTransaction: identifier) else {
            throw ServerAPIError.transactionIdNotFound
        }
        return account
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

    private func account(ofAppTransaction identifier: String) throws -> String? {
        try transactions.accounts().first { issuer.appTransactionIdentifier(of: $0) == identifier }
    }

    static func isIdentifier(_ text: String) -> Bool {
        (1...40).contains(text.utf8.count)
            && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}

package struct StatusResponse: Encodable, Sendable {
    package struct SubscriptionGroupIdentifierItem: Codable, Sendable {
        package let subscriptionGroupIdentifier: String
        package let lastTransactions: [LastTransactionsItem]
    }

    package struct LastTransactionsItem: Codable, Sendable {
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

package struct TransactionInfoResponse: Encodable, Sendable {
    package let signedTransactionInfo: String
}

struct OrderLookupResponse: Encodable, Sendable {
    /// 0 if the order exists, else 1, as in Apple's API.
    let status: Int
    /// Nil if the order does not exist.
    let signedTransactions: [String]?
}

extension AppStoreServerAPI {
    /// `GET /inApps/v1/transactions/{transactionId}`
    package func transactionInfo(_ transactionId: String) throws -> TransactionInfoResponse {
        try read { books in
            TransactionInfoResponse(
                signedTransactionInfo: try books.signed(try books.apiTransaction(transactionId)))
        }
    }

    /// `PUT /inApps/v1/transactions/{originalTransactionId}/appAccountToken`: for a subscription, later periods have it too.
    package func setAppAccountToken(_ token: String?, of originalTransactionId: String) throws {
        try write { books in
            var transaction = try books.apiOriginalTransaction(
                originalTransactionId, orThrow: .originalTransactionIdNotFound)
            guard let token = token.flatMap(UUID.init(uuidString:)) else {
                throw ServerAPIError.invalidAppAccountTokenUUID
            }
            if var subscription = try books.subscriptionOrNone(of: transaction) {
                subscription.appAccountToken = token
                try books.subscriptions.save(subscription)
                transaction = try books.transactions.latest(original: originalTransactionId) ?? transaction
            }
            transaction.appAccountToken = token
            try books.transactions.update(transaction)
        }
    }
}

extension Books {
    func signed(_ transaction: Transaction) throws -> String {
        try issuer.signedTransaction(transaction, at: now)
    }
}
