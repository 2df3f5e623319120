import Proofs

extension CustomerInfo {
    /// A purchase that does not renew.
    package struct Purchase: Hashable, Sendable {
        /// The opaque identifier of the purchase.
        package var identifier: String
        package var store: Store
        package var isSandbox: Bool
        package var purchaseDate: Timestamp
        package var originalPurchaseDate: Timestamp
        package var storeTransactionIdentifier: String
        package var displayName: String?
        package var price: Price?
    }
}
