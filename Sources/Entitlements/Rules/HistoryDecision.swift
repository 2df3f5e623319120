import Ledger
import Proofs

/// The rules of histories: changes of states by statements or by time.
extension EntitlementDecision {
    /// Records the effects of the changes so far on purchases with an end in the histories of their owners.
    ///
    /// A statement may be late, and the next one may follow it. So the end of its period is left to the next
    /// `LedgerTransaction.recordDueStates`.
    ///
    /// - Parameter type: Returns the type of a product, for transactions without a stated type.
    package mutating func recordStates(type: (String) -> ProductType?) {
        recordStates(of: changes.stated, holding: moment, type: type)
    }

    /// Records the current states of purchases with an end in the histories of their owners.
    ///
    /// - Parameter hold: The last moment at which no end is reported that time alone has brought to a subscription that may renew.
    /// - Returns: The purchases whose statement about the renewal is awaited.
    @discardableResult
    package mutating func recordStates(
        of originals: Set<TransactionKey>,
        holding hold: Timestamp? = nil,
        type: (String) -> ProductType?
    ) -> Set<TransactionKey> {
        var awaiting: Set<TransactionKey> = []
        let granted = grantedTransactions
        for original in originals.sorted() {
            guard let purchase = facts.purchases[original], let status = status(of: original, type: type),
                status.paidUntil != nil || facts.recordedStates[original] != nil
            else { continue }
            var recorded = facts.recordedStates[original]
            // A period that is granted now may have ended in the state of the one before it. It has its own events.
            if granted.contains(
                TransactionKey(
                    app: original.app, origin: original.origin, identifier: status.transactionIdentifier))
            {
                recorded = recorded?.reopened
            }
            let awaited = recorded?.state == status.state ? nil : status.awaitsStatement(at: moment, holding: hold)
            if awaited != nil { awaiting.insert(original) }
            let new =
                awaited.map {
                    HistoryState(state: recorded?.state ?? .active, renews: recorded?.renews, changesAt: $0)
                } ?? HistoryState(status, at: moment)
            guard recorded != new || facts.recordedStates[original] != new else { continue }
            // Purchases from origins that are not accepted for the owner cause no events.
            let isReported = awaited == nil && isAccepted(original.origin, for: purchase.owner)
            for event in !isReported ? [] : status.events(since: recorded, at: moment)
            where event.event != .expired || !isContinued(original) {
                let entry = AuditEntry(
                    happenedAt: event.happenedAt, event: event.event, actor: .appStore, origin: original.origin,
                    app: original.app, reference: status.transactionIdentifier, subject: status.productIdentifier,
                    reason: event.reason)
                changes.events.append(.audit(entry, user: purchase.owner))
            }
            facts.recordedStates[original] = new
            changes.recordedStates.insert(original)
        }
        return awaiting
    }

    /// The status of a purchase; nil if nobody owns it.
    func status(of original: TransactionKey, type: (String) -> ProductType?) -> PurchaseStatus? {
        let isRevokedByTeam = facts.revokedByTeam.contains(original)
        let renewal = facts.purchases[original]?.renewal
        let periods = facts.transactions(of: original).map { key, transaction in
            PurchasePeriod(key, transaction, isRevokedByTeam: isRevokedByTeam)
        }
        // Only a subscription has a statement about its renewal.
        let kind =
            periods.lazy.compactMap(\.terms.type).first ?? periods.last.flatMap { type($0.productIdentifier) }
            ?? renewal.map { _ in .autoRenewableSubscription }
        return PurchaseStatus(
            of: original.identifier, from: original.origin, periods, kind, renewal, at: moment)
    }

    /// The transactions that the changes so far grant.
    private var grantedTransactions: Set<TransactionKey> {
        Set(
            changes.events.compactMap { event in
                guard case .audit(let entry, _) = event, entry.event == .granted, let origin = entry.origin else {
                    return nil
                }
                return TransactionKey(app: entry.app ?? "", origin: origin, identifier: entry.reference)
            })
    }
}

/// The product of a subscription, and its base plan at Google Play. Another base plan of the same product is another plan
/// (developer.android.com/google/play/billing/subscriptions, "Allow users to upgrade, downgrade, or change their subscription").
package struct SubscribedPlan: Hashable, Sendable {
    package let productIdentifier: String
    /// Nil at the App Store, whose products are plans, and if Google Play has not stated it.
    package let basePlan: String?
    /// True if Google Play has stated that it has ended another plan at once.
    let replacesAtOnce: Bool

    package init(_ productIdentifier: String, basePlan: String?, replacesAtOnce: Bool = false) {
        (self.productIdentifier, self.basePlan) = (productIdentifier, basePlan)
        self.replacesAtOnce = replacesAtOnce
    }

    /// The modes of replacements in effect "immediately" (the page above, "Replacement modes").
    private static let immediateModes: Set = [
        "WITH_TIME_PRORATION", "CHARGE_PRORATED_PRICE", "WITHOUT_PRORATION", "CHARGE_FULL_PRICE",
    ]

    init(_ claim: Claim) {
        self.init(
            claim.productIdentifier, basePlan: claim.facts?.text(.basePlanId),
            replacesAtOnce: claim.facts?.text(.replacementMode).map(Self.immediateModes.contains) ?? false)
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
            renewal.counts(forPeriodFrom: transaction.purchaseDate)
        else { return }
        let chosen = renewal.chosenPlan(besides: transaction.plan)
        // Nothing is taken back with a period that has only begun, as by a replacement at once.
        guard chosen != nil || key == period else { return }
        let known = before.flatMap { before in
            before.counts(forPeriodFrom: transaction.purchaseDate)
                ? before.chosenPlan(besides: transaction.plan) : nil
        }
        let isKnown = known.flatMap { known in chosen.map { !$0.differs(from: known) } } ?? (known == chosen)
        guard !isKnown else { return }
        audit(
            .planChosen, key, transaction.productIdentifier, by: .appStore, to: user, reason: chosen?.text)
    }
}

extension StatedRenewal {
    /// The plan of the next period; nil for the present one, and if none is stated.
    fileprivate func chosenPlan(besides present: SubscribedPlan) -> SubscribedPlan? {
        guard let product = facts.text(.autoRenewProductId) else { return nil }
        let plan = SubscribedPlan(product, basePlan: facts.text(.autoRenewBasePlanId))
        return plan.differs(from: present) ? plan : nil
    }
}

/// The rules of replaced periods: an upgrade is no refund, though the App Store states it as a cancellation in an app receipt.
extension EntitlementDecision {
    /// A period of a subscription that may have replaced another one.
    struct Successor {
        let productIdentifier: String
        let purchaseDate: Timestamp

        init(_ claim: Claim) {
            (productIdentifier, purchaseDate) = (claim.productIdentifier, claim.purchaseDate)
        }

        init(_ transaction: EntitlementFacts.Transaction) {
            (productIdentifier, purchaseDate) = (transaction.productIdentifier, transaction.purchaseDate)
        }

        /// The tolerance for two statements of one moment, in seconds. App receipts have whole seconds. A customer may buy again
        /// soon after a refund.
        static let toleranceSeconds: Int64 = 2

        /// True if this period replaces another product, and begins when the App Store has taken that one back.
        func replaces(_ product: String, from start: Timestamp, revokedAt date: Timestamp) -> Bool {
            let tolerance = Self.toleranceSeconds
            return purchaseDate > start && purchaseDate >= date.adding(seconds: -tolerance)
                && purchaseDate <= date.adding(seconds: tolerance)
                && !productIdentifier.hasSameBytes(as: product)
        }
    }

    /// A statement about a claim's transaction without the revocation, if the revocation is an upgrade.
    mutating func withoutUpgrade(_ status: TransactionStatus, of claim: Claim) -> TransactionStatus {
        guard let date = status.revocationDate, status.expiresAt != nil else { return status }
        let original = facts.ownedOriginal(of: claim) ?? claim.originalKey
        let tolerance = Successor.toleranceSeconds
        let known = facts.reading(periodsOf: original) {
            $0.keys(from: date.adding(seconds: -tolerance), through: date.adding(seconds: tolerance))
        }.compactMap { facts.transactions[$0].map { Successor($0) } }
        // The other purchases of the proof, and parked renewals, follow in the same decision.
        let following = (presented + Array(facts.parkedSiblings(of: claim).claims)).filter {
            $0.isKnown && $0.originalKey == original
        }
        let isUpgrade = (known + following.map { Successor($0) }).contains {
            $0.replaces(claim.productIdentifier, from: claim.purchaseDate, revokedAt: date)
        }
        return isUpgrade ? status.withoutRevocation : status
    }

    /// A status without its revocation, if all statements about the transaction together say that the period was upgraded. Its end is told
    /// with the period that replaces it, which may not be known yet.
    func withoutStatedUpgrade(_ status: TransactionStatus, of key: TransactionKey) -> TransactionStatus {
        guard let date = status.revocationDate, status.expiresAt != nil, let transaction = facts.transactions[key],
            transaction.isUpgraded, date >= transaction.purchaseDate, !transaction.isShareEnded
        else { return status }
        return status.withoutRevocation
    }

    /// Records that a new period replaces the one before it, and that the one after it has replaced the new one.
    ///
    /// - Parameter record: Redeems the new period.
    mutating func recordReplacements(by claim: Claim, of user: Int64, _ record: (inout EntitlementDecision) -> Void) {
        let start = claim.purchaseDate
        let (earlier, later, revoked, isFirst) = facts.reading(periodsOf: claim.originalKey) {
            ($0.last(before: start), $0.first(after: start), $0.revoked, $0.keys(from: start, through: start).isEmpty)
        }
        let hasEnded = facts.recordedStates[claim.originalKey]?.state == .expired
        if claim.expiresAt != nil {
            let new = Successor(claim)
            for key in revoked.sorted() {
                guard let transaction = facts.transactions[key], let date = transaction.status.revocationDate,
                    new.replaces(transaction.productIdentifier, from: transaction.purchaseDate, revokedAt: date)
                else { continue }
                set(transaction.status.withoutRevocation, of: key)
            }
            // Another period of the same moment has ended the earlier one.
            if isFirst, let earlier, let transaction = facts.transactions[earlier],
                transaction.isReplaced(by: SubscribedPlan(claim), from: start, hasEnded: hasEnded)
            {
                auditChange(of: earlier, transaction, to: SubscribedPlan(claim), of: user)
            }
        }
        let successor = later.flatMap { facts.transactions[$0] }
        record(&self)
        if let transaction = facts.transactions[claim.key], let successor,
            transaction.isReplaced(by: successor.plan, from: successor.purchaseDate, hasEnded: hasEnded)
        {
            auditChange(of: claim.key, transaction, to: successor.plan, of: user)
        }
    }

    /// Records the end of a period by a replacement.
    private mutating func auditChange(
        of key: TransactionKey,
        _ transaction: EntitlementFacts.Transaction,
        to plan: SubscribedPlan,
        of user: Int64
    ) {
        audit(.productChanged, key, transaction.productIdentifier, by: .appStore, to: user, reason: plan.text)
    }
}

extension EntitlementFacts.Transaction {
    /// True if the App Store has stated that the customer upgraded.
    var isUpgraded: Bool { stated.map { $0.bool(.isUpgraded) == true } ?? terms?.isUpgraded ?? false }

    /// True if the store has taken the transaction from a member of a family, or of a team with seats, who has paid nothing.
    fileprivate var isShareEnded: Bool {
        switch stated?.text(.revocationType).flatMap(RevocationType.init) {
        case .familyRevoke, .assignmentRevoke: true
        case .refundFull, .refundProrated, nil: false
        }
    }

    /// True if a period of another plan begins before this one ends. A subscription that is bought again, before its end or after it,
    /// and a prepaid plan that is topped up, are no other plan.
    ///
    /// - Parameter hasEnded: True if the end of the subscription is in the history.
    fileprivate func isReplaced(by other: SubscribedPlan, from start: Timestamp, hasEnded: Bool) -> Bool {
        guard !status.isRevoked, let expiresAt = status.expiresAt, other.differs(from: plan) else { return false }
        let replacesInGracePeriod = originalKey.origin.store.replacesInGracePeriod
        let end = replacesInGracePeriod ? max(expiresAt, grace?.endsAt ?? expiresAt) : expiresAt
        // A subscription on hold, or one of which the ledger learns later, is over where the new one begins.
        return isUpgraded || start.adding(seconds: Coverage.clockToleranceSeconds) < end
            || other.replacesAtOnce && !hasEnded
    }
}

extension TransactionStatus {
    fileprivate var withoutRevocation: TransactionStatus {
        TransactionStatus(
            revocationDate: nil, revocationReason: nil, expiresAt: expiresAt, statedAt: statedAt,
            statementNumber: statementNumber)
    }
}
