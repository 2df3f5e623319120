/// Something the store sells, with its texts in each language it has (SKProduct).
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
    /// What its makers call it among themselves.
    public let referenceName: String
    public let price: Price
    public let isFamilyShareable: Bool
    /// In the catalog's order.
    public let localizations: [Localization]
    /// nil for a product that does not renew by itself.
    public var subscription: Subscription? { subscriptions.first }
    /// At most one; behind an array, so that a product stays small enough to be returned by what throws.
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
