/// A purchase in an app receipt (Apple, "Receipt Fields"). The numbers are the attribute types.
public struct InAppPurchase: Hashable, Sendable {
    public var quantity = 1
    public var productIdentifier = ""
    public var transactionIdentifier = ""
    /// Absent in Xcode's receipts.
    public var originalTransactionIdentifier: String?
    public var purchaseDate = Timestamp(millisecondsSince1970: 0)
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
    public var otherAttributes: [ReceiptAttribute] = []

    /// An empty purchase to fill.
    public init() {}

    /// The attributes with a documented or measured meaning, named as in `AppReceipt`.
    package enum Attribute: Int, CaseIterable {
        case quantity = 1701, productId, transactionId, purchaseDate, originalTransactionId, originalPurchaseDate
        case productType, expiresDate
        case itemId = 1710, webOrderLineItemId, cancellationDate, isTrialPeriod
        case isInIntroductoryOfferPeriod = 1719
        case offerIdentifier = 1721

        package var meaning: String {
            switch self {
            case .quantity: "number bought"
            case .productId: "product"
            case .transactionId: "transaction"
            case .purchaseDate: "purchase or renewal"
            case .originalTransactionId: "first transaction of the purchase"
            case .originalPurchaseDate: "first purchase"
            case .productType: "kind of the product"
            case .expiresDate: "end of the paid period"
            case .itemId: "the product's Apple ID"
            case .webOrderLineItemId: "billing event"
            case .cancellationDate: "refund or revocation"
            case .isTrialPeriod: "free trial"
            case .isInIntroductoryOfferPeriod: "introductory price"
            case .offerIdentifier: "offer"
            }
        }
    }

    /// Reads the value of an in-app purchase attribute, `SET OF ReceiptAttribute`. It fills the purchase in place, like
    /// `AppReceipt`.
    mutating func read(_ reader: inout ReceiptAttributeReader) throws {
        var quantity: Int64?
        var productIdentifier: String?
        var transactionIdentifier: String?
        var purchaseDate: Timestamp?
        var hasUnreadableEnd = false
        while try reader.next() {
            switch Attribute(rawValue: reader.type) {
            case .quantity: quantity = try reader.integer()
            case .productId: productIdentifier = try reader.string()
            case .transactionId: transactionIdentifier = try reader.string()
            case .purchaseDate: purchaseDate = try reader.date()
            case .originalTransactionId: originalTransactionIdentifier = try reader.string()
            case .originalPurchaseDate: originalPurchaseDate = reader.optional { try $0.date() }
            case .productType:
                guard let code = reader.optional({ try $0.integer() }) else { continue }
                productType = ProductType(receiptCode: code)
                // An unknown number is kept unchanged.
                if productType == nil { reader.keep() }
            case .expiresDate:
                let count = reader.unreadableTypes.count
                expiresDate = reader.optional { try $0.date() }
                hasUnreadableEnd = reader.unreadableTypes.count > count
            case .itemId: itemID = reader.optional { try $0.integer() }
            case .webOrderLineItemId: webOrderLineItemID = reader.optional { try $0.integer() }
            case .cancellationDate: cancellationDate = try reader.date()
            case .isTrialPeriod: isTrialPeriod = reader.optional { try $0.integer() }.map { $0 != 0 }
            case .isInIntroductoryOfferPeriod:
                isInIntroductoryOfferPeriod = reader.optional { try $0.integer() }.map { $0 != 0 }
            case .offerIdentifier: promotionalOfferIdentifier = reader.optional { try $0.string() }
            case nil: reader.keep()
            }
        }
        otherAttributes = reader.others
        // Only a subscription ends. Without its end, the customer would get nothing for the price.
        let isEndless = productType.map { $0 != .autoRenewableSubscription } ?? false
        guard !hasUnreadableEnd || isEndless else {
            throw ProofRefusal(.payloadInvalid, "Attribute \(Attribute.expiresDate.rawValue) must be a date.")
        }
        let count = quantity ?? 1
        guard (1...Int64(Int32.max)).contains(count) else {
            throw ProofRefusal(.payloadInvalid, "A quantity must be from 1 to \(Int32.max).")
        }
        self.quantity = Int(count)
        self.productIdentifier = try productIdentifier.required(Attribute.productId.rawValue)
        self.transactionIdentifier = try transactionIdentifier.required(Attribute.transactionId.rawValue)
        self.purchaseDate = try purchaseDate.required(Attribute.purchaseDate.rawValue)
    }

    /// The value of an in-app purchase attribute, in DER.
    func payload() throws -> [UInt8] {
        let attributes: [ReceiptAttribute?] = try [
            .integer(Attribute.quantity.rawValue, Int64(quantity)),
            .string(Attribute.productId.rawValue, productIdentifier),
            .string(Attribute.transactionId.rawValue, transactionIdentifier),
            .date(Attribute.purchaseDate.rawValue, purchaseDate),
            originalTransactionIdentifier.map { try .string(Attribute.originalTransactionId.rawValue, $0) },
            originalPurchaseDate.map { try .date(Attribute.originalPurchaseDate.rawValue, $0) },
            productType.map { try .integer(Attribute.productType.rawValue, $0.receiptCode) },
            .date(Attribute.expiresDate.rawValue, expiresDate),
            itemID.map { try .integer(Attribute.itemId.rawValue, $0) },
            webOrderLineItemID.map { try .integer(Attribute.webOrderLineItemId.rawValue, $0) },
            .date(Attribute.cancellationDate.rawValue, cancellationDate),
            isTrialPeriod.map { try .integer(Attribute.isTrialPeriod.rawValue, $0 ? 1 : 0) },
            isInIntroductoryOfferPeriod.map {
                try .integer(Attribute.isInIntroductoryOfferPeriod.rawValue, $0 ? 1 : 0)
            },
            promotionalOfferIdentifier.map { try .string(Attribute.offerIdentifier.rawValue, $0) },
        ]
        return try ReceiptAttribute.encode(attributes.compactMap(\.self) + otherAttributes)
    }
}

extension ProductType {
    /// The number of the type in an app receipt (attribute 1707).
    fileprivate var receiptCode: Int64 {
        switch self {
        case .nonConsumable: 0
        case .consumable: 1
        case .nonRenewingSubscription: 2
        case .autoRenewableSubscription: 3
        }
    }

    fileprivate init?(receiptCode: Int64) {
        guard let type = Self.allCases.first(where: { $0.receiptCode == receiptCode }) else { return nil }
        self = type
    }
}
