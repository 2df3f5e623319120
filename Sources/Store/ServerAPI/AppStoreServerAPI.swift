import Commerce
import Foundation

/// The App Store Server API of one store, with Apple's names: the requests of a developer's server about transactions,
/// subscriptions and notifications.
///
/// Its functions throw `ServerAPIError` for Apple's errors, and `StoreError` for errors of the store itself.
public struct AppStoreServerAPI: Sendable {
    let store: Store

    public init(store: Store) {
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
}

extension Books {
    /// The sale of a transaction identifier.
    ///
    /// - Throws: `ServerAPIError`.
    func apiTransaction(_ identifier: String) throws -> Transaction {
        guard Self.isIdentifier(identifier) else { throw ServerAPIError.invalidTransactionId }
        guard let transaction = try transactions.transaction(identifier) else {
            throw ServerAPIError.transactionIdNotFound
        }
        return transaction
    }

    /// The account of any of its transaction identifiers, or of its app transaction identifier.
    ///
    /// - Throws: `ServerAPIError`.
    func apiAccount(ofAny identifier: String) throws -> String {
        guard Self.isIdentifier(identifier) else { throw ServerAPIError.invalidTransactionId }
        if let transaction = try transactions.transaction(identifier) { return transaction.account }
        let accounts = try transactions.accounts()
        guard let account = accounts.first(where: { issuer.appTransactionIdentifier(of: $0) == identifier }) else {
            throw ServerAPIError.transactionIdNotFound
        }
        return account
    }

    /// The first purchase, by its own transaction identifier.
    ///
    /// - Throws: `ServerAPIError`.
    func apiOriginalTransaction(_ identifier: String) throws -> Transaction {
        guard Self.isIdentifier(identifier) else { throw ServerAPIError.invalidOriginalTransactionId }
        guard let transaction = try transactions.transaction(identifier) else {
            throw ServerAPIError.originalTransactionIdNotFound
        }
        guard transaction.originalTransactionIdentifier == identifier else {
            throw ServerAPIError.transactionIdNotOriginalTransactionId
        }
        return transaction
    }

    private static func isIdentifier(_ text: String) -> Bool {
        (1...40).contains(text.utf8.count)
            && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
