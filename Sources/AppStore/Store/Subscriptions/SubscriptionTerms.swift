import Proofs

/// The external facts that a subscription depends on.
package struct SubscriptionTerms: Sendable {
    /// The product of an identifier; nil if it is not for sale.
    package let product: @Sendable (_ productIdentifier: String) -> Product?
    package let timeRate: TimeRate
    /// The storefront's currency, which may differ from the catalog's.
    package let currency: String
    /// True if no renewal can be charged.
    package let isBillingFailing: Bool
    package let isGracePeriodEnabled: Bool

    package init(
        product: @escaping @Sendable (_ productIdentifier: String) -> Product?,
        timeRate: TimeRate,
        currency: String,
        isBillingFailing: Bool,
        isGracePeriodEnabled: Bool
    ) {
        self.product = product
        self.timeRate = timeRate
        self.currency = currency
        self.isBillingFailing = isBillingFailing
        self.isGracePeriodEnabled = isGracePeriodEnabled
    }
}
