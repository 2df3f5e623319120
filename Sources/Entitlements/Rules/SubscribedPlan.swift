import Ledger
import Proofs

/// The product of a subscription, and its base plan at Google Play. Another base plan of the same product is another plan
/// (developer.android.com/google/play/billing/subscriptions, "Allow users to upgrade, downgrade, or change their subscription").
package struct SubscribedPlan: Hashable, Sendable {
    package let productIdentifier: String
    /// Nil at the App Store, whose products are plans, and if Google Play has not stated it.
    package let basePlan: String?
    /// True if Google Play has stated that it has ended another plan at once.
    let replacesAtOnce: Bool
    /// True if the App Store has stated that the customer has bought the plan, and that no renewal has brought it.
    let isBought: Bool

    package init(
        _ productIdentifier: String, basePlan: String?, replacesAtOnce: Bool = false, isBought: Bool = false
    ) {
        (self.productIdentifier, self.basePlan) = (productIdentifier, basePlan)
        (self.replacesAtOnce, self.isBought) = (replacesAtOnce, isBought)
    }

    /// The modes of replacements in effect "immediately" (the page above, "Replacement modes").
    private static let immediateModes: Set = [
        "WITH_TIME_PRORATION", "CHARGE_PRORATED_PRICE", "WITHOUT_PRORATION", "CHARGE_FULL_PRICE",
    ]

    init(_ claim: Claim) {
        self.init(
            claim.productIdentifier, basePlan: claim.facts?.text(.basePlanId),
            replacesAtOnce: claim.facts?.text(.replacementMode).map(Self.immediateModes.contains) ?? false,
            isBought: claim.facts?.isBought ?? false)
    }

    /// True if a customer who had the other one has changed the plan.
    func differs(from other: SubscribedPlan) -> Bool {
        guard productIdentifier.hasSameBytes(as: other.productIdentifier) else { return true }
        guard let basePlan, let otherPlan = other.basePlan else { return false }
        return !basePlan.hasSameBytes(as: otherPlan)
    }

    /// - Parameter text: The plan in the audit log. No product of a store has a colon in its identifier.
    package init(text: String) {
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        self.init(parts.first ?? text, basePlan: parts.count == 2 ? parts[1] : nil)
    }

    /// The plan in the audit log: `PRODUCT`, or `PRODUCT:BASEPLAN`.
    var text: String { basePlan.map { "\(productIdentifier):\($0)" } ?? productIdentifier }
}

/// The rule of another plan that the customer has chosen for the next renewal.
extension EntitlementDecision {
    /// Records a choice that a statement tells of, or that it is taken back. A plan that replaces another one at once is told with its
    /// period.
    ///
    /// - Parameters:
    ///   - before: The statement about the renewal before this one; nil without one.
    ///   - period: The latest period before the statement; nil without one.
    mutating func auditChoice(
        by claim: Claim, after before: StatedRenewal?, in period: TransactionKey?, to user: Int64
    ) {
        guard claim.renewal != nil, let original = facts.transactions[claim.key]?.originalKey,
            let renewal = facts.purchases[original]?.renewal, renewal != before, renewal.willRenew == true,
            let key = facts.reading(periodsOf: original, \.last), let transaction = facts.transactions[key],
            !transaction.status.isRevoked, !transaction.isUpgraded,
            renewal.counts(forPeriodFrom: transaction.purchaseDate, of: key.origin.store)
        else { return }
        let chosen = renewal.chosenPlan(besides: transaction.plan)
        // Nothing is taken back with a period that has only begun, as by a replacement at once.
        guard chosen != nil || key == period else { return }
        let known = before.flatMap { before in
            before.isStated(inPeriodFrom: transaction.purchaseDate, until: transaction.status.expiresAt)
                ? before.chosenPlan(besides: transaction.plan) : nil
        }
        let isKnown = known.flatMap { known in chosen.map { !$0.differs(from: known) } } ?? (known == chosen)
        guard !isKnown else { return }
        audit(
            .planChosen, key, transaction.productIdentifier, by: .store(key.origin.store), to: user,
            reason: chosen?.text)
    }
}

extension StatedRenewal {
    /// True if it was stated in the period, or with it within the day before. A period that has replaced another one, or follows its
    /// end, may be known before its own statement. `renewalDate` is "the expiration date of the most recent auto-renewable
    /// subscription purchase" (App Store Server Notifications, `renewalDate`).
    fileprivate func isStated(inPeriodFrom purchaseDate: Timestamp, until expiresAt: Timestamp?) -> Bool {
        statedAt >= purchaseDate || expiresAt != nil && facts.date(.renewalDate) == expiresAt
    }

    /// The plan of the next period; nil for the present one, and if none is stated.
    fileprivate func chosenPlan(besides present: SubscribedPlan) -> SubscribedPlan? {
        guard let product = facts.text(.autoRenewProductId) else { return nil }
        let plan = SubscribedPlan(product, basePlan: facts.text(.autoRenewBasePlanId))
        return plan.differs(from: present) ? plan : nil
    }
}
