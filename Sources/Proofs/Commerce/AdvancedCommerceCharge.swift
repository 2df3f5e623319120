/// A purchase that the developer's server describes, while the App Store knows a generic product in its place (Advanced Commerce API,
/// `OneTimeChargeCreateRequest` and `SubscriptionCreateRequest`).
public struct AdvancedCommerceCharge: Hashable, Sendable, Codable {
    /// Something that is bought.
    public struct Item: Hashable, Sendable, Codable {
        /// The developer's identifier of the product.
        public let sku: String
        public let displayName: String
        public let description: String
        /// In milliunits of the currency.
        public let price: Int64

        public init(sku: String, displayName: String, description: String, price: Int64) {
            (self.sku, self.displayName, self.description, self.price) = (sku, displayName, description, price)
        }
    }

    /// A subscription to all items.
    public struct Terms: Hashable, Sendable, Codable {
        public let displayName: String
        public let description: String
        public let period: SubscriptionPeriod

        public init(displayName: String, description: String, period: SubscriptionPeriod) {
            (self.displayName, self.description, self.period) = (displayName, description, period)
        }
    }

    /// One for a one-time charge, one or more for a subscription.
    public let items: [Item]
    /// Nil for a one-time charge.
    public let terms: Terms?
    public let currency: String
    public let taxCode: String
    /// The identifier of the request, as the developer's server wrote it.
    public let requestReferenceIdentifier: String

    public init(
        items: [Item],
        terms: Terms? = nil,
        currency: String,
        taxCode: String,
        requestReferenceIdentifier: String
    ) {
        (self.items, self.terms, self.currency) = (items, terms, currency)
        (self.taxCode, self.requestReferenceIdentifier) = (taxCode, requestReferenceIdentifier)
    }

    /// The price of all items.
    public var price: Price { Price(milliunits: items.reduce(0) { $0 + $1.price }, currency: currency) }
}
