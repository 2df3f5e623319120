import Proofs

/// A product in one language.
package struct ProductResource: Codable, Listed, Sendable {
    package static let listName = "products"

    package let productId: String
    package let type: String
    /// The item that a purchase grants.
    package let item: Item?
    /// The address of the item's picture, which clients may cache without limit. Nil if it has none.
    package let picture: String?
    /// The credit that each unit adds to a balance. Nil if the product grants an item.
    package let credit: Credit?
    package let displayName: String
    package let description: String
    /// The price in milliunits of the currency.
    package let price: Int64
    /// ISO 4217.
    package let currency: String
    package let displayPrice: String
    /// The terms of the subscription. Nil for other products.
    package let subscription: SubscriptionResource?
    /// True if the product is no longer sold, otherwise nil.
    package let isWithdrawn: Bool?
    /// True if the requesting user owns the item. Nil if the response is not about a user.
    package let isOwned: Bool?
    /// True if the product is on the requesting user's wish list.
    package let isWished: Bool?
    /// The date of the wish (RFC 3339, UTC).
    package let wishedAt: String?

    package init(
        _ product: Product,
        benefit: Benefit?,
        localization: Product.Localization?,
        picture: String? = nil,
        userState: (isOwned: Bool, wishedAt: Timestamp?)? = nil,
        isWithdrawn: Bool = false
    ) {
        self.isWithdrawn = isWithdrawn ? true : nil
        isOwned = userState?.isOwned
        isWished = userState.map { $0.wishedAt != nil }
        wishedAt = userState?.wishedAt?.rfc3339
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

/// The terms of a subscription.
package struct SubscriptionResource: Codable, Sendable {
    /// A different price for the first periods.
    package struct Offer: Codable, Sendable {
        /// `introductory`, `promotional`, `offerCode` or `winBack`.
        package let offerType: String
        /// The identifier. Nil for an introductory offer.
        package let offerIdentifier: String?
        /// `free`, `payAsYouGo` or `payUpFront`.
        package let paymentMode: String
        /// ISO 8601, such as `P1M`.
        package let period: String
        package let periodCount: Int
        /// The price in milliunits of the product's currency. Nil for a free trial.
        package let price: Int64?
    }

    package let subscriptionGroupIdentifier: String
    /// The rank in the group. 1 is the highest.
    package let level: Int
    /// ISO 8601, such as `P1M`.
    package let period: String
    package let offers: [Offer]

    init(_ subscription: Subscription) {
        subscriptionGroupIdentifier = subscription.groupIdentifier
        level = subscription.level
        period = subscription.period.description
        offers = subscription.offers.map { offer in
            Offer(
                offerType: offer.kind.name, offerIdentifier: offer.identifier,
                paymentMode: offer.paymentMode.rawValue, period: offer.period.description,
                periodCount: offer.periodCount, price: offer.price?.milliunits)
        }
    }
}

extension ProductResource: SchemaSource {
    package static let schema = Schema(
        of: ProductResource.self, named: "Product", "A product of the catalog.",
        [
            "productId": "The reference name, as in App Store Connect.",
            "type": .one(of: ProductType.self, "The type, as signed transactions name it."),
            "picture": "The path of the item's picture, with its version; absent if the item has none.",
            "displayName": "The text in the language of the answer.",
            "description": "The text in the language of the answer.",
            "price": "Milliunits of the currency.",
            "currency": "ISO 4217.",
            "displayPrice": "The price as text.",
            "subscription": "Absent if the product does not renew automatically.",
            "isOwned": "True if the app's user owns the granted item; absent for back ends, and if profiles are off.",
            "isWished": "True if the product is on the user's wish list; absent if `isOwned` is.",
            "wishedAt": .time("The time of the wish; absent without a wish."),
            "isWithdrawn": .flag("Present if the product is withdrawn from sale.").with(["const": .bool(true)]),
        ])
}

extension SubscriptionResource: SchemaSource {
    package static let schema = Schema(
        of: SubscriptionResource.self, nil,
        [
            "subscriptionGroupIdentifier":
                "The subscription group. A customer has one subscription of a group at a time.",
            "level": .integer("The level in the group; 1 is the highest.", in: 1 ... .max),
            "period": "ISO 8601, such as `P1M`.",
            "offers": "The offers with other prices for the first periods.",
        ])
}

extension SubscriptionResource.Offer: SchemaSource {
    package static let schema = Schema(
        of: SubscriptionResource.Offer.self, "An offer.",
        [
            "offerType": .one(of: ["introductory", "promotional", "offerCode", "winBack"], "The type of the offer."),
            "offerIdentifier": "Absent for an introductory offer.",
            "paymentMode": .one(of: SubscriptionOffer.PaymentMode.self, "The payment mode."),
            "period": "ISO 8601, such as `P1M`.",
            "periodCount": .integer("The number of periods.", in: 1 ... .max),
            "price": "Milliunits; absent for a free trial.",
        ])
}

/// An element of the lists in answers.
package protocol Listed {
    /// The field of an answer that has the elements.
    static var listName: String { get }
}

/// A list in an answer, or a page of one.
package struct List<Element: Listed> {
    package let elements: [Element]
    /// The `cursor` of the next page. Nil on the last page, and for a list without pages.
    package let nextCursor: String?

    package init(_ elements: [Element], nextCursor: String? = nil) {
        self.elements = elements
        self.nextCursor = nextCursor
    }

    private struct Key: CodingKey {
        static var elements: Key { Key(stringValue: Element.listName) }
        static var nextCursor: Key { Key(stringValue: "nextCursor") }

        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }

        init?(intValue: Int) { return nil }
    }
}

extension List: Sendable where Element: Sendable {}

extension List: Encodable where Element: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(elements, forKey: .elements)
        try container.encodeIfPresent(nextCursor, forKey: .nextCursor)
    }
}

extension List: Decodable where Element: Decodable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        elements = try container.decode([Element].self, forKey: .elements)
        nextCursor = try container.decodeIfPresent(String.self, forKey: .nextCursor)
    }
}
