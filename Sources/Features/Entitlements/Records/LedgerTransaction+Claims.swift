import Catalog
import Ledger
import Proofs

extension LedgerTransaction {
    /// Decides requests in their order, each after the changes of those before it, and writes the changes.
    ///
    /// - Parameter type: Returns the type of a product, for transactions without a stated type.
    /// - Returns: The answers in the order of the requests.
    package func decide(
        _ requests: [ClaimRequest],
        under policy: OwnershipPolicy,
        accepting accepted: AcceptedOrigins,
        at moment: Timestamp,
        type: (String) -> ProductType? = { _ in nil }
    ) throws -> [ClaimAnswer] {
        try ClaimGroup(transaction: self, policy: policy, accepted: accepted, moment: moment)
            .answer(requests, type: type)
    }
}

/// The rule of all that strangers write: it is charged, unless the user has a purchase.
extension LedgerTransaction {
    /// Takes the bytes that are written for a user from the caller's allowance, unless the user has a purchase.
    ///
    /// - Parameters:
    ///   - user: The user's number.
    ///   - newcomers: The caller's allowance for users without a purchase; nil for no limit.
    /// - Throws: `LedgerError.newcomersLimited` if they are not available.
    package func charge(_ bytes: Int, for user: Int64, to newcomers: NewcomerAllowance?) throws {
        guard let newcomers, bytes > 0, try !hasPurchases(user) else { return }
        try newcomers.charge(bytes)
    }

    /// Takes the bytes of an answer that is kept about a user in the same way.
    ///
    /// - Returns: False if the answer may not be kept.
    package func admits(_ answer: KeptAnswer, about user: Int64, _ newcomers: NewcomerAllowance?) throws -> Bool {
        do {
            // The key, its caller and the digest of the request come with the answer.
            try charge(512 + answer.bytes.count, for: user, to: newcomers)
            return true
        } catch LedgerError.newcomersLimited {
            return false
        }
    }
}

extension EntitlementService {
    /// The subscriptions of a user, in the order of their first purchases.
    package func subscriptions(of user: User) async throws -> [PurchaseStatus] {
        let view = view
        return try await ledger.read { try $0.subscriptions(of: user, from: view) }
    }
}

extension LedgerTransaction {
    /// The subscriptions of a user, in the order of their first purchases.
    package func subscriptions(of user: User, from view: Viewpoint) throws -> [PurchaseStatus] {
        guard let number = try users.known(user) else { return [] }
        let origins = view.accepted.origins(for: user)
        let records = ReadingRecords(database: database)
        let renewals = try records.renewals(of: number)
        let transactions = try records.subscribedTransactions(of: number).filter { transaction in
            origins.contains(transaction.origin) && view.includes(app: transaction.app)
                && (transaction.facts[.type] != nil
                    || view.type(transaction.productIdentifier) == .autoRenewableSubscription)
        }
        return Dictionary(grouping: transactions, by: \.purchase).values.compactMap { transactions in
            PurchaseStatus(
                transactions, .autoRenewableSubscription, renewals.renewal(of: transactions), at: view.moment)
        }.sorted { ($0.since, $0.originalTransactionIdentifier) < ($1.since, $1.originalTransactionIdentifier) }
    }
}
