import Commerce

/// The attribute types with a documented or measured meaning.
private enum AttributeType {
    static let receiptType = 0
    static let bundleIdentifier = 2
    static let applicationVersion = 3
    static let opaqueValue = 4
    static let deviceHash = 5
    static let creationDate = 12
    static let inAppPurchase = 17
    static let originalPurchaseDate = 18
    static let originalApplicationVersion = 19
    static let expirationDate = 21

    static let all: Set<Int> = [0, 2, 3, 4, 5, 12, 17, 18, 19, 21]
}

extension AppReceipt {
    /// Reads the signed content of a receipt: `SET OF ReceiptAttribute`.
    init(payload: [UInt8]) throws {
        let attributes = try ReceiptAttributes(
            try ReceiptAttribute.decode(payload), repeatable: AttributeType.inAppPurchase)
        guard let creationDate = try attributes.required(AttributeType.creationDate).date() else {
            throw AppReceiptError.attributeMissing(AttributeType.creationDate)
        }
        self.init(
            receiptType: try attributes.required(AttributeType.receiptType).string(),
            bundleIdentifier: try attributes.required(AttributeType.bundleIdentifier).string(),
            applicationVersion: try attributes.required(AttributeType.applicationVersion).string(),
            opaqueValue: attributes.bytes(AttributeType.opaqueValue) ?? [],
            deviceHash: attributes.bytes(AttributeType.deviceHash) ?? [],
            creationDate: creationDate,
            originalPurchaseDate: try attributes.date(AttributeType.originalPurchaseDate),
            originalApplicationVersion: try attributes.string(AttributeType.originalApplicationVersion),
            expirationDate: try attributes.date(AttributeType.expirationDate),
            inAppPurchases: try attributes.inAppPurchases.map { try InAppPurchase(payload: $0.value) },
            otherAttributes: attributes.others(than: AttributeType.all))
        guard environment != nil else { throw AppReceiptError.receiptTypeUnknown(receiptType) }
    }

    /// The content that is signed, in DER with both kinds of set sorted, as Apple writes it.
    public func payload() throws -> [UInt8] {
        var attributes = try [
            ReceiptAttribute.string(AttributeType.receiptType, receiptType),
            .string(AttributeType.bundleIdentifier, bundleIdentifier),
            .string(AttributeType.applicationVersion, applicationVersion),
            ReceiptAttribute(type: AttributeType.opaqueValue, version: 2, value: opaqueValue),
            ReceiptAttribute(type: AttributeType.deviceHash, value: deviceHash),
            .date(AttributeType.creationDate, creationDate),
        ]
        if let originalPurchaseDate {
            attributes.append(try .date(AttributeType.originalPurchaseDate, originalPurchaseDate))
        }
        if let originalApplicationVersion {
            attributes.append(try .string(AttributeType.originalApplicationVersion, originalApplicationVersion))
        }
        if let expirationDate {
            attributes.append(try .date(AttributeType.expirationDate, expirationDate))
        }
        for purchase in inAppPurchases {
            attributes.append(ReceiptAttribute(type: AttributeType.inAppPurchase, value: try purchase.payload()))
        }
        return try ReceiptAttribute.encode(attributes + otherAttributes)
    }

    /// The creation date alone, with which the chain is judged before anything of the payload is believed.
    ///
    /// - Returns: nil when there is none to be read.
    static func creationDate(ofPayload payload: [UInt8]) -> Timestamp? {
        let attributes = try? ReceiptAttribute.decode(payload)
        return try? attributes?.first { $0.type == AttributeType.creationDate }?.date()
    }
}
