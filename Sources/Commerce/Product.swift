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
    public let price: Price
    public let isFamilyShareable: Bool
    /// In the catalog's order; never empty.
    public let localizations: [Localization]

    public init(
        productIdentifier: String,
        type: ProductType,
        price: Price,
        isFamilyShareable: Bool,
        localizations: [Localization]
    ) {
        self.productIdentifier = productIdentifier
        self.type = type
        self.price = price
        self.isFamilyShareable = isFamilyShareable
        self.localizations = localizations
    }
}
