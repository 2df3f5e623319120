import Commerce

/// One purchase in an app receipt (Apple, "Receipt Fields", in-app purchase receipt fields).
public struct InAppPurchase: Hashable, Sendable {
    public var quantity: Int
    public var productIdentifier: String
    public var transactionIdentifier: String
    /// Absent in Xcode's receipts.
    public var originalTransactionIdentifier: String?
    public var purchaseDate: Timestamp
    /// Absent in Xcode's receipts.
    public var originalPurchaseDate: Timestamp?
    /// Absent in Xcode's receipts, and when the number is none of those known.
    public var productType: ProductType?
    /// The end of a subscription's period.
    public var expiresDate: Timestamp?
    /// When Apple took the purchase back.
    public var cancellationDate: Timestamp?
    public var otherAttributes: [ReceiptAttribute]

    public init(
        quantity: Int,
        productIdentifier: String,
        transactionIdentifier: String,
        originalTransactionIdentifier: String?,
        purchaseDate: Timestamp,
        originalPurchaseDate: Timestamp?,
        productType: ProductType?,
        expiresDate: Timestamp?,
        cancellationDate: Timestamp?,
        otherAttributes: [ReceiptAttribute]
    ) {
        self.quantity = quantity
        self.productIdentifier = productIdentifier
        self.transactionIdentifier = transactionIdentifier
        self.originalTransactionIdentifier = originalTransactionIdentifier
        self.purchaseDate = purchaseDate
        self.originalPurchaseDate = originalPurchaseDate
        self.productType = productType
        self.expiresDate = expiresDate
        self.cancellationDate = cancellationDate
        self.otherAttributes = otherAttributes
    }
}

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
    static let cancellationDate = 1712

    static let all: Set<Int> = [1701, 1702, 1703, 1704, 1705, 1706, 1708, 1712]
}

extension InAppPurchase {
    /// Reads the value of an in-app purchase attribute: `SET OF ReceiptAttribute`.
    init(payload: [UInt8]) throws {
        let attributes = try ReceiptAttributes(try ReceiptAttribute.decode(payload))
        guard let purchaseDate = try attributes.required(AttributeType.purchaseDate).date() else {
            throw AppReceiptError.attributeMissing(AttributeType.purchaseDate)
        }
        let quantity = try attributes.required(AttributeType.quantity).integer()
        guard (1...Int64(Int32.max)).contains(quantity) else { throw AppReceiptError.quantityOutOfRange }
        let productType = try attributes.integer(AttributeType.productType).flatMap(ProductType.init(receiptCode:))
        self.init(
            quantity: Int(quantity),
            productIdentifier: try attributes.required(AttributeType.productIdentifier).string(),
            transactionIdentifier: try attributes.required(AttributeType.transactionIdentifier).string(),
            originalTransactionIdentifier: try attributes.string(AttributeType.originalTransactionIdentifier),
            purchaseDate: purchaseDate,
            originalPurchaseDate: try attributes.date(AttributeType.originalPurchaseDate),
            productType: productType,
            expiresDate: try attributes.date(AttributeType.expiresDate),
            cancellationDate: try attributes.date(AttributeType.cancellationDate),
            // A product type that is not understood is kept as it came.
            otherAttributes: attributes.others(
                than: productType == nil ? AttributeType.all : AttributeType.all.union([AttributeType.productType])))
    }

    /// The value of an in-app purchase attribute, in DER.
    func payload() throws -> [UInt8] {
        var attributes = try [
            ReceiptAttribute.integer(AttributeType.quantity, Int64(quantity)),
            .string(AttributeType.productIdentifier, productIdentifier),
            .string(AttributeType.transactionIdentifier, transactionIdentifier),
            .date(AttributeType.purchaseDate, purchaseDate),
            .date(AttributeType.expiresDate, expiresDate),
            .date(AttributeType.cancellationDate, cancellationDate),
        ]
        if let originalTransactionIdentifier {
            attributes.append(try .string(AttributeType.originalTransactionIdentifier, originalTransactionIdentifier))
        }
        if let originalPurchaseDate {
            attributes.append(try .date(AttributeType.originalPurchaseDate, originalPurchaseDate))
        }
        if let productType {
            attributes.append(try .integer(AttributeType.productType, productType.receiptCode))
        }
        return try ReceiptAttribute.encode(attributes + otherAttributes)
    }
}

extension ProductType {
    /// The number of the type in an app receipt (attribute 1707).
    var receiptCode: Int64 {
        switch self {
        case .nonConsumable: 0
        case .consumable: 1
        case .nonRenewingSubscription: 2
        case .autoRenewableSubscription: 3
        }
    }

    init?(receiptCode: Int64) {
        guard let type = Self.allCases.first(where: { $0.receiptCode == receiptCode }) else { return nil }
        self = type
    }
}
