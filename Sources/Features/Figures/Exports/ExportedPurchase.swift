import Proofs

/// The key of a purchase of one user.
struct ExportedPurchase: Hashable {
    /// The number of the app.
    let app: Int64
    let origin: Origin
    /// The original transaction.
    let original: ByteKey

    init(_ bought: BoughtTransaction) {
        (app, origin) = (bought.app, bought.transaction.origin)
        original = ByteKey(bought.transaction.originalTransactionIdentifier)
    }

    init(_ subscribed: SubscribedPurchase) {
        (app, origin) = (subscribed.app, subscribed.origin)
        original = ByteKey(subscribed.originalTransactionIdentifier)
    }
}
