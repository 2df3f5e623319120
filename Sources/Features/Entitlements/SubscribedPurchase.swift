import Proofs

/// A purchase with a stated renewal.
package struct SubscribedPurchase: Hashable, Sendable {
    package let originalTransactionIdentifier: String
    package let origin: Origin
    /// The number of the app.
    package let app: Int64
    /// The last statement about the renewal.
    package let renewal: StatedRenewal
}
