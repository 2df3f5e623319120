import Commerce
import Ledger

extension LedgerTransaction {
    /// Decides requests in their order, each in view of those before it, and writes the changes.
    ///
    /// - Returns: An answer to each.
    public func decide(
        _ requests: [ClaimRequest],
        under policy: OwnershipPolicy,
        accepting accepted: AcceptedOrigins,
        at moment: Timestamp
    ) throws -> [ClaimAnswer] {
        try ClaimGroup(transaction: self, policy: policy, accepted: accepted, moment: moment).answer(requests)
    }
}
