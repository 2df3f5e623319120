import Commerce
import Ledger
import Receipts

/// A change that a decision makes to the ledger.
package enum EntitlementChange: Hashable, Sendable {
    /// A refused claim, recorded once for each user, transaction and result.
    case refused(Redemption.Result, Claim, user: Int64, actor: AuditActor)
    /// A purchase that nobody has owned before, by its original transaction.
    case purchase(TransactionKey, owner: Int64, Naming?)
    /// A transaction that nobody has redeemed before, and the item or credit of the claim.
    case transaction(Claim, Standing, owner: Int64)
    case standing(TransactionKey, Standing)
    case grace(TransactionKey, GracePeriod)
    /// The facts that are known of a transaction.
    case facts(TransactionKey, TransactionFacts)
    /// The last statement about the renewal of a purchase.
    case renewal(TransactionKey, StatedRenewal)
    /// The transaction that now determines the owner of a purchase.
    case naming(TransactionKey, Naming)
    case transfer(TransactionKey, from: Int64, to: Int64)
    case parked(Claim, Standing)
    case unparked(TransactionKey)
    case audit(AuditEntry, user: Int64)
    /// The state of a purchase that the owner's history has.
    case announced(TransactionKey, AnnouncedState)
    /// The end of something paid for, which screens show.
    case endChanged(productIdentifier: String, user: Int64)
}
