import Commerce

/// A product as the service shows it, in one language.
public struct ProductResource: Codable, Sendable {
    public let productId: String
    public let type: String
    /// What buying it grants.
    public let item: Item?
    /// Where the item's picture is, which may be kept for good; absent where it has none.
    public let picture: String?
    /// What each one bought adds to a balance; absent where it grants an item.
    public let credit: Credit?
    public let displayName: String
    public let description: String
    /// Milliunits of the currency.
    public let price: Int64
    /// ISO 4217.
    public let currency: String
    public let displayPrice: String
    /// Absent where the product does not renew by itself.
    public let subscription: SubscriptionResource?
    /// Present where it is sold no more.
    public let isWithdrawn: Bool?
    /// Whether who asks owns what it grants; absent where nobody is asked about.
    public let isOwned: Bool?
    /// Whether it is on their wish list, and since when (RFC 3339, UTC).
    public let isWished: Bool?
    public let wishedAt: String?

    public init(
        _ product: Product,
        benefit: Benefit?,
        localization: Product.Localization?,
        picture: String? = nil,
        shelf: (isOwned: Bool, wishedAt: Timestamp?)? = nil,
        isWithdrawn: Bool = false
    ) {
        self.isWithdrawn = isWithdrawn ? true : nil
        isOwned = shelf?.isOwned
        isWished = shelf.map { $0.wishedAt != nil }
        wishedAt = shelf?.wishedAt?.rfc3339
        self.picture = picture
        productId = product.productIdentifier
        type = product.type.rawValue
        item = benefit?.item
        credit = if case .credit(let credit) = benefit { credit } else { nil }
        let names = [localization?.displayName, product.referenceName, product.productIdentifier]
        displayName = names.compactMap(\.self).first { !$0.isEmpty } ?? ""
        description = localization?.description ?? ""
        price = product.price.milliunits
        currency = product.price.currency
        displayPrice = product.price.formatted
        subscription = product.subscription.map(SubscriptionResource.init)
    }
}
