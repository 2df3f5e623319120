import Features
import Proofs

extension UserSubscriptionResource {
    init(_ status: PurchaseStatus) {
        self.init(
            originalTransactionId: status.originalTransactionIdentifier, origin: status.origin,
            productId: status.productIdentifier, state: status.state.rawValue, since: status.since.rfc3339,
            until: status.until?.rfc3339, renews: status.renews, nextProductId: status.nextProductIdentifier,
            expirationReason: status.expirationReason?.rawValue)
    }
}
