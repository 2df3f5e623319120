/// A purchase in an app receipt (Apple, "Receipt Fields"). The numbers are the attribute types.
public struct InAppPurchase: Hashable, Sendable {
    public var quantity: Int
    public var productIdentifier: String
    public var transactionIdentifier: String
    /// Absent in Xcode's receipts.
    public var originalTransactionIdentifier: String?
    public var purchaseDate: Timestamp
    /// Absent in Xcode's receipts.
    public var originalPurchaseDate: Timestamp?
    /// The product type (1707). Nil in Xcode's receipts and for unknown numbers.
    public var productType: ProductType?
    /// The end of a subscription's period.
    public var expiresDate: Timestamp?
    /// The product's Apple ID (1710). It is 0 in the sandbox.
    public var itemID: Int64?
    /// The identifier of a subscription's period (1711). It is 0 if there is none.
    public var webOrderLineItemID: Int64?
    /// The date on which Apple revoked the purchase (1712).
    public var cancellationDate: Timestamp?
    /// 1713
    public var isTrialPeriod: Bool?
    /// Present since about 2018 (1719).
    public var isInIntroductoryOfferPeriod: Bool?
    /// 1721
    public var promotionalOfferIdentifier: String?
    /// Attributes without a documented meaning, unchanged and in their original order.
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
