import Proofs

extension CustomerInfo {
    /// A right with the purchase or grant that gives it longest.
    package struct Entitlement: Hashable, Sendable {
        /// A key of `subscriptions` or `purchases`. The SDK drops an entitlement without one.
        package var productIdentifier: String
        package var purchaseDate: Timestamp
        /// The end of access; nil for no end.
        package var expiresDate: Timestamp?
        package var gracePeriodExpiresDate: Timestamp?

        /// True if this entitlement lasts longer than another. Of two with the same end, the later purchase does.
        func lasts(longerThan other: Entitlement) -> Bool {
            if expiresDate != other.expiresDate {
                guard let expiresDate else { return true }
                return other.expiresDate.map { expiresDate > $0 } ?? false
            }
            if purchaseDate != other.purchaseDate { return purchaseDate > other.purchaseDate }
            return ByteKey(productIdentifier) < ByteKey(other.productIdentifier)
        }
    }
}
