import Ledger
import Proofs

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
        let following = (presented + Array(facts.parkedSiblings(of: claim))).filter {
            $0.isKnown && $0.originalKey == original
        }
        let isUpgrade = (known + following.map { Successor($0) }).contains {
            $0.replaces(claim.productIdentifier, from: claim.purchaseDate, revokedAt: date)
        }
        return isUpgrade ? status.withoutRevocation : status
    }

    /// Records that a new period replaces the one before it, and that the one after it has replaced the new one.
    ///
    /// - Parameter record: Redeems the new period.
    mutating func recordReplacements(by claim: Claim, of user: Int64, _ record: (inout EntitlementDecision) -> Void) {
        let (earlier, later, revoked) = facts.reading(periodsOf: claim.originalKey) {
            ($0.last(before: claim.purchaseDate), $0.first(after: claim.purchaseDate), $0.revoked)
        }
        if claim.expiresAt != nil {
            let new = Successor(claim)
            let before = earlier.flatMap { facts.transactions[$0] }
            for key in revoked.sorted() {
                guard let transaction = facts.transactions[key], let date = transaction.status.revocationDate,
                    new.replaces(transaction.productIdentifier, from: transaction.purchaseDate, revokedAt: date)
                else { continue }
                make(.status(key, transaction.status.withoutRevocation))
            }
            if let earlier, let before, let transaction = facts.transactions[earlier],
                // The App Store has stated the upgrade of that period before.
                !(before.status.isRevoked && transaction.isUpgraded),
                transaction.isReplaced(by: claim.productIdentifier, from: claim.purchaseDate)
            {
                auditChange(of: earlier, transaction, to: claim.productIdentifier, of: user)
            }
        }
        let successor = later.flatMap { facts.transactions[$0] }
        record(&self)
        if let transaction = facts.transactions[claim.key], let successor,
            transaction.isReplaced(by: successor.productIdentifier, from: successor.purchaseDate)
        {
            auditChange(of: claim.key, transaction, to: successor.productIdentifier, of: user)
        }
    }

    /// Records the end of a period by an upgrade. The product that has replaced it may be unknown.
    mutating func auditChange(
        of key: TransactionKey,
        _ transaction: EntitlementFacts.Transaction,
        to product: String?,
        of user: Int64
    ) {
        audit(.productChanged, key, transaction.productIdentifier, by: .appStore, to: user, reason: product)
    }
}

extension EntitlementFacts.Transaction {
    /// True if the App Store has stated that the customer upgraded.
    var isUpgraded: Bool { (stated.map { PurchasePeriod.Terms($0) } ?? terms)?.isUpgraded == true }

    /// True if a period of another product begins before this one ends.
    fileprivate func isReplaced(by product: String, from start: Timestamp) -> Bool {
        guard !status.isRevoked, let expiresAt = status.expiresAt, !productIdentifier.hasSameBytes(as: product) else {
            return false
        }
        return isUpgraded || start.adding(seconds: Coverage.clockToleranceSeconds) < expiresAt
    }
}

extension TransactionStatus {
    fileprivate var withoutRevocation: TransactionStatus {
        TransactionStatus(revocationDate: nil, revocationReason: nil, expiresAt: expiresAt, statedAt: statedAt)
    }
}
