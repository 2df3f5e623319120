import Proofs

/// The purchases and grants of a user, as far as the ledger knows them.
///
/// Without the old ones that have no effect on the user's rights, if there are very many.
package struct CustomerHistory: Sendable {
    /// The number of the newest transactions. Older ones are left out, except all periods of subscriptions, and the valid
    /// transaction of each other product that lasts longest.
    package static let newestTransactions = 10_000
    /// The number of the newest grants. Older ones are left out, except the valid grant of each item that lasts longest.
    package static let newestGrants = 1000

    /// The user by the own name, not by an alias.
    package let user: User
    package let firstSeenAt: Timestamp
    /// The transactions of accepted origins, newest first, at least all with an effect on rights.
    package let transactions: [RedeemedTransaction]
    /// The last statement about the renewal of each subscription, by its original transaction.
    package let renewals: [TransactionKey: StatedRenewal]
    /// The events about these renewals, if one is turned off or failed.
    package let renewalEvents: RenewalEvents
    /// The grants, newest first, at least all with an effect on rights.
    package let grants: [Grant]
}
