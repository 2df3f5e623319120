/// The fields of a signed transaction (`JWSTransactionDecodedPayload`) and of a purchase in an app receipt. The fields that
/// decide ownership are not among them.
public enum TransactionFact: String, StatedFact {
    case environment, type, inAppOwnershipType, transactionReason, originalPurchaseDate, expiresDate
    case webOrderLineItemId, subscriptionGroupIdentifier, isUpgraded, price, currency, storefront, storefrontId
    case offerType, offerIdentifier, offerDiscountType, offerPeriod, isTrialPeriod
    case isInIntroductoryOfferPeriod = "isInIntroOfferPeriod"
    case appAccountToken, appTransactionId, itemId, revocationType, revocationPercentage, billingPlanType
    case commitmentInfo, advancedCommerceInfo, multiSeatInfo, additionalTransactionReason, signedDate

    public static let byColumn = factsByColumn()

    public var field: StatedField {
        switch self {
        case .environment: .text("environment", "store environment")
        case .type: .text("type", "kind of the product")
        case .inAppOwnershipType: .text("ownership_type", "bought, shared in the family or a seat")
        case .transactionReason: .text("transaction_reason", "purchase or renewal")
        case .originalPurchaseDate: .date("original_purchase_date", "first purchase")
        case .expiresDate: .date("expires_date", "end of the paid period", by: .lastStatement)
        case .webOrderLineItemId: .text("web_order_line_item_id", "billing event")
        case .subscriptionGroupIdentifier: .text("subscription_group_id", "subscription group")
        case .isUpgraded: .bool("is_upgraded", "replaced by a higher level", by: .lastStatement)
        // Of the whole quantity, or of one seat on average.
        case .price: .integer("price", "in thousandths of the currency")
        case .currency: .text("currency", "currency")
        case .storefront: .text("storefront", "country of the App Store")
        case .storefrontId: .text("storefront_id", "storefront")
        case .offerType: .integer("offer_type", "kind of the offer")
        case .offerIdentifier: .text("offer_id", "offer")
        case .offerDiscountType: .text("offer_discount_type", "payment mode of the offer")
        case .offerPeriod: .text("offer_period", "length of the offer")
        case .isTrialPeriod: .bool("is_trial_period", "free trial", by: .appReceipts)
        case .isInIntroductoryOfferPeriod: .bool("is_in_intro_offer_period", "introductory price", by: .appReceipts)
        case .appAccountToken: .token("app_account_token", "the app's token of the customer", by: .lastStatement)
        case .appTransactionId: .text("app_transaction_id", "the customer's download of the app")
        case .itemId: .integer("item_id", "the product's Apple ID", by: .appReceipts)
        case .revocationType: .text("revocation_type", "full, prorated or family", by: .lastStatement)
        case .revocationPercentage:
            .integer("revocation_percentage", "refunded share in thousandths of a percent", by: .lastStatement)
        case .billingPlanType: .text("billing_plan_type", "billing plan")
        case .commitmentInfo:
            .object(TransactionCommitmentInfo.self, "commitment_info", "commitment", by: .lastStatement)
        case .advancedCommerceInfo:
            .object(
                AdvancedCommerceTransactionInfo.self, "advanced_commerce_info", "Advanced Commerce data",
                by: .lastStatement)
        case .multiSeatInfo:
            .object(TransactionMultiSeatInfo.self, "multi_seat_info", "seats and their prices", by: .lastStatement)
        case .additionalTransactionReason:
            .text("additional_transaction_reason", "reason of several transactions in a period", by: .lastStatement)
        // Of the last signed transaction. Absent if only app receipts have stated the purchase.
        case .signedDate: .date("signed_date", "date of the signature")
        }
    }
}

public typealias TransactionFacts = StatedFacts<TransactionFact>

extension TransactionFacts {
    /// The seats of the purchase; nil for a purchase without seats.
    public var seats: TransactionMultiSeatInfo? { object(.multiSeatInfo) }

    init(_ purchase: InAppPurchase) {
        self.init()
        set(.type, purchase.productType?.rawValue)
        set(.originalPurchaseDate, purchase.originalPurchaseDate)
        set(.expiresDate, purchase.expiresDate)
        // An app receipt writes 0 if there is no value.
        set(.webOrderLineItemId, purchase.webOrderLineItemID.flatMap { $0 == 0 ? nil : String($0) })
        set(.itemId, purchase.itemID.flatMap { $0 == 0 ? nil : $0 })
        set(.isTrialPeriod, purchase.isTrialPeriod)
        set(.isInIntroductoryOfferPeriod, purchase.isInIntroductoryOfferPeriod)
        set(.offerIdentifier, purchase.promotionalOfferIdentifier)
    }
}
