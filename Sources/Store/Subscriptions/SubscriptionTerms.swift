import Commerce

/// The facts that a subscription depends on besides itself.
package struct SubscriptionTerms: Sendable {
    /// What is for sale now.
    package let product: @Sendable (_ productIdentifier: String) -> Product?
    package let timeRate: TimeRate
    /// Of the storefront, whatever the prices of the catalog are in.
    package let currency: String
    /// Whether no renewal can be charged.
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
