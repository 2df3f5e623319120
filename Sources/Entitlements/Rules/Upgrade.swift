import Ledger
import Proofs

/// The rules of replaced periods: an upgrade is no refund, though the App Store states it as a cancellation in an app receipt.
extension EntitlementDecision {
    /// A period of a subscription that may have replaced another one.
    struct Successor {
        let originalKey: TransactionKey
        let productIdentifier: String
        let purchaseDate: Timestamp

        init(_ claim: Claim) {
            (originalKey, productIdentifier, purchaseDate) = (
                claim.originalKey, claim.productIdentifier, claim.purchaseDate
            )
        }

        init(_ transaction: EntitlementFacts.Transaction) {
            (originalKey, productIdentifier, purchaseDate) = (
                transaction.originalKey, transaction.productIdentifier, transaction.purchaseDate
            )
        }

        /// The tolerance for two statements of one moment, in seconds. App receipts have whole seconds. A customer may buy again
        /// soon after a refund.
        static let toleranceSeconds: Int64 = 2

        /// True if this period replaces another product, or one of another part of the subscription, and begins when the App Store has
        /// taken that one back.
        func replaces(
            _ product: String, of original: TransactionKey, from start: Timestamp, revokedAt date: Timestamp
        ) -> Bool {
            let tolerance = Self.toleranceSeconds
            return purchaseDate > start && purchaseDate >= date.adding(seconds: -tolerance)
                && purchaseDate <= date.adding(seconds: tolerance)
                && (!productIdentifier.hasSameBytes(as: product) || originalKey != original)
        }
    }

    /// A statement about a claim's transaction without the revocation, if the revocation is an upgrade.
    mutating func withoutUpgrade(_ status: TransactionStatus, of claim: Claim) -> TransactionStatus {
        guard let date = status.revocationDate, status.expiresAt != nil else { return status }
        let original = facts.ownedOriginal(of: claim) ?? claim.originalKey
        let tolerance = Successor.toleranceSeconds
        let parts = facts.subscription(of: original)
        func replaces(_ successor: Successor) -> Bool {
            successor.replaces(claim.productIdentifier, of: original, from: claim.purchaseDate, revokedAt: date)
        }
        func follows(_ other: Claim) -> Bool {
            other.isKnown && parts.contains(other.originalKey) && replaces(Successor(other))
        }
        // The other purchases of the proof, and parked renewals, follow in the same decision.
        var isUpgrade = presented.contains(where: follows)
        for part in parts {
            let known = facts.reading(periodsOf: part) {
                $0.keys(from: date.adding(seconds: -tolerance), through: date.adding(seconds: tolerance))
            }
            let siblings = facts.parkedSiblings(of: claim.key, in: part)
            isUpgrade =
                isUpgrade || known.contains { facts.transactions[$0].map { replaces(Successor($0)) } ?? false }
                || siblings.claims.contains(where: follows)
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
            var candidates = revoked
            if facts.hasMoved(claim.originalKey) {
                for part in facts.subscription(of: claim.originalKey) where facts.purchases[part]?.owner == user {
                    candidates.formUnion(facts.reading(periodsOf: part, \.revoked))
                }
            }
            for key in candidates.sorted() {
                guard let transaction = facts.transactions[key], let date = transaction.status.revocationDate,
                    new.replaces(
                        transaction.productIdentifier, of: transaction.originalKey, from: transaction.purchaseDate,
                        revokedAt: date)
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
        audit(
            .productChanged, key, transaction.productIdentifier, by: .store(key.origin.store), to: user,
            reason: plan.text)
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
        // The App Store renews as a chosen plan in a grace period, too, which is told when it is chosen. An upgrade is a purchase
        // (`transactionReason`), and takes effect immediately (`DID_CHANGE_RENEWAL_PREF`, UPGRADE).
        let replacesInGracePeriod = originalKey.origin.store.replacesInGracePeriod || other.isBought
        let end = replacesInGracePeriod ? max(expiresAt, grace?.endsAt ?? expiresAt) : expiresAt
        // A subscription on hold, or one of which the ledger learns later, is over where the new one begins.
        return isUpgraded || start.adding(seconds: Coverage.clockToleranceSeconds) < end
            || other.replacesAtOnce && !hasEnded
    }
}

extension TransactionFacts {
    /// True if the App Store has stated that the customer has started the transaction (App Store Server API, `transactionReason`).
    var isBought: Bool { text(.transactionReason) == TransactionReason.purchase.rawValue }
}

extension TransactionStatus {
    fileprivate var withoutRevocation: TransactionStatus {
        TransactionStatus(
            revocationDate: nil, revocationReason: nil, expiresAt: expiresAt, statedAt: statedAt,
            statementNumber: statementNumber)
    }
}
