/// A fact that a signed transaction (`JWSTransactionDecodedPayload`) or a purchase in an app receipt states. The facts
/// that decide ownership are not among them.
public enum TransactionFact: String, StatedFact {
    case environment
    case type
    case inAppOwnershipType = "ownership_type"
    case transactionReason = "transaction_reason"
    case originalPurchaseDate = "original_purchase_date"
    case expiresDate = "expires_date"
    case webOrderLineItemId = "web_order_line_item_id"
    case subscriptionGroupIdentifier = "subscription_group_id"
    case isUpgraded = "is_upgraded"
    /// The price in milliunits of the currency: of the whole quantity, or of one seat on average.
    case price
    /// ISO 4217.
    case currency
    /// ISO 3166-1, three letters.
    case storefront
    case storefrontId = "storefront_id"
    case offerType = "offer_type"
    case offerIdentifier = "offer_id"
    case offerDiscountType = "offer_discount_type"
    /// ISO 8601, such as `P1M`.
    case offerPeriod = "offer_period"
    case isTrialPeriod = "is_trial_period"
    case isInIntroductoryOfferPeriod = "is_in_intro_offer_period"
    case appAccountToken = "app_account_token"
    case appTransactionId = "app_transaction_id"
    case itemId = "item_id"
    case revocationType = "revocation_type"
    /// The percentage in thousandths.
    case revocationPercentage = "revocation_percentage"
    case billingPlanType = "billing_plan_type"
    /// The text of a JSON object.
    case commitmentInfo = "commitment_info"
    /// The text of a JSON object.
    case advancedCommerceInfo = "advanced_commerce_info"
    /// The text of a JSON object.
    case multiSeatInfo = "multi_seat_info"
    case additionalTransactionReason = "additional_transaction_reason"
    /// The date of the last signed transaction about the purchase. Absent if only app receipts have stated it.
    case signedDate = "signed_date"
}

public typealias TransactionFacts = StatedFacts<TransactionFact>

extension TransactionFacts {
    /// The seats of the purchase; nil for a purchase without seats.
    public var seats: TransactionMultiSeatInfo? { object(.multiSeatInfo, TransactionMultiSeatInfo.init) }

    init(_ transaction: JWSTransactionDecodedPayload) {
        self.init()
        set(.environment, transaction.environment)
        set(.type, transaction.type)
        set(.inAppOwnershipType, transaction.inAppOwnershipType)
        set(.transactionReason, transaction.transactionReason)
        set(.originalPurchaseDate, transaction.originalPurchaseDate)
        set(.expiresDate, transaction.expiresDate)
        set(.webOrderLineItemId, transaction.webOrderLineItemId)
        set(.subscriptionGroupIdentifier, transaction.subscriptionGroupIdentifier)
        set(.isUpgraded, transaction.isUpgraded)
        set(.price, transaction.price)
        set(.currency, transaction.currency)
        set(.storefront, transaction.storefront)
        set(.storefrontId, transaction.storefrontId)
        set(.offerType, transaction.offerType)
        set(.offerIdentifier, transaction.offerIdentifier)
        set(.offerDiscountType, transaction.offerDiscountType)
        set(.offerPeriod, transaction.offerPeriod)
        set(.appAccountToken, transaction.appAccountToken?.lowercasedString)
        set(.appTransactionId, transaction.appTransactionId)
        set(.revocationType, transaction.revocationType)
        set(.revocationPercentage, transaction.revocationPercentage)
        set(.billingPlanType, transaction.billingPlanType)
        set(.commitmentInfo, transaction.fields["commitmentInfo"], ifRead: transaction.commitmentInfo)
        set(.advancedCommerceInfo, transaction.fields["advancedCommerceInfo"], ifRead: transaction.advancedCommerceInfo)
        set(.multiSeatInfo, transaction.fields["multiSeatInfo"], ifRead: transaction.multiSeatInfo)
        set(.additionalTransactionReason, transaction.additionalTransactionReason)
        set(.signedDate, transaction.signedDate)
    }

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
