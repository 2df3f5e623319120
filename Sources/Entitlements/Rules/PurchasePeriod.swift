import Ledger
import Proofs

/// The part of a transaction that the state of its purchase depends on. It is a period of a subscription, or the whole of
/// another purchase.
package struct PurchasePeriod: Hashable, Sendable {
    /// The facts of a transaction that a state depends on.
    package struct Terms: Hashable, Sendable {
        /// Nil if the App Store has not stated it.
        package let type: ProductType?
        package let isUpgraded: Bool
        package let isTrial: Bool
        package let isIntroductory: Bool
        /// True for a prepaid plan at Google Play, which does not renew.
        package let isPrepaid: Bool
        /// Nil if the App Store has stated none, or an unknown one.
        package let ownership: InAppOwnershipType?
        /// True if the transaction is not the only one of its period, because the customer has added seats.
        package let isAdditional: Bool
        /// The last signature of the transaction; nil if only app receipts have stated it.
        let signedAt: Timestamp?
        /// The original transaction of the subscription before it moved to this one; nil if it has not moved.
        package let previous: String?

        package var isFamilyShared: Bool { ownership == .familyShared }

        /// True if the customer has paid nothing, and gets no refund: the purchase of a family member, or a seat.
        package var isPaidByAnother: Bool {
            switch ownership {
            case .familyShared, .assigned: true
            case .purchased, nil: false
            }
        }

        package static let facts: [TransactionFact] = [
            .type, .isUpgraded, .offerDiscountType, .isTrialPeriod, .offerType, .isInIntroductoryOfferPeriod,
            .isPrepaid, .inAppOwnershipType, .additionalTransactionReason, .signedDate, .previousOriginalTransactionId,
        ]
    }

    /// The transaction.
    package let identifier: StoredIdentifier
    package let productIdentifier: String
    package let purchaseDate: Timestamp
    /// Nil for a purchase without an end.
    package let expiresAt: Timestamp?
    /// Nil without a grace period.
    package let graceEndsAt: Timestamp?
    /// The date of the App Store's refund or revocation; nil without one.
    package let revocationDate: Timestamp?
    package let isRevokedByTeam: Bool
    /// The time of the redemption; nil if it was not read.
    package let redeemedAt: Timestamp?
    package let terms: Terms
    /// The start of the next period as another product, which has not begun; nil if none is known.
    package internal(set) var replacedAt: Timestamp?

    package var transactionIdentifier: String { identifier.text }

    /// True if the App Store has refunded or revoked it.
    package var isRevoked: Bool { revocationDate != nil }

    /// The start of the ownership. The App Store signs a renewal up to a day before its period begins.
    var ownedFrom: Timestamp { min(purchaseDate, redeemedAt ?? purchaseDate) }

    /// The end of the paid time or the grace period, or the start of the next period; nil for a purchase without an end.
    package var endsAt: Timestamp? {
        [expiresAt, graceEndsAt].compactMap(\.self).max().map { min($0, replacedAt ?? $0) }
    }
}

extension TransactionFacts {
    /// The type of the product; nil if the store has not stated it.
    var productType: ProductType? { text(.type).flatMap(ProductType.init) }
}

extension PurchasePeriod.Terms {
    package init(_ facts: TransactionFacts) {
        type = facts.productType
        isUpgraded = facts.bool(.isUpgraded) == true
        isTrial =
            facts.text(.offerDiscountType) == OfferDiscountType.freeTrial.rawValue
            || facts.bool(.isTrialPeriod) == true
        isIntroductory =
            facts.integer(.offerType) == Int64(SubscriptionOffer.Kind.introductory.rawValue)
            || facts.bool(.isInIntroductoryOfferPeriod) == true
        isPrepaid = facts.bool(.isPrepaid) == true
        ownership = facts.text(.inAppOwnershipType).flatMap(InAppOwnershipType.init)
        isAdditional = facts[.additionalTransactionReason] != nil
        signedAt = facts.date(.signedDate)
        previous = facts.text(.previousOriginalTransactionId)
    }
}

extension PurchasePeriod {
    package init(_ transaction: RedeemedTransaction) {
        identifier = StoredIdentifier(transaction.transactionIdentifier)
        productIdentifier = transaction.productIdentifier
        purchaseDate = transaction.purchaseDate
        expiresAt = transaction.expiresAt
        graceEndsAt = transaction.graceEndsAt
        revocationDate = transaction.revocationDate
        isRevokedByTeam = transaction.revocation != nil
        redeemedAt = transaction.redeemedAt
        terms = Terms(transaction.facts)
    }

    init(_ key: TransactionKey, _ transaction: EntitlementFacts.Transaction, isRevokedByTeam: Bool) {
        identifier = StoredIdentifier(key.identifier)
        productIdentifier = transaction.productIdentifier
        purchaseDate = transaction.purchaseDate
        expiresAt = transaction.expiresAt
        graceEndsAt = transaction.grace?.endsAt
        revocationDate = transaction.status.revocationDate
        self.isRevokedByTeam = isRevokedByTeam
        redeemedAt = nil
        terms = transaction.stated.map { Terms($0) } ?? transaction.terms ?? Terms(TransactionFacts())
    }

    /// The periods of a purchase that count at a moment. The last one is current.
    ///
    /// A renewal counts as soon as the App Store has signed it. A renewal as another product does not count before its period
    /// begins, if the product before it is still owned. A period that the App Store has taken back before its start never counts.
    /// A transaction that adds seats to a period counts only if the period's others are revoked, or end earlier.
    ///
    /// - Parameter periods: All periods of the purchase, in the order of their purchase dates.
    package static func inEffect(_ periods: [PurchasePeriod], at moment: Timestamp) -> [PurchasePeriod] {
        let begun = periods.filter { !$0.isVoid }
        var counting = withoutAdditions(begun.isEmpty ? periods : begun)
        while let last = counting.last, let before = counting.dropLast().last, !last.hasBegun(at: moment),
            before.isRunning(at: moment), !last.productIdentifier.hasSameBytes(as: before.productIdentifier)
        {
            counting.removeLast()
            counting[counting.count - 1].replacedAt = last.beginning
        }
        return counting
    }

    private static func withoutAdditions(_ periods: [PurchasePeriod]) -> [PurchasePeriod] {
        guard periods.contains(where: \.terms.isAdditional) else { return periods }
        var seats = SeatAdditions()
        var counting: [PurchasePeriod] = []
        for period in periods {
            let isAddition = seats.adds(period)
            let other = counting.last { $0.productIdentifier.hasSameBytes(as: period.productIdentifier) }
            if isAddition, let other, !period.outlasts(other) { continue }
            counting.append(period)
        }
        return counting
    }

    /// True if the purchase is owned longer by this transaction than by another one of the same period.
    private func outlasts(_ other: PurchasePeriod) -> Bool {
        guard !isRevoked, let endsAt else { return false }
        return other.isRevoked || other.endsAt.map { $0 < endsAt } ?? false
    }

    /// True if the App Store has taken the period back before it began.
    private var isVoid: Bool { Self.isVoid(from: purchaseDate, revokedAt: revocationDate) }

    static func isVoid(from purchaseDate: Timestamp, revokedAt revocationDate: Timestamp?) -> Bool {
        revocationDate.map { $0 < purchaseDate } ?? false
    }

    private var beginning: Timestamp { Coverage.beginning(of: purchaseDate, signedAt: terms.signedAt) }

    private func hasBegun(at moment: Timestamp) -> Bool { beginning <= moment }

    private func isRunning(at moment: Timestamp) -> Bool { !isRevoked && endsAt.map { $0 > moment } ?? true }
}
