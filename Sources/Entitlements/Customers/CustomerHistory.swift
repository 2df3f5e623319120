import Commerce
import Receipts

/// The purchases and grants of a user, as far as the ledger knows them.
public struct CustomerHistory: Sendable {
    /// The maximum number of transactions. Older ones are left out.
    public static let maximumTransactions = 10_000
    /// The maximum number of grants. Older ones are left out.
    public static let maximumGrants = 1000

    /// The user by the own name, not by an alias.
    public let user: User
    public let firstSeenAt: Timestamp
    /// The transactions of accepted origins, newest first.
    public let transactions: [RedeemedTransaction]
    /// The last statement about the renewal of each subscription, by its original transaction.
    package let renewals: [TransactionKey: StatedRenewal]
    /// The grants, newest first.
    public let grants: [Grant]
}
