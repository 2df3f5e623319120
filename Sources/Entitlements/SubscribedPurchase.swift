import Commerce
import Receipts

/// A purchase about whose renewal the App Store has stated something.
public struct SubscribedPurchase: Hashable, Sendable {
    public let originalTransactionIdentifier: String
    public let origin: Origin
    /// The number of the app.
    package let app: Int64
    /// The last statement.
    public let renewal: StatedRenewal
}
