import Commerce

/// One purchase in an app receipt (Apple, "Receipt Fields", in-app purchase receipt fields; the numbers are the
/// attributes' types).
public struct InAppPurchase: Hashable, Sendable {
    public var quantity: Int
    public var productIdentifier: String
    public var transactionIdentifier: String
    /// Absent in Xcode's receipts.
    public var originalTransactionIdentifier: String?
    public var purchaseDate: Timestamp
    /// Absent in Xcode's receipts.
    public var originalPurchaseDate: Timestamp?
    /// Absent in Xcode's receipts, and when the number is none of those known (1707).
    public var productType: ProductType?
    /// The end of a subscription's period.
    public var expiresDate: Timestamp?
    /// The product's number in the App Store, 0 in the sandbox (1710).
    public var itemID: Int64?
    /// The number of a subscription's period, 0 for none (1711).
    public var webOrderLineItemID: Int64?
    /// When Apple took the purchase back (1712).
    public var cancellationDate: Timestamp?
    /// 1713
    public var isTrialPeriod: Bool?
    /// Since about 2018 (1719).
    public var isInIntroductoryOfferPeriod: Bool?
    /// 1721
    public var promotionalOfferIdentifier: String?
    /// Attributes without a documented meaning, as they were and in their order.
    public var otherAttributes: [ReceiptAttribute]

    public init(
        quantity: Int,
        productIdentifier: String,
        transactionIdentifier: String,
        originalTransactionIdentifier: String?,
        purchaseDate: Timestamp,
        originalPurchaseDate: Timestamp?,
        productType: ProductType?,
        expiresDate: Timestamp? = nil,
        itemID: Int64? = nil,
        webOrderLineItemID: Int64? = nil,
        cancellationDate: Timestamp? = nil,
        isTrialPeriod: Bool? = nil,
        isInIntroductoryOfferPeriod: Bool? = nil,
        promotionalOfferIdentifier: String? = nil,
        otherAttributes: [ReceiptAttribute] = []
    ) {
        self.quantity = quantity
        self.productIdentifier = productIdentifier
        self.transactionIdentifier = transactionIdentifier
        self.originalTransactionIdentifier = originalTransactionIdentifier
        self.purchaseDate = purchaseDate
        self.originalPurchaseDate = originalPurchaseDate
        self.productType = productType
        self.expiresDate = expiresDate
        self.itemID = itemID
        self.webOrderLineItemID = webOrderLineItemID
        self.cancellationDate = cancellationDate
        self.isTrialPeriod = isTrialPeriod
        self.isInIntroductoryOfferPeriod = isInIntroductoryOfferPeriod
        self.promotionalOfferIdentifier = promotionalOfferIdentifier
        self.otherAttributes = otherAttributes
    }
}
