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
