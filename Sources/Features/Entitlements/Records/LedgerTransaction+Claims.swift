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
        guard let newcomers, bytes > 0, try !CustomerRecords(database: database).hasPurchases(user) else { return }
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

extension LedgerTransaction {
    /// The subscriptions of a user at a moment, in the order of their first purchases.
    ///
    /// - Parameters:
    ///   - origins: The origins that are valid for the user.
    ///   - limit: The limit of the caller; nil for a caller of all apps.
    ///   - isSubscription: Returns true if a product is an auto-renewable subscription, for transactions without a stated type.
    package func subscriptions(
        of user: User,
        accepting origins: Set<Origin>,
        seeing limit: AppLimit? = nil,
        at moment: Timestamp,
        isSubscription: (String) -> Bool
    ) throws -> [PurchaseStatus] {
        guard let user = try users.known(user) else { return [] }
        let records = ReadingRecords(database: database)
        let renewals = try records.renewals(of: user)
        let transactions = try records.subscribedTransactions(of: user).filter { _, transaction in
            origins.contains(transaction.origin) && limit?.includes(app: transaction.app) ?? true
                && (transaction.facts[.type] != nil || isSubscription(transaction.productIdentifier))
        }
        let purchases = Dictionary(grouping: transactions) { app, transaction in
            Purchase(
                app: app, origin: transaction.origin, identifier: ByteKey(transaction.originalTransactionIdentifier))
        }
        return purchases.compactMap { purchase, transactions in
            let renewal = renewals.first { renewal in
                purchase
                    == Purchase(
                        app: renewal.app, origin: renewal.origin,
                        identifier: ByteKey(renewal.originalTransactionIdentifier))
            }
            return PurchaseStatus(
                transactions.map(\.transaction), .autoRenewableSubscription, renewal?.renewal, at: moment)
        }.sorted { ($0.since, $0.originalTransactionIdentifier) < ($1.since, $1.originalTransactionIdentifier) }
    }

    /// The key of a purchase of one user.
    private struct Purchase: Hashable {
        /// The number of the app.
        let app: Int64
        let origin: Origin
        /// The identifier of the original transaction.
        let identifier: ByteKey
    }
}
