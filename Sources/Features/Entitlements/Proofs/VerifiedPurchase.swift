import Proofs

/// The purchase that a verified signed transaction states, with what the ledger knows of it.
package struct VerifiedPurchase: Hashable, Sendable {
    package let environment: AppStoreEnvironment
    package let productIdentifier: String
    /// Nil if neither the App Store nor the catalog states it.
    package let type: ProductType?
    /// The end of the period; nil for a purchase without an end.
    package let expiresAt: Timestamp?
    /// True if the last statement about the purchase, or the team, has revoked it.
    package let isRevoked: Bool
    /// True if a user has redeemed the transaction.
    package let isRedeemed: Bool
    /// True if the latest period of the purchase is of the same product, and owned.
    package let isOwned: Bool
    /// True if the ledger has the transaction with another product, so that a redemption would be refused.
    package let isConflicting: Bool

    package init(
        environment: AppStoreEnvironment = .sandbox,
        productIdentifier: String,
        type: ProductType?,
        expiresAt: Timestamp? = nil,
        isRevoked: Bool = false,
        isRedeemed: Bool = false,
        isOwned: Bool = false,
        isConflicting: Bool = false
    ) {
        self.environment = environment
        self.productIdentifier = productIdentifier
        self.type = type
        self.expiresAt = expiresAt
        self.isRevoked = isRevoked
        self.isRedeemed = isRedeemed
        self.isOwned = isOwned
        self.isConflicting = isConflicting
    }
}

/// The rules that derive the purchase from the proof and the ledger.
extension VerifiedPurchase {
    /// The purchase as it would be in the ledger if its user redeemed the proof now.
    ///
    /// - Parameters:
    ///   - claim: The claim of the proof, by the catalog.
    ///   - facts: The facts about the claim.
    package init(
        _ claim: Claim,
        _ type: ProductType?,
        _ environment: AppStoreEnvironment,
        by facts: EntitlementFacts,
        at moment: Timestamp
    ) {
        guard !facts.hasOtherProduct(than: claim) else {
            self.init(
                environment: environment, productIdentifier: claim.productIdentifier, type: type, isConflicting: true)
            return
        }
        let isRedeemed = facts.transactions[facts.standing(for: claim).key] != nil
        var decision = EntitlementDecision(facts: facts, at: moment)
        let (key, original) = decision.suppose(claim.endingAsStated)
        let transaction = decision.facts.transactions[key]
        let isTakenBack = transaction?.status.isRevoked ?? false
        // The App Store may state the upgrade of a period as its revocation.
        let isReplaced = isTakenBack && transaction?.isUpgraded ?? false
        let status = decision.status(of: original) { _ in type }
        self.init(
            environment: environment, productIdentifier: claim.productIdentifier, type: type,
            expiresAt: isReplaced
                ? transaction?.status.revocationDate : decision.facts.coverage(of: original)[key]?.endsAt,
            isRevoked: decision.facts.revokedByTeam.contains(original) || isTakenBack && !isReplaced,
            isRedeemed: isRedeemed,
            isOwned: status.map {
                $0.state.isOwned && $0.productIdentifier.hasSameBytes(as: claim.productIdentifier)
            } ?? false)
    }
}
