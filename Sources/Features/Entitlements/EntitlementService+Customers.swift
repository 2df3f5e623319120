import Foundation
import Ledger
import Proofs

/// The use cases that show one customer with the recorded facts.
extension EntitlementService {
    /// A user with the account token; nil for an unknown user.
    package func customer(_ user: User) async throws -> KnownUser? {
        try await ledger.read { try $0.customer(user) }
    }

    /// The customers of a product, the latest redemption first. It reads a limited number of transactions, so a page may be short
    /// before the last one.
    ///
    /// - Parameter position: The end of the previous page; nil for the first page.
    package func customers(
        ofProduct product: String,
        after position: ProductCustomer.Position?,
        limit: Int
    ) async throws -> ProductCustomer.Page {
        try await ledger.read { try $0.customers(ofProduct: product, after: position, limit: limit) }
    }

    /// The purchases and grants of a user; nil for an unknown user.
    package func history(of user: User) async throws -> CustomerHistory? {
        try await ledger.read { try $0.history(of: user, accepting: accepted.origins(for: user), seeing: limit) }
    }

    /// The owners of purchases by their original transactions. A purchase without an owner is absent.
    package func owners(ofPurchases originals: Set<TransactionKey>) async throws -> [TransactionKey: User] {
        try await ledger.read { try $0.owners(ofPurchases: originals) }
    }

    /// True if a token is an account token of a user.
    package func isAppAccountToken(_ token: UUID, of user: User) async throws -> Bool {
        try await ledger.read { try $0.owner(ofAppAccountToken: token, among: [user]) == .given }
    }

    /// True if a token is an account token of a user who is none of the given ones.
    package func isAppAccountToken(_ token: UUID, ofOthersThan users: [User]) async throws -> Bool {
        try await ledger.read { try $0.owner(ofAppAccountToken: token, among: users) == .other }
    }

    /// The last statements about the renewals of a user's subscriptions.
    package func renewals(of user: User) async throws -> [SubscribedPurchase] {
        try await ledger.read { try $0.renewals(of: user) }
    }

    /// A user's transactions of some identifiers, in no order.
    package func transactions(of user: User, identifiedBy identifiers: [String]) async throws -> [RedeemedTransaction] {
        let limit = limit
        return try await ledger.read { try $0.transactions(of: user, identifiedBy: identifiers) }
            .filter { limit?.includes(app: $0.app) ?? true }
    }

    /// A user's transactions of an identifier, with the facts about their proofs.
    package func recordedTransactions(_ identifier: String, of user: User) async throws -> [RecordedTransaction] {
        try await ledger.read { try $0.recordedTransactions(identifier, of: user) }
    }

    /// A notification about a purchase of a user; nil for another notification.
    package func recordedNotification(
        _ identifier: String,
        from origin: Origin,
        of user: User
    ) async throws -> RecordedNotification? {
        try await ledger.read { try $0.recordedNotification(identifier, from: origin, of: user) }
    }

    /// A record of a user's audit log, with its place in the hash chain; nil if there is none of that number.
    package func recordedEvent(_ number: Int64, of user: User) async throws -> RecordedEvent? {
        try await ledger.read { try $0.recordedEvent(number, of: user) }
    }
}
