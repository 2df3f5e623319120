import Proofs

/// A product in one language.
package struct ProductResource: Codable, Listed, SchemaSource, Sendable {
    package static let listName = "products"
    package static let schema = Schema(of: Self.self, named: "Product", "A product of the catalog.").noting([
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

    package let productId: String
    package let type: String
    /// The item that a purchase grants.
    package let item: Item?
    package let picture: String?
    /// The credit that each unit adds to a balance. Nil if the product grants an item.
    package let credit: Credit?
    package let displayName: String
    package let description: String
    package let price: Int64
    package let currency: String
    package let displayPrice: String
    package let subscription: SubscriptionResource?
    package let isWithdrawn: Bool?
    package let isOwned: Bool?
    package let isWished: Bool?
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
package struct SubscriptionResource: Codable, SchemaSource, Sendable {
    package static let schema = Schema(of: Self.self).noting([
        "subscriptionGroupIdentifier":
            "The subscription group. A customer has one subscription of a group at a time.",
        "level": .integer("The level in the group; 1 is the highest.", in: 1 ... .max),
        "period": "ISO 8601, such as `P1M`.",
        "offers": "The offers with other prices for the first periods.",
    ])

    /// A different price for the first periods.
    package struct Offer: Codable, SchemaSource, Sendable {
        package static let schema = Schema(of: Self.self, "An offer.").noting([
            "offerType": .one(
                of: ["introductory", "promotional", "offerCode", "winBack"], "The type of the offer."),
            "offerIdentifier": "Absent for an introductory offer.",
            "paymentMode": .one(of: SubscriptionOffer.PaymentMode.self, "The payment mode."),
            "period": "ISO 8601, such as `P1M`.",
            "periodCount": .integer("The number of periods.", in: 1 ... .max),
            "price": "Milliunits; absent for a free trial.",
        ])

        package let offerType: String
        package let offerIdentifier: String?
        package let paymentMode: String
        package let period: String
        package let periodCount: Int
        package let price: Int64?
    }

    package let subscriptionGroupIdentifier: String
    package let level: Int
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
