import Commerce

/// A product as the service shows it, in one language.
public struct ProductResource: Codable, Sendable {
    public let productId: String
    public let type: String
    /// The item that a purchase grants.
    public let item: Item?
    /// The address of the item's picture, cacheable without end; nil without a picture.
    public let picture: String?
    /// The credit that each unit adds to a balance; nil for a product that grants an item.
    public let credit: Credit?
    public let displayName: String
    public let description: String
    /// Milliunits of the currency.
    public let price: Int64
    /// ISO 4217.
    public let currency: String
    public let displayPrice: String
    /// Nil for a product that is no subscription.
    public let subscription: SubscriptionResource?
    /// True for a product that is no longer sold; otherwise nil.
    public let isWithdrawn: Bool?
    /// True if the requesting user owns the item; nil in an answer that is not about a user.
    public let isOwned: Bool?
    /// True if the product is on the requesting user's wish list.
    public let isWished: Bool?
    /// The date of the wish (RFC 3339, UTC).
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
