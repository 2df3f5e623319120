import Ledger
import Proofs

/// The rules of purchases that an import expects.
extension EntitlementDecision {
    /// The customer for whom an import expects the purchase of a claim; nil if somebody owns the purchase, or if its origin is
    /// not accepted for the customer.
    func expectedOwner(of claim: Claim) -> Int64? {
        guard facts.ownedOriginal(of: claim) == nil, let owner = facts.expectedOwners[claim.originalKey],
            isAccepted(claim.origin, for: owner)
        else { return nil }
        return owner
    }

    /// Gives an expected purchase to its customer, before another user's claim to it is decided.
    ///
    /// The ownership policy then decides as if the customer had redeemed the purchase before the import. An account token that
    /// determines the owner takes precedence over the expectation.
    mutating func confirmExpectation(of claim: Claim, presentedBy user: Int64) {
        // Most decisions are about no expected purchase.
        guard !facts.expectedOwners.isEmpty, claim.isKnown, let owner = expectedOwner(of: claim), owner != user else {
            return
        }
        let siblings = facts.parkedSiblings(of: claim)
        guard facts.namedOwner(by: claim, siblings, of: nil) == nil else { return }
        _ = apply(claim, of: owner, by: .appStore, nil)
        apply(siblings, of: owner)
    }
}
