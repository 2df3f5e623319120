import Proofs

extension CustomerInfo {
    /// The latest period of a subscription, or a promotional grant.
    package struct Subscription: Hashable, Sendable {
        /// The kind of the period's price.
        package enum PeriodType: String, Sendable, CaseIterable {
            case normal, intro, trial
        }

        package enum Ownership: String, Sendable, CaseIterable {
            case purchased = "PURCHASED"
            case familyShared = "FAMILY_SHARED"
        }

        package var store: Store
        package var isSandbox: Bool
        package var purchaseDate: Timestamp
        package var originalPurchaseDate: Timestamp
        /// The end of access: of the paid period or its grace period, or the date of a refund. Nil for no end.
        package var expiresDate: Timestamp?
        package var periodType = PeriodType.normal
        package var ownership = Ownership.purchased
        package var unsubscribeDetectedAt: Timestamp?
        package var billingIssuesDetectedAt: Timestamp?
        package var gracePeriodExpiresDate: Timestamp?
        package var refundedAt: Timestamp?
        /// Nil for a promotional grant.
        package var storeTransactionIdentifier: String?
        package var displayName: String?
        package var price: Price?

        /// True if the customer has access at a moment.
        package func isActive(at moment: Timestamp) -> Bool { expiresDate.map { $0 > moment } ?? true }
    }
}
