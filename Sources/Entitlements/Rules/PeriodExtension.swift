import Ledger
import Proofs

/// The rule of extended periods: the store moves the end of a running period, and charges later.
extension EntitlementDecision {
    /// Records that the end of a subscription's running period has moved: "when its expiration changes from a future date to a greater
    /// future date" (revenuecat.com/docs/integrations/webhooks/event-flows, "Subscription Extended Flow").
    ///
    /// - Parameters:
    ///   - before: The status before the statement.
    mutating func auditExtension(
        by claim: Claim, from before: TransactionStatus, to after: TransactionStatus, of user: Int64
    ) {
        guard claim.origin.store.statesExtensions, claim.facts?.productType == .autoRenewableSubscription,
            !before.isRevoked, !after.isRevoked, !facts.revokedByTeam.contains(claim.originalKey),
            let end = before.expiresAt, let later = after.expiresAt, end > moment,
            // An extension has whole days (App Store Server API, `extendByDays`). An app receipt states no milliseconds of an end.
            later >= end.adding(days: 1)
        else { return }
        audit(
            .periodExtended, claim.key, claim.productIdentifier, by: .store(claim.origin.store), to: user,
            reason: later.rfc3339)
    }
}
