/// A row of a table of Apple's fields. The ledger, the answers of the service and the console follow from it.
public struct StatedField: Sendable {
    /// The form of a value, in Apple's payloads, in the ledger and in answers.
    public enum Kind: Sendable {
        case text
        case integer
        /// In the ledger 1 or 0.
        case bool
        /// In the ledger milliseconds since 1970, in answers RFC 3339.
        case date
        /// A UUID in lower case.
        case token
        /// An array of strings. In the ledger the text of the JSON.
        case texts
        /// In the ledger the text of the JSON.
        case object
    }

    /// The statements about one transaction that decide a field.
    public enum Source: Sendable {
        /// The last one that has the field.
        case anyStatement
        /// The last signed one. Without the field, it takes back what earlier ones have stated.
        case lastStatement
        /// The app receipts. No signed transaction has the field.
        case appReceipts
        /// The signed purchases and the statements of Google Play. No proof of the App Store has the field.
        case googlePlay
    }

    /// The column of the ledger; null if the App Store has not stated the field.
    public let column: String
    public let kind: Kind
    /// The meaning in a few words.
    public let meaning: String
    public let source: Source
    /// The known fields of an object. An object in another form is absent.
    private let fields: [String: PayloadForm]

    init(
        _ column: String,
        _ kind: Kind,
        _ meaning: String,
        by source: Source = .anyStatement,
        fields: [String: PayloadForm] = [:]
    ) {
        self.column = column
        self.kind = kind
        self.meaning = meaning
        self.source = source
        self.fields = fields
    }

    /// Reads the field of a signed payload.
    func value(_ name: String, in payload: PayloadFields) throws(ProofRefusal) -> StatedValue? {
        switch kind {
        case .text: return StatedValue(try payload.string(name))
        case .integer: return StatedValue(try payload.integer(name))
        case .bool: return StatedValue(try payload.bool(name))
        case .date: return StatedValue(try payload.date(name))
        case .token: return StatedValue(try payload.uuid(name)?.lowercasedString)
        case .texts, .object:
            guard try payload.states(name, kind == .texts ? .texts : .object(fields)) else { return nil }
            return StatedValue(payload.object[name]?.compactText)
        }
    }
}

/// A table of Apple's fields. A case has Apple's name, and its raw value is the name in the answers of the service.
public protocol StatedFact: RawRepresentable<String>, CaseIterable, Hashable, Sendable {
    var field: StatedField { get }
    static var byColumn: [String: Self] { get }
}

extension StatedFact {
    static func factsByColumn() -> [String: Self] {
        Dictionary(uniqueKeysWithValues: allCases.map { ($0.field.column, $0) })
    }

    /// The position among all facts. An enumeration without associated values is stored as this number.
    @inlinable
    package var position: Int { withUnsafeBytes(of: self) { Int($0[0]) } }
}

/// The value of a fact. A date is in milliseconds since 1970. True is 1 and false is 0.
public enum StatedValue: Hashable, Sendable, Codable {
    case integer(Int64)
    case text(String)

    init?(_ text: String?) {
        guard let text else { return nil }
        self = .text(text)
    }

    init?(_ number: Int64?) {
        guard let number else { return nil }
        self = .integer(number)
    }

    /// Texts as their JSON; nil for none.
    init?(texts: [String]) {
        self.init(texts.isEmpty ? nil : JSONValue.array(texts.map { .string($0) }).compactText)
    }

    init?(_ date: Timestamp?) { self.init(date?.millisecondsSince1970) }

    init?(_ flag: Bool?) { self.init(flag.map { $0 ? 1 : 0 }) }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Int64.self) {
            self = .integer(number)
        } else {
            self = .text(try container.decode(String.self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .integer(let number): try container.encode(number)
        case .text(let text): try container.encode(text)
        }
    }
}

/// Orders integers by value and strings by bytes. Integers precede strings.
extension StatedValue: Comparable {
    public static func < (left: StatedValue, right: StatedValue) -> Bool {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): left < right
        case (.text(let left), .text(let right)): ByteKey(left) < ByteKey(right)
        case (.integer, .text): true
        case (.text, .integer): false
        }
    }
}

/// The fields of signed renewal information about a subscription (`JWSRenewalInfoDecodedPayload`).
public enum RenewalFact: String, StatedFact {
    case environment, productId, autoRenewProductId, autoRenewStatus, expirationIntent, isInBillingRetryPeriod
    case gracePeriodExpiresDate, priceIncreaseStatus, renewalDate, renewalPrice, renewalQuantity, currency, offerType
    case offerIdentifier, offerDiscountType, offerPeriod, recentSubscriptionStartDate, eligibleWinBackOfferIds
    case appAccountToken, appTransactionId, renewalBillingPlanType, commitmentInfo, advancedCommerceInfo, multiSeatInfo
    case subscriptionState, canceledBy, autoResumeTime, autoRenewBasePlanId, priceChangeState
    case cancelTime, cancelSurveyReason, pendingOrderId, installmentDetails, consentDeadlineTime, allowExtendAfterTime

    public static let byColumn = factsByColumn()

    public var field: StatedField {
        switch self {
        case .environment: .init("environment", .text, "store environment")
        case .productId: .init("product_id", .text, "product")
        case .autoRenewProductId: .init("auto_renew_product_id", .text, "product of the next renewal")
        case .autoRenewStatus: .init("auto_renew_status", .integer, "renewal")
        case .expirationIntent: .init("expiration_intent", .integer, "reason of the expiry")
        case .isInBillingRetryPeriod: .init("is_in_billing_retry_period", .bool, "the store retries the charge")
        case .gracePeriodExpiresDate: .init("grace_period_expires_date", .date, "end of the grace period")
        case .priceIncreaseStatus: .init("price_increase_status", .integer, "consent to a price increase")
        case .renewalDate: .init("renewal_date", .date, "next renewal")
        // Of one seat on average.
        case .renewalPrice: .init("renewal_price", .integer, "in thousandths of the currency")
        case .renewalQuantity: .init("renewal_quantity", .integer, "number of seats that renew")
        case .currency: .init("currency", .text, "currency")
        case .offerType: .init("offer_type", .integer, "kind of the offer")
        case .offerIdentifier: .init("offer_id", .text, "offer")
        case .offerDiscountType: .init("offer_discount_type", .text, "payment mode of the offer")
        case .offerPeriod: .init("offer_period", .text, "length of the offer")
        case .recentSubscriptionStartDate:
            .init("recent_subscription_start_date", .date, "start of the current subscription")
        case .eligibleWinBackOfferIds: .init("eligible_win_back_offer_ids", .texts, "win-back offers for the customer")
        case .appAccountToken: .init("app_account_token", .token, "the app's token of the customer")
        case .appTransactionId: .init("app_transaction_id", .text, "the customer's download of the app")
        case .renewalBillingPlanType: .init("renewal_billing_plan_type", .text, "billing plan of the next period")
        case .commitmentInfo: .init("commitment_info", .object, "commitment", fields: PayloadForm.renewalCommitment)
        case .advancedCommerceInfo:
            .init("advanced_commerce_info", .object, "Advanced Commerce data", fields: PayloadForm.renewalCommerce)
        case .multiSeatInfo:
            .init("multi_seat_info", .object, "seats and their prices", fields: PayloadForm.renewalSeats)
        case .subscriptionState: .init("subscription_state", .text, "state at Google Play", by: .googlePlay)
        case .canceledBy: .init("canceled_by", .text, "who has canceled at Google Play", by: .googlePlay)
        case .autoResumeTime: .init("auto_resume_time", .date, "end of the pause", by: .googlePlay)
        case .autoRenewBasePlanId:
            .init("auto_renew_base_plan_id", .text, "base plan of the next renewal", by: .googlePlay)
        case .priceChangeState:
            .init("price_change_state", .text, "state of the price change at Google Play", by: .googlePlay)
        case .cancelTime: .init("cancel_time", .date, "the customer's cancellation at Google Play", by: .googlePlay)
        case .cancelSurveyReason:
            .init("cancel_survey_reason", .text, "why the customer has canceled at Google Play", by: .googlePlay)
        case .pendingOrderId:
            .init("pending_order_id", .text, "order of the declined renewal at Google Play", by: .googlePlay)
        case .installmentDetails:
            .init("installment_details", .object, "committed payments at Google Play", by: .googlePlay)
        case .consentDeadlineTime:
            .init("consent_deadline_time", .date, "end of the time to consent to a price", by: .googlePlay)
        case .allowExtendAfterTime:
            .init("allow_extend_after_time", .date, "when a prepaid plan can be extended", by: .googlePlay)
        }
    }
}

public typealias RenewalFacts = StatedFacts<RenewalFact>

extension RenewalFacts {
    /// The renewal setting of the commitment of several billing periods (`AutoRenewStatus`); nil without one.
    public var commitmentAutoRenewStatus: Int64? {
        try? object(.commitmentInfo)?.integer("commitmentAutoRenewStatus")
    }

    /// The seats of the next period at each price, empty if none is stated; nil for a subscription without seats.
    public var seats: [MultiSeatPriceTier]? {
        MultiSeatPriceTier.all("renewalPriceTiers", of: object(.multiSeatInfo))
    }
}

/// Facts stated by the App Store, by name. Facts that it has not stated are absent.
public struct StatedFacts<Fact: StatedFact>: Hashable, Sendable {
    /// The values at the positions of their facts. The last one is not nil.
    @usableFromInline var slots: [StatedValue?] = []

    @inlinable
    public init(_ values: [Fact: StatedValue] = [:]) {
        for (fact, value) in values { self[fact] = value }
    }

    public var values: [Fact: StatedValue] {
        var values: [Fact: StatedValue] = [:]
        for fact in Fact.allCases { values[fact] = self[fact] }
        return values
    }

    @inlinable
    public var isEmpty: Bool { slots.isEmpty }

    @inlinable
    public subscript(fact: Fact) -> StatedValue? {
        get {
            let position = fact.position
            return position < slots.count ? slots[position] : nil
        }
        set {
            let position = fact.position
            if position < slots.count {
                slots[position] = newValue
                while case .some(nil) = slots.last { slots.removeLast() }
            } else if let newValue {
                // About as many as a table has. The list of all cases would be made anew to be counted.
                if slots.isEmpty { slots.reserveCapacity(32) }
                slots += repeatElement(nil, count: position - slots.count)
                slots.append(newValue)
            }
        }
    }

    /// Removes all facts. The memory stays for the next ones.
    @inlinable
    package mutating func removeAll() { slots.removeAll(keepingCapacity: true) }

    @inlinable
    public func text(_ fact: Fact) -> String? {
        if case .text(let text) = self[fact] { text } else { nil }
    }

    @inlinable
    public func integer(_ fact: Fact) -> Int64? {
        if case .integer(let number) = self[fact] { number } else { nil }
    }

    @inlinable
    public func bool(_ fact: Fact) -> Bool? { integer(fact).map { $0 != 0 } }

    @inlinable
    public func date(_ fact: Fact) -> Timestamp? { integer(fact).map { Timestamp(millisecondsSince1970: $0) } }
}

/// Encodes an object with one member per fact, under the name of its column. The decoder ignores unknown members.
extension StatedFacts: Codable {
    public init(from decoder: any Decoder) throws {
        let members = try [String: StatedValue](from: decoder)
        self.init(
            Dictionary(
                uniqueKeysWithValues: members.compactMap { name, value in Fact.byColumn[name].map { ($0, value) } }))
    }

    public func encode(to encoder: any Encoder) throws {
        let members = values.map { fact, value in (fact.field.column, value) }
        try Dictionary(uniqueKeysWithValues: members).encode(to: encoder)
    }
}

extension StatedFacts {
    /// Reads the fields of a signed payload.
    init(_ fields: PayloadFields) throws(ProofRefusal) {
        self.init()
        for fact in Fact.allCases {
            let field = fact.field
            if ![.appReceipts, .googlePlay].contains(field.source) {
                self[fact] = try field.value(fact.rawValue, in: fields)
            }
        }
    }

    /// Reads the JSON object of a fact; nil if it was not stated.
    func object(_ fact: Fact) -> PayloadFields? {
        guard let text = text(fact), let json = try? JSONParser.parse(Array(text.utf8)) else { return nil }
        return try? PayloadFields(json)
    }
}

/// The fields of a signed transaction (`JWSTransactionDecodedPayload`), of a purchase in an app receipt and of a signed purchase of Google
/// Play. The fields that decide ownership are not among them.
public enum TransactionFact: String, StatedFact {
    case environment, type, inAppOwnershipType, transactionReason, originalPurchaseDate, expiresDate
    case webOrderLineItemId, subscriptionGroupIdentifier, isUpgraded, price, currency, storefront, storefrontId
    case offerType, offerIdentifier, offerDiscountType, offerPeriod, isTrialPeriod
    case isInIntroductoryOfferPeriod = "isInIntroOfferPeriod"
    case appAccountToken, appTransactionId, itemId, revocationType, revocationPercentage, billingPlanType
    case commitmentInfo, advancedCommerceInfo, multiSeatInfo, additionalTransactionReason, previousOriginalTransactionId
    case signedDate
    case orderId, obfuscatedAccountId, obfuscatedProfileId, basePlanId
    case isPrepaid, recurringPrice, refundedAmount, refundedAt, replacementMode, isProrated, promotionCode
    case hasOneTimeCode
    case purchaseOptionId, offerToken, offerTags, isRental, preorderReleaseTime, salesChannel, pointsDetails
    case refundReason, voidedSource, voidedReason

    public static let byColumn = factsByColumn()

    public var field: StatedField {
        switch self {
        case .environment: .init("environment", .text, "store environment")
        case .type: .init("type", .text, "kind of the product")
        case .inAppOwnershipType: .init("ownership_type", .text, "bought, shared in the family or a seat")
        case .transactionReason: .init("transaction_reason", .text, "purchase or renewal")
        case .originalPurchaseDate: .init("original_purchase_date", .date, "first purchase")
        case .expiresDate: .init("expires_date", .date, "end of the paid period", by: .lastStatement)
        case .webOrderLineItemId: .init("web_order_line_item_id", .text, "billing event")
        case .subscriptionGroupIdentifier: .init("subscription_group_id", .text, "subscription group")
        case .isUpgraded: .init("is_upgraded", .bool, "replaced by a higher level", by: .lastStatement)
        // Of the whole quantity, or of one seat on average.
        case .price: .init("price", .integer, "in thousandths of the currency")
        case .currency: .init("currency", .text, "currency")
        case .storefront: .init("storefront", .text, "country of the App Store")
        case .storefrontId: .init("storefront_id", .text, "storefront")
        case .offerType: .init("offer_type", .integer, "kind of the offer")
        case .offerIdentifier: .init("offer_id", .text, "offer")
        case .offerDiscountType: .init("offer_discount_type", .text, "payment mode of the offer")
        case .offerPeriod: .init("offer_period", .text, "length of the offer")
        case .isTrialPeriod: .init("is_trial_period", .bool, "free trial", by: .appReceipts)
        case .isInIntroductoryOfferPeriod:
            .init("is_in_intro_offer_period", .bool, "introductory price", by: .appReceipts)
        case .appAccountToken: .init("app_account_token", .token, "the app's token of the customer", by: .lastStatement)
        case .appTransactionId: .init("app_transaction_id", .text, "the customer's download of the app")
        case .itemId: .init("item_id", .integer, "the product's Apple ID", by: .appReceipts)
        case .revocationType: .init("revocation_type", .text, "full, prorated or family", by: .lastStatement)
        case .revocationPercentage:
            .init("revocation_percentage", .integer, "refunded share in thousandths of a percent", by: .lastStatement)
        case .billingPlanType: .init("billing_plan_type", .text, "billing plan")
        case .commitmentInfo:
            .init("commitment_info", .object, "commitment", by: .lastStatement, fields: PayloadForm.commitment)
        case .advancedCommerceInfo:
            .init(
                "advanced_commerce_info", .object, "Advanced Commerce data", by: .lastStatement,
                fields: PayloadForm.commerce)
        case .multiSeatInfo:
            .init("multi_seat_info", .object, "seats and their prices", by: .lastStatement, fields: PayloadForm.seats)
        case .additionalTransactionReason:
            .init(
                "additional_transaction_reason", .text, "reason of several transactions in a period", by: .lastStatement
            )
        // App Store Server Notifications 2.16, `previousOriginalTransactionId`.
        case .previousOriginalTransactionId:
            .init("previous_original_transaction_id", .text, "original transaction before a migration")
        // Of the last signed transaction. Absent if only app receipts have stated the purchase.
        case .signedDate: .init("signed_date", .date, "date of the signature")
        case .orderId: .init("order_id", .text, "order at Google Play", by: .googlePlay)
        case .obfuscatedAccountId:
            .init("obfuscated_account_id", .text, "the app's identifier of the account", by: .googlePlay)
        case .obfuscatedProfileId:
            .init("obfuscated_profile_id", .text, "the app's identifier of the profile", by: .googlePlay)
        case .basePlanId: .init("base_plan_id", .text, "base plan at Google Play", by: .googlePlay)
        case .isPrepaid: .init("is_prepaid", .bool, "prepaid plan, which does not renew", by: .googlePlay)
        case .recurringPrice:
            .init("recurring_price", .integer, "price of the plan in thousandths of the currency", by: .googlePlay)
        case .refundedAmount:
            .init("refunded_amount", .integer, "paid back, in thousandths of the currency", by: .googlePlay)
        case .refundedAt: .init("refunded_at", .date, "date of the last refund", by: .googlePlay)
        case .replacementMode:
            .init("replacement_mode", .text, "how it has replaced another product", by: .googlePlay)
        case .isProrated: .init("is_prorated", .bool, "period for the value of a replaced plan", by: .googlePlay)
        case .promotionCode: .init("promotion_code", .text, "promotion code of the purchase", by: .googlePlay)
        case .hasOneTimeCode:
            .init("has_one_time_code", .bool, "promotion code for one customer alone", by: .googlePlay)
        case .purchaseOptionId:
            .init("purchase_option_id", .text, "purchase option at Google Play", by: .googlePlay)
        case .offerToken: .init("offer_token", .text, "token of the offer at Google Play", by: .googlePlay)
        case .offerTags: .init("offer_tags", .texts, "tags of the offer at Google Play", by: .googlePlay)
        case .isRental: .init("is_rental", .bool, "rented product, which ends", by: .googlePlay)
        case .preorderReleaseTime:
            .init("preorder_release_time", .date, "release of a pre-order at Google Play", by: .googlePlay)
        case .salesChannel: .init("sales_channel", .text, "place where the order was made", by: .googlePlay)
        case .pointsDetails: .init("points_details", .object, "Play Points of the order", by: .googlePlay)
        case .refundReason: .init("refund_reason", .text, "reason of the refund at Google Play", by: .googlePlay)
        case .voidedSource: .init("voided_source", .integer, "who has voided the purchase", by: .googlePlay)
        case .voidedReason: .init("voided_reason", .integer, "why the purchase was voided", by: .googlePlay)
        }
    }
}

public typealias TransactionFacts = StatedFacts<TransactionFact>

extension TransactionFacts {
    /// The seats of the purchase at each price, empty if none is stated; nil for a purchase without seats.
    public var seats: [MultiSeatPriceTier]? { MultiSeatPriceTier.all("priceTiers", of: object(.multiSeatInfo)) }

    /// The refunds of the items of an Advanced Commerce purchase (`advancedCommerceInfo.items[].refunds`).
    package var itemRefunds: [StatedRefund] {
        guard self[.advancedCommerceInfo] != nil else { return [] }
        let items = try? object(.advancedCommerceInfo)?.objects("items") { (item) throws(ProofRefusal) in
            try item.objects("refunds") { (refund) throws(ProofRefusal) in
                StatedRefund(amount: try refund.integer("refundAmount"), date: try refund.date("refundDate"))
            } ?? []
        }
        return items.map { $0.flatMap(\.self) } ?? []
    }

    /// The items of an Advanced Commerce purchase that the App Store has not taken back (`advancedCommerceInfo.items`); none if they
    /// have another form than Apple documents, so that no request names a wrong item.
    package var describedItems: [DescribedItem] { statedItems?.compactMap { $0.isRevoked ? nil : $0.item } ?? [] }

    /// True if an item of an Advanced Commerce purchase has another form than Apple documents, so that `describedItems` lacks it.
    package var hasUnreadableItems: Bool { statedItems?.contains { !$0.isRevoked && $0.item == nil } ?? true }

    /// The items of an Advanced Commerce purchase; none of another purchase, and nil in another form than Apple documents.
    private var statedItems: [(item: DescribedItem?, isRevoked: Bool)]? {
        guard self[.advancedCommerceInfo] != nil else { return [] }
        return try? object(.advancedCommerceInfo)?.objects("items") {
            (item) throws(ProofRefusal) -> (item: DescribedItem?, isRevoked: Bool) in
            let isRevoked = try item.date("revocationDate") != nil
            guard let sku = try item.string("SKU") else { return (nil, isRevoked) }
            let price = try item.integer("price").map { Price(milliunits: $0, currency: text(.currency) ?? "") }
            return (
                DescribedItem(sku: sku, displayName: try item.string("displayName") ?? sku, price: price), isRevoked
            )
        }
    }

    init(_ purchase: GooglePlayPurchase) {
        self.init()
        self[.orderId] = .init(purchase.orderId)
        self[.obfuscatedAccountId] = .init(purchase.obfuscatedAccountId)
        self[.obfuscatedProfileId] = .init(purchase.obfuscatedProfileId)
    }

    init(_ purchase: InAppPurchase) {
        // An app receipt writes 0 if there is no value.
        func number(_ number: Int64?) -> Int64? { number == 0 ? nil : number }
        self.init()
        self[.type] = .init(purchase.productType?.rawValue)
        self[.originalPurchaseDate] = .init(purchase.originalPurchaseDate)
        self[.expiresDate] = .init(purchase.expiresDate)
        self[.webOrderLineItemId] = .init(number(purchase.webOrderLineItemID).map { String($0) })
        self[.itemId] = .init(number(purchase.itemID))
        self[.isTrialPeriod] = .init(purchase.isTrialPeriod)
        self[.isInIntroductoryOfferPeriod] = .init(purchase.isInIntroductoryOfferPeriod)
        self[.offerIdentifier] = .init(purchase.promotionalOfferIdentifier)
    }
}

/// An item of a purchase that a server has described (Apple's Advanced Commerce API).
package struct DescribedItem: Hashable, Sendable {
    package let sku: String
    package let displayName: String
    /// Nil if it was not stated.
    package let price: Price?
}

/// The seats at one price, in milliunits of the currency for each (`priceTiers`, `renewalPriceTiers`).
public struct MultiSeatPriceTier: Hashable, Sendable, Codable {
    public let price: Int64
    public let quantity: Int64

    package init(price: Int64, quantity: Int64) { (self.price, self.quantity) = (price, quantity) }

    static func all(_ name: String, of info: PayloadFields?) -> [MultiSeatPriceTier]? {
        guard let info else { return nil }
        let tiers = try? info.objects(name) { (tier) throws(ProofRefusal) in
            MultiSeatPriceTier(price: try tier.requiredInteger("price"), quantity: try tier.requiredInteger("quantity"))
        }
        return tiers ?? []
    }
}
