import Commerce
import Receipts

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
        package let isFamilyShared: Bool

        package init(_ facts: TransactionFacts) {
            type = facts.text(.type).flatMap(ProductType.init)
            isUpgraded = facts.bool(.isUpgraded) == true
            isTrial =
                facts.text(.offerDiscountType) == OfferDiscountType.freeTrial.rawValue
                || facts.bool(.isTrialPeriod) == true
            isIntroductory =
                facts.integer(.offerType) == Int64(OfferType.introductoryOffer.rawValue)
                || facts.bool(.isInIntroductoryOfferPeriod) == true
            isFamilyShared = facts.text(.inAppOwnershipType) == InAppOwnershipType.familyShared.rawValue
        }

        /// The facts that the terms depend on.
        package static let facts: [TransactionFact] = [
            .type, .isUpgraded, .offerDiscountType, .isTrialPeriod, .offerType, .isInIntroductoryOfferPeriod,
            .inAppOwnershipType,
        ]
    }

    package let transactionIdentifier: String
    package let productIdentifier: String
    package let purchaseDate: Timestamp
    /// Nil for a purchase without an end.
    package let expiresAt: Timestamp?
    /// Nil without a grace period.
    package let graceEndsAt: Timestamp?
    /// True if the App Store has refunded or revoked it.
    package let isRevoked: Bool
    package let isRevokedByTeam: Bool
    package let terms: Terms

    package init(_ transaction: RedeemedTransaction) {
        transactionIdentifier = transaction.transactionIdentifier
        productIdentifier = transaction.productIdentifier
        purchaseDate = transaction.purchaseDate
        expiresAt = transaction.expiresAt
        graceEndsAt = transaction.graceEndsAt
        isRevoked = transaction.revocationDate != nil
        isRevokedByTeam = transaction.revocation != nil
        terms = Terms(transaction.facts)
    }

    init(_ key: TransactionKey, _ transaction: EntitlementFacts.Transaction, isRevokedByTeam: Bool) {
        transactionIdentifier = key.identifier
        productIdentifier = transaction.productIdentifier
        purchaseDate = transaction.purchaseDate
        expiresAt = transaction.status.expiresAt
        graceEndsAt = transaction.grace?.endsAt
        isRevoked = transaction.status.isRevoked
        self.isRevokedByTeam = isRevokedByTeam
        terms = transaction.stated.map { Terms($0) } ?? transaction.terms ?? Terms(TransactionFacts())
    }
}
