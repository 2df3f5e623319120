import Commerce

/// The attribute types with a documented or measured meaning.
private enum AttributeType {
    static let quantity = 1701
    static let productIdentifier = 1702
    static let transactionIdentifier = 1703
    static let purchaseDate = 1704
    static let originalTransactionIdentifier = 1705
    static let originalPurchaseDate = 1706
    static let productType = 1707
    static let expiresDate = 1708
    static let itemID = 1710
    static let webOrderLineItemID = 1711
    static let cancellationDate = 1712
    static let isTrialPeriod = 1713
    static let isInIntroductoryOfferPeriod = 1719
    static let promotionalOfferIdentifier = 1721
}

extension InAppPurchase {
    /// The names of the attributes for people, as in `AppReceipt`.
    static let attributeNames: [Int: String] = [
        AttributeType.quantity: "quantity", AttributeType.productIdentifier: "productId",
        AttributeType.transactionIdentifier: "transactionId", AttributeType.purchaseDate: "purchaseDate",
        AttributeType.originalTransactionIdentifier: "originalTransactionId",
        AttributeType.originalPurchaseDate: "originalPurchaseDate", AttributeType.productType: "productType",
        AttributeType.expiresDate: "expiresDate", AttributeType.itemID: "itemId",
        AttributeType.webOrderLineItemID: "webOrderLineItemId", AttributeType.cancellationDate: "cancellationDate",
        AttributeType.isTrialPeriod: "isTrialPeriod",
        AttributeType.isInIntroductoryOfferPeriod: "isInIntroductoryOfferPeriod",
        AttributeType.promotionalOfferIdentifier: "offerIdentifier",
    ]

    /// An empty purchase for `read` to fill.
    static let blank = InAppPurchase(
        quantity: 0, productIdentifier: "", transactionIdentifier: "", originalTransactionIdentifier: nil,
        purchaseDate: Timestamp(millisecondsSince1970: 0), originalPurchaseDate: nil, productType: nil)

    /// Reads the value of an in-app purchase attribute, `SET OF ReceiptAttribute`. It fills the purchase in place, like
    /// `AppReceipt`.
    mutating func read(_ reader: inout ReceiptAttributeReader) throws {
        var quantity: Int64?
        var productIdentifier: String?
        var transactionIdentifier: String?
        var purchaseDate: Timestamp?
        var hasUnreadableEnd = false
        // Apple writes seven such attributes.
        otherAttributes.reserveCapacity(8)
        while try reader.next() {
            switch reader.type {
            case AttributeType.quantity: quantity = try reader.integer()
            case AttributeType.productIdentifier: productIdentifier = try reader.string()
            case AttributeType.transactionIdentifier: transactionIdentifier = try reader.string()
            case AttributeType.purchaseDate: purchaseDate = try reader.date()
            case AttributeType.originalTransactionIdentifier: originalTransactionIdentifier = try reader.string()
            case AttributeType.originalPurchaseDate:
                originalPurchaseDate = reader.optional({ try $0.date() }, orKeepIn: &otherAttributes)
            case AttributeType.productType:
                guard let code = reader.optional({ try $0.integer() }, orKeepIn: &otherAttributes) else { continue }
                productType = ProductType(receiptCode: code)
                // An unknown number is kept unchanged.
                if productType == nil { otherAttributes.append(reader.attribute) }
            case AttributeType.expiresDate:
                let count = reader.unreadableTypes.count
                expiresDate = reader.optional({ try $0.date() }, orKeepIn: &otherAttributes)
                hasUnreadableEnd = reader.unreadableTypes.count > count
            case AttributeType.itemID: itemID = reader.optional({ try $0.integer() }, orKeepIn: &otherAttributes)
            case AttributeType.webOrderLineItemID:
                webOrderLineItemID = reader.optional({ try $0.integer() }, orKeepIn: &otherAttributes)
            case AttributeType.cancellationDate: cancellationDate = try reader.date()
            case AttributeType.isTrialPeriod:
                isTrialPeriod = reader.optional({ try $0.integer() }, orKeepIn: &otherAttributes).map { $0 != 0 }
            case AttributeType.isInIntroductoryOfferPeriod:
                isInIntroductoryOfferPeriod = reader.optional({ try $0.integer() }, orKeepIn: &otherAttributes).map {
                    $0 != 0
                }
            case AttributeType.promotionalOfferIdentifier:
                promotionalOfferIdentifier = reader.optional({ try $0.string() }, orKeepIn: &otherAttributes)
            default: otherAttributes.append(reader.attribute)
            }
        }
        // Only a subscription ends. Without its end, the customer would get nothing for the price.
        let isEndless = productType.map { $0 != .autoRenewableSubscription } ?? false
        guard !hasUnreadableEnd || isEndless else {
            throw AppReceiptError.dateInvalid(attribute: AttributeType.expiresDate)
        }
        let count = quantity ?? 1
        guard (1...Int64(Int32.max)).contains(count) else { throw AppReceiptError.quantityOutOfRange }
        self.quantity = Int(count)
        self.productIdentifier = try productIdentifier.required(AttributeType.productIdentifier)
        self.transactionIdentifier = try transactionIdentifier.required(AttributeType.transactionIdentifier)
        self.purchaseDate = try purchaseDate.required(AttributeType.purchaseDate)
    }

    /// The value of an in-app purchase attribute, in DER.
    func payload() throws -> [UInt8] {
        let attributes: [ReceiptAttribute?] = try [
            .integer(AttributeType.quantity, Int64(quantity)),
            .string(AttributeType.productIdentifier, productIdentifier),
            .string(AttributeType.transactionIdentifier, transactionIdentifier),
            .date(AttributeType.purchaseDate, purchaseDate),
            originalTransactionIdentifier.map { try .string(AttributeType.originalTransactionIdentifier, $0) },
            originalPurchaseDate.map { try .date(AttributeType.originalPurchaseDate, $0) },
            productType.map { try .integer(AttributeType.productType, $0.receiptCode) },
            .date(AttributeType.expiresDate, expiresDate),
            itemID.map { try .integer(AttributeType.itemID, $0) },
            webOrderLineItemID.map { try .integer(AttributeType.webOrderLineItemID, $0) },
            .date(AttributeType.cancellationDate, cancellationDate),
            isTrialPeriod.map { try .integer(AttributeType.isTrialPeriod, $0 ? 1 : 0) },
            isInIntroductoryOfferPeriod.map { try .integer(AttributeType.isInIntroductoryOfferPeriod, $0 ? 1 : 0) },
            promotionalOfferIdentifier.map { try .string(AttributeType.promotionalOfferIdentifier, $0) },
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
