import Catalog
import Proofs
import Vocabulary

/// A product in one language.
package struct ProductResource: AnswerObject, Codable, Listed, Sendable {
    package static let listName = "products"
    package static let answerFields = AnswerFields<Self>("A product of the catalog.", named: "Product") {
        $0.field("productId", "The reference name, as in App Store Connect.", \.productId)
        $0.field(
            "type",
            .one(of: ProductType.self, "The type, as signed transactions name it.").example("Non-Consumable"), \.type)
        $0.field("item", .itemExample, \.item)
        $0.field("picture", "The path of the item's picture, with its version; absent if the item has none.", \.picture)
        $0.field("credit", \.credit)
        $0.field("displayName", "The text in the language of the answer.", \.displayName)
        $0.field("description", "The text in the language of the answer.", \.description)
        $0.field("price", "Milliunits of the currency.", \.price)
        $0.field("currency", "ISO 4217.", \.currency)
        $0.field("displayPrice", "The price as text.", \.displayPrice)
        $0.field("subscription", "Absent if the product does not renew automatically.", \.subscription)
        $0.field(
            "isWithdrawn", .flag("Present if the product is withdrawn from sale.").with(["const": .bool(true)]),
            \.isWithdrawn)
        $0.field(
            "isOwned", "True if the app's user owns the granted item; absent for back ends, and if profiles are off.",
            \.isOwned)
        $0.field("isWished", "True if the product is on the user's wish list; absent if `isOwned` is.", \.isWished)
        $0.field("wishedAt", .time("The time of the wish; absent without a wish."), \.wishedAt)
    }

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
package struct SubscriptionResource: AnswerObject, Codable, Sendable {
    package static let answerFields = AnswerFields<Self> {
        $0.field(
            "subscriptionGroupIdentifier",
            "The subscription group. A customer has one subscription of a group at a time.",
            \.subscriptionGroupIdentifier)
        $0.field("level", .integer("The level in the group; 1 is the highest.", in: 1 ... .max), \.level)
        $0.field("period", "ISO 8601, such as `P1M`.", \.period)
        $0.field("offers", "The offers with other prices for the first periods.", \.offers)
        $0.field("billingPlans", "The ways to pay; absent if the catalog names none.", \.billingPlans)
    }

    /// A different price for the first periods.
    package struct Offer: AnswerObject, Codable, Sendable {
        package static let answerFields = AnswerFields<Self>("An offer.") {
            $0.field(
                "offerType",
                .one(
                    of: ["introductory", "promotional", "offerCode", "winBack"], "The type of the offer."), \.offerType)
            $0.field("offerIdentifier", "Absent for an introductory offer.", \.offerIdentifier)
            $0.field("paymentMode", .one(of: SubscriptionOffer.PaymentMode.self, "The payment mode."), \.paymentMode)
            $0.field("period", "ISO 8601, such as `P1M`.", \.period)
            $0.field("periodCount", .integer("The number of periods.", in: 1 ... .max), \.periodCount)
            $0.field("price", "Milliunits; absent for a free trial.", \.price)
            $0.field(
                "billingPlanType", "The billing plan that has the offer; absent if the catalog names none.",
                \.billingPlanType)
        }

        package let offerType: String
        package let offerIdentifier: String?
        package let paymentMode: String
        package let period: String
        package let periodCount: Int
        package let price: Int64?
        package let billingPlanType: String?
    }

    /// A way to pay for the subscription.
    package struct Plan: AnswerObject, Codable, Sendable {
        package static let answerFields = AnswerFields<Self>("A billing plan.") {
            $0.field(
                "billingPlanType",
                .one(
                    of: BillingPlanType.allCases.map(\.name),
                    "`upFront`: each period is paid at its start; `monthly`: a year is paid for in twelve months."),
                \.billingPlanType)
            $0.field("period", "The time that a charge pays for, in ISO 8601, such as `P1M`.", \.period)
            $0.field("price", "The price of a charge, in milliunits of the product's currency.", \.price)
            $0.field(
                "commitmentPeriods", "The number of charges to which the customer is committed; absent for one.",
                \.commitmentPeriods)
            $0.field("commitmentPrice", "The price of all these charges; absent for one.", \.commitmentPrice)
        }

        package let billingPlanType: String
        package let period: String
        package let price: Int64
        package let commitmentPeriods: Int?
        package let commitmentPrice: Int64?

        fileprivate init(_ plan: BillingPlan, of subscription: Subscription) {
            let isCommitment = plan.type == .monthly
            billingPlanType = plan.type.name
            period = (isCommitment ? .oneMonth : subscription.period).description
            price = plan.price.milliunits
            commitmentPeriods = isCommitment ? BillingPlan.commitmentPeriods : nil
            commitmentPrice = isCommitment ? plan.commitmentPrice.milliunits : nil
        }
    }

    package let subscriptionGroupIdentifier: String
    package let level: Int
    package let period: String
    package let offers: [Offer]
    /// Nil if the catalog names none.
    package let billingPlans: [Plan]?

    init(_ subscription: Subscription) {
        subscriptionGroupIdentifier = subscription.groupIdentifier
        level = subscription.level
        period = subscription.period.description
        offers = subscription.offers.map { offer in
            Offer(
                offerType: offer.kind.name, offerIdentifier: offer.identifier,
                paymentMode: offer.paymentMode.rawValue, period: offer.period.description,
                periodCount: offer.periodCount, price: offer.price?.milliunits,
                billingPlanType: offer.billingPlanType?.name)
        }
        let plans = subscription.billingPlans.map { Plan($0, of: subscription) }
        billingPlans = plans.isEmpty ? nil : plans
    }
}

extension Schema {
    /// An item with an example, so that the examples of an object have it.
    fileprivate static let itemExample = Item.schema.example(
        .object(["collection": "sprout", "number": .integer(1)]))
}

extension Item: AnswerObject {
    package static let answerFields = AnswerFields<Self>("An item that a user can own.", named: "Item", isClosed: true)
    {
        $0.field("collection", .text("The collection.").example("sprout"), \.collection)
        $0.field(
            "number", .integer("The number in the collection. Everybody owns number 0.", in: 0 ... .max), \.number)
    }
}

extension Credit: AnswerObject, Listed {
    package static let listName = "balances"
    package static let answerFields = AnswerFields<Self>("A user's balance of one consumable.", named: "Balance") {
        $0.field("balance", "The name of the balance in the catalog.", \.balance)
        $0.field(
            "amount", .integer("The amount left to spend.", in: 0 ... .max).with(["format": "int64"]), \.amount)
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
    /// Nil for a list that is not of a user, and for a user whom the ledger knows.
    package let unknownUser: UnknownUser?

    package init(_ elements: [Element], nextCursor: String? = nil, of unknownUser: UnknownUser? = nil) {
        self.elements = elements
        self.nextCursor = nextCursor
        self.unknownUser = unknownUser
    }

    private static var elementsName: MemberName { MemberName(stringValue: Element.listName) }
    private static var cursorName: MemberName { MemberName(stringValue: "nextCursor") }
}

/// The name of a member that no declaration has.
package struct MemberName: CodingKey {
    package let stringValue: String
    package var intValue: Int? { nil }

    package init(stringValue: String) { self.stringValue = stringValue }

    package init?(intValue: Int) { nil }
}

extension List: Sendable where Element: Sendable {}

extension List: Encodable where Element: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: MemberName.self)
        try container.encode(elements, forKey: Self.elementsName)
        try container.encodeIfPresent(nextCursor, forKey: Self.cursorName)
        try unknownUser?.encode(to: encoder)
    }
}

extension List: Decodable where Element: Decodable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: MemberName.self)
        elements = try container.decode([Element].self, forKey: Self.elementsName)
        nextCursor = try container.decodeIfPresent(String.self, forKey: Self.cursorName)
        unknownUser = try? UnknownUser(from: decoder)
    }
}
