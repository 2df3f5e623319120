import Commerce
import Foundation

/// The App Store Server API over one store, with Apple's names: what a developer's server asks about transactions,
/// subscriptions and notifications.
///
/// Its functions throw `ServerAPIError` for what Apple answers with an error, and `StoreError` for a fault of the store's own.
public struct AppStoreServerAPI: Sendable {
    let store: Store

    public init(store: Store) {
        self.store = store
    }
}

extension AppStoreServerAPI {
    /// Looks into the books, and keeps an error of the API what it is.
    func read<Value>(_ body: (Books) throws -> Value) throws -> Value {
        try store.read { books in
            do { return Result<Value, ServerAPIError>.success(try body(books)) } catch let error as ServerAPIError {
                return .failure(error)
            }
        }.get()
    }

    /// The same for what changes them; an error changes nothing.
    func write<Value>(_ body: (Books) throws -> Value) throws -> Value {
        try store.writeOrThrow(body)
    }
}

extension Books {
    /// The sale under a transaction's own number.
    ///
    /// - Throws: `ServerAPIError`.
    func apiTransaction(_ identifier: String) throws -> Transaction {
        guard Self.isIdentifier(identifier) else { throw ServerAPIError.invalidTransactionId }
        guard let transaction = try transactions.transaction(identifier) else {
            throw ServerAPIError.transactionIdNotFound
        }
        return transaction
    }

    /// The customer whom any of their transactions, or the app's own, belongs to.
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

    /// The first purchase under its own number.
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
