/// A product that the store sells, with its localizations (SKProduct).
public struct Product: Hashable, Sendable {
    /// A product's name and description in one language.
    public struct Localization: Hashable, Sendable {
        /// Language and region as Xcode writes them, such as `ko` or `en_US`.
        public let locale: String
        public let displayName: String
        public let description: String

        public init(locale: String, displayName: String, description: String) {
            self.locale = locale
            self.displayName = displayName
            self.description = description
        }

        /// The language part of the locale: `en` of `en_US`.
        public var language: Substring {
            locale.prefix { $0 != "_" && $0 != "-" }
        }
    }

    public let productIdentifier: String
    public let type: ProductType
    /// The developer's internal name of the product.
    public let referenceName: String
    public let price: Price
    public let isFamilyShareable: Bool
    /// The localizations in the catalog's order.
    public let localizations: [Localization]
    /// The subscription. Nil if the product does not renew automatically.
    public var subscription: Subscription? { subscriptions.first }
    /// The subscription, at most one. The array keeps a product small enough for the result of a throwing function.
    private let subscriptions: [Subscription]

    public init(
        productIdentifier: String,
        type: ProductType,
        referenceName: String = "",
        price: Price,
        isFamilyShareable: Bool,
        localizations: [Localization],
        subscription: Subscription? = nil
    ) {
        self.productIdentifier = productIdentifier
        self.type = type
        self.referenceName = referenceName
        self.price = price
        self.isFamilyShareable = isFamilyShareable
        self.localizations = localizations
        subscriptions = subscription.map { [$0] } ?? []
    }
}
