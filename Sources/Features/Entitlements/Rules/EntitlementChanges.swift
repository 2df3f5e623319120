import Ledger
import Proofs

/// The changes that a decision makes to the ledger. The facts after the decision have the new values.
package struct EntitlementChanges: Hashable, Sendable {
    package enum Event: Hashable, Sendable {
        case audit(AuditEntry, user: Int64)
        /// A refused claim, recorded once for each user, transaction and result, because an app retries at every launch.
        case refused(Redemption.Result, Claim, user: Int64, actor: AuditActor)
        /// A changed end of a purchase, which apps display.
        case endChanged(productIdentifier: String, user: Int64)
    }

    /// The events of users, in their order.
    package internal(set) var events: [Event] = []
    /// The claims of the transactions that are redeemed for the first time, in their order.
    package internal(set) var newTransactions: [Claim] = []
    /// The transactions with another status, other statements or another grace period.
    var changedTransactions: Set<TransactionKey> = []
    /// The transactions with other facts.
    var changedFacts: Set<TransactionKey> = []
    /// The purchases without a previous owner, by their original transactions, like all following ones.
    var newPurchases: Set<TransactionKey> = []
    /// The purchases with another transaction that determines the owner.
    var named: Set<TransactionKey> = []
    /// The purchases with another owner, in the order of the transfers.
    var transferred: [TransactionKey] = []
    /// The purchases with a later statement about the renewal.
    var changedRenewals: Set<TransactionKey> = []
    /// The purchases with another state in the history of the owner.
    var recordedStates: Set<TransactionKey> = []
    /// The purchases whose state may follow from a new statement.
    var stated: Set<TransactionKey> = []
    /// The transactions that were parked, or are parked no longer.
    var parkedOrUnparked: Set<TransactionKey> = []

    package init() {}
}

/// The changes of facts. The following claims see them.
extension EntitlementDecision {
    /// Gives a purchase without an owner to a user.
    mutating func add(_ original: TransactionKey, of user: Int64, _ naming: Naming?) {
        facts.set(EntitlementFacts.Purchase(owner: user, naming: naming), for: original)
        facts.expectedOwners[original] = nil
        changes.newPurchases.insert(original)
    }

    /// Adds a transaction that is redeemed for the first time, with the item or credit of the claim.
    mutating func add(_ claim: Claim, _ status: TransactionStatus) {
        facts.set(EntitlementFacts.Transaction(claim, status), for: claim.key)
        changes.newTransactions.append(claim)
        changes.stated.insert(claim.originalKey)
    }

    mutating func set(_ status: TransactionStatus, of key: TransactionKey) {
        change(key) { $0.status = status }
        if let original = facts.transactions[key]?.originalKey { changes.stated.insert(original) }
    }

    mutating func change(_ key: TransactionKey, _ change: (inout EntitlementFacts.Transaction) -> Void) {
        guard var transaction = facts.transactions[key] else { return }
        change(&transaction)
        facts.set(transaction, for: key)
        changes.changedTransactions.insert(key)
    }

    mutating func change(purchase original: TransactionKey, _ change: (inout EntitlementFacts.Purchase) -> Void) {
        guard var purchase = facts.purchases[original] else { return }
        change(&purchase)
        facts.set(purchase, for: original)
    }

    mutating func park(_ claim: Claim, _ status: TransactionStatus) {
        facts.setParked(EntitlementFacts.ParkedStatement(status: status, claim: claim), for: claim.key)
        changes.parkedOrUnparked.insert(claim.key)
    }

    mutating func unpark(_ key: TransactionKey) {
        facts.removeParked(key)
        changes.parkedOrUnparked.insert(key)
    }
}
