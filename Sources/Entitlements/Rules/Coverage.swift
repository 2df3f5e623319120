import Proofs

/// The period in which a user owns the benefit of a transaction.
package struct Coverage: Hashable, Sendable {
    /// Nil for a purchase without an end, which needs no start.
    package let beginsAt: Timestamp?
    /// Nil for a purchase without an end.
    package let endsAt: Timestamp?
    /// True if the App Store or the team has revoked the purchase.
    package let isRevoked: Bool

    /// The tolerance for the App Store's clock, which may be ahead as far as a proof's date may be.
    static let clockToleranceSeconds: Int64 = 60

    /// The moment from which a period counts. One that the App Store has signed in advance counts from its purchase date.
    static func beginning(of purchaseDate: Timestamp, signedAt: Timestamp?) -> Timestamp {
        let earliest = purchaseDate.adding(seconds: -clockToleranceSeconds)
        return signedAt.map { $0 < earliest } ?? false ? purchaseDate : earliest
    }
}

extension EntitlementFacts {
    /// The coverage of each transaction of a purchase.
    ///
    /// A period of a subscription covers the time from its purchase to its end, or to the end of the grace period. The next
    /// purchased period ends it earlier, but not a transaction that adds seats to it. A renewal that the App Store has signed before
    /// its start covers the time from the end of the known periods, but not the time before the signature.
    package func coverage(of original: TransactionKey) -> [TransactionKey: Coverage] {
        let transactions = transactions(of: original).sorted {
            $0.transaction.purchaseDate < $1.transaction.purchaseDate
        }
        let isRevokedByTeam = revokedByTeam.contains(original)
        let next = Self.replacements(transactions.map(\.transaction))
        var coverage: [TransactionKey: Coverage] = [:]
        var coveredUntil: Timestamp?
        for (key, transaction) in transactions {
            let isRevoked = isRevokedByTeam || transaction.status.isRevoked
            guard let expiresAt = transaction.expiresAt else {
                coverage[key] = Coverage(beginsAt: nil, endsAt: nil, isRevoked: isRevoked)
                continue
            }
            let signedAt = transaction.status.statedAt.adding(seconds: -Coverage.clockToleranceSeconds)
            let end = max(expiresAt, transaction.grace?.endsAt ?? expiresAt)
            // Of two periods of the same millisecond, the upgraded one is replaced.
            let twin =
                transaction.isUpgraded
                ? transactions.lazy.map(\.transaction).filter {
                    $0.purchaseDate == transaction.purchaseDate && !$0.isUpgraded && !$0.isVoid
                }.map(\.beginning).min() : nil
            let endsAt = min(end, twin ?? next[transaction.purchaseDate] ?? end)
            coverage[key] = Coverage(
                beginsAt: min(transaction.beginning, max(signedAt, coveredUntil ?? signedAt)), endsAt: endsAt,
                isRevoked: isRevoked)
            if !isRevoked { coveredUntil = max(endsAt, coveredUntil ?? endsAt) }
        }
        return coverage
    }

    /// The beginning of the next period for each purchase date.
    ///
    /// - Parameter transactions: The transactions in the order of their purchase dates.
    private static func replacements(_ transactions: [Transaction]) -> [Timestamp: Timestamp] {
        var seats = SeatAdditions()
        let replacing = Dictionary(
            transactions.filter {
                !seats.adds(
                    $0.isAdditional, to: $0.productIdentifier, from: $0.purchaseDate, until: $0.status.expiresAt)
                    && !$0.isVoid
            }.map { ($0.purchaseDate, $0.beginning) }, uniquingKeysWith: min)
        var next: [Timestamp: Timestamp] = [:]
        var following: Timestamp?
        for date in Set(transactions.map(\.purchaseDate)).sorted().reversed() {
            next[date] = following
            following = [replacing[date], following].compactMap(\.self).min()
        }
        return next
    }
}

extension EntitlementFacts.Transaction {
    /// True if the store has taken the period back before it began.
    fileprivate var isVoid: Bool { PurchasePeriod.isVoid(from: purchaseDate, revokedAt: status.revocationDate) }

    fileprivate var beginning: Timestamp {
        Coverage.beginning(of: purchaseDate, signedAt: stated?.date(.signedDate) ?? terms?.signedAt)
    }
}

/// Finds the transactions of a purchase that add seats to the period of an earlier one (App Store Server API,
/// `additionalTransactionReason`).
///
/// Such a transaction takes no period's place. The App Store states the reason for every transaction of the period, so the one
/// that was there before is told by its date.
package struct SeatAdditions {
    /// The last end of the periods so far, by the product.
    private var ends: [ByteKey: Timestamp] = [:]

    package init() {}

    /// Returns true if the next transaction adds seats to the period of an earlier one.
    ///
    /// - Parameters:
    ///   - isAdditional: True if the App Store has stated that the transaction is not the only one of its period.
    ///   - start: The purchase date, not before that of the transaction before.
    package mutating func adds(_ isAdditional: Bool, to product: String, from start: Timestamp, until end: Timestamp?)
        -> Bool
    {
        guard let end else { return false }
        let last = ends[ByteKey(product)]
        ends[ByteKey(product)] = max(last ?? end, end)
        return isAdditional && last.map { start.adding(seconds: Coverage.clockToleranceSeconds) < $0 } ?? false
    }

    package mutating func adds(_ period: PurchasePeriod) -> Bool {
        adds(
            period.terms.isAdditional, to: period.productIdentifier, from: period.purchaseDate, until: period.expiresAt)
    }

    package mutating func adds(_ transaction: RedeemedTransaction) -> Bool {
        adds(
            PurchasePeriod.Terms(transaction.facts).isAdditional, to: transaction.productIdentifier,
            from: transaction.purchaseDate, until: transaction.expiresAt)
    }
}
