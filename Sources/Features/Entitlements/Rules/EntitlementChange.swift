import Ledger
import Proofs

/// A change that a decision makes to the ledger.
package enum EntitlementChange: Hashable, Sendable {
    /// A refused claim, recorded once for each user, transaction and result.
    case refused(Redemption.Result, Claim, user: Int64, actor: AuditActor)
    /// A purchase without a previous owner, by its original transaction.
    case purchase(TransactionKey, owner: Int64, Naming?)
    /// A transaction that is redeemed for the first time, with the item or credit of the claim.
    case transaction(Claim, TransactionStatus, owner: Int64)
    case status(TransactionKey, TransactionStatus)
    /// The statements about a transaction under several identifiers.
    case statements(TransactionKey, EventStatements)
    case grace(TransactionKey, GracePeriod)
    /// The known facts of a transaction.
    case facts(TransactionKey, TransactionFacts)
    /// The last statement about the renewal of a purchase.
    case renewal(TransactionKey, StatedRenewal)
    /// The transaction that now determines the owner of a purchase.
    case naming(TransactionKey, Naming)
    case transfer(TransactionKey, from: Int64, to: Int64)
    /// A purchase of a customer who became one with another.
    case merge(TransactionKey, from: Int64, to: Int64)
    /// The account tokens of a customer who became one with another.
    case mergedTokens(from: Int64, to: Int64)
    case parked(Claim, TransactionStatus)
    case unparked(TransactionKey)
    case audit(AuditEntry, user: Int64)
    /// The state of a purchase in the owner's history.
    case recordedState(TransactionKey, HistoryState)
    /// A changed end of a purchase, which apps display.
    case endChanged(productIdentifier: String, user: Int64)
}
