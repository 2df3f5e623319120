import Proofs

/// A purchase with a stated renewal.
public struct SubscribedPurchase: Hashable, Sendable {
    public let originalTransactionIdentifier: String
    public let origin: Origin
    /// The number of the app.
    package let app: Int64
    /// The last statement about the renewal.
    public let renewal: StatedRenewal
}
