import Commerce

/// The attribute types with a documented or measured meaning.
private enum AttributeType {
    static let receiptType = 0
    static let appItemID = 1
    static let bundleIdentifier = 2
    static let applicationVersion = 3
    static let opaqueValue = 4
    static let deviceHash = 5
    static let ageRating = 10
    static let creationDate = 12
    static let downloadID = 15
    static let versionExternalIdentifier = 16
    static let inAppPurchase = 17
    static let originalPurchaseDate = 18
    static let originalApplicationVersion = 19
    static let expirationDate = 21
}

extension AppReceipt {
    /// The names of the attributes for people. A fact that a JWS states, too, has the name of its field there.
    static let attributeNames: [Int: String] = [
        AttributeType.receiptType: "receiptType", AttributeType.appItemID: "appAppleId",
        AttributeType.bundleIdentifier: "bundleId", AttributeType.applicationVersion: "applicationVersion",
        AttributeType.opaqueValue: "opaqueValue", AttributeType.deviceHash: "deviceHash",
        AttributeType.ageRating: "ageRating", AttributeType.creationDate: "receiptCreationDate",
        AttributeType.downloadID: "downloadId",
        AttributeType.versionExternalIdentifier: "versionExternalIdentifier",
        AttributeType.inAppPurchase: "inAppPurchase", AttributeType.originalPurchaseDate: "originalPurchaseDate",
        AttributeType.originalApplicationVersion: "originalApplicationVersion",
        AttributeType.expirationDate: "expirationDate",
    ]

    /// The attributes whose value is bytes without a structure.
    static let opaqueAttributes: Set = [AttributeType.opaqueValue, AttributeType.deviceHash]

    /// The maximum number of purchases read from one receipt. A receipt with 12,000 of a subscriber is reported.
    package static let maximumPurchases = 20_000

    /// An empty receipt for `read` to fill.
    package static let blank = AppReceipt(
        receiptType: "", bundleIdentifier: "", applicationVersion: "", opaqueValue: [], deviceHash: [],
        creationDate: Timestamp(millisecondsSince1970: 0), inAppPurchases: [])

    /// Reads the signed content of a receipt: `SET OF ReceiptAttribute`. It fills the receipt in place, because a
    /// throwing function must not return a value this wide (`VerifiedProof.Content`).
    ///
    /// - Returns: The types of the attributes that were read as absent because of their form.
    @discardableResult
    package mutating func read(payload: [UInt8]) throws -> Set<Int> {
        var receiptType: String?
        var bundleIdentifier: String?
        var creationDate: Timestamp?
        var reader = try ReceiptAttributeReader(payload)
        while try reader.next(repeatable: AttributeType.inAppPurchase) {
            switch reader.type {
            case AttributeType.receiptType: receiptType = try reader.string()
            case AttributeType.appItemID:
                appItemID = reader.optional({ try $0.integer() }, orKeepIn: &otherAttributes)
            case AttributeType.bundleIdentifier: bundleIdentifier = try reader.string()
            case AttributeType.applicationVersion:
                applicationVersion = reader.optional({ try $0.string() }, orKeepIn: &otherAttributes) ?? ""
            case AttributeType.opaqueValue: opaqueValue = reader.bytes
            case AttributeType.deviceHash: deviceHash = reader.bytes
            case AttributeType.ageRating:
                ageRating = reader.optional({ try $0.string() }, orKeepIn: &otherAttributes)
            case AttributeType.creationDate: creationDate = try reader.date()
            case AttributeType.downloadID:
                downloadID = reader.optional({ try $0.integer() }, orKeepIn: &otherAttributes)
            case AttributeType.versionExternalIdentifier:
                versionExternalIdentifier = reader.optional({ try $0.integer() }, orKeepIn: &otherAttributes)
            case AttributeType.inAppPurchase:
                guard inAppPurchases.count < Self.maximumPurchases else {
                    throw AppReceiptError.tooManyPurchases(limit: Self.maximumPurchases)
                }
                inAppPurchases.append(.blank)
                var purchase = try reader.inner()
                try inAppPurchases[inAppPurchases.endIndex - 1].read(&purchase)
                reader.note(purchase.unreadableTypes)
            case AttributeType.originalPurchaseDate:
                originalPurchaseDate = reader.optional({ try $0.date() }, orKeepIn: &otherAttributes)
            case AttributeType.originalApplicationVersion:
                originalApplicationVersion = reader.optional({ try $0.string() }, orKeepIn: &otherAttributes)
            case AttributeType.expirationDate:
                expirationDate = reader.optional({ try $0.date() }, orKeepIn: &otherAttributes)
            default: otherAttributes.append(reader.attribute)
            }
        }
        self.receiptType = try receiptType.required(AttributeType.receiptType)
        self.bundleIdentifier = try bundleIdentifier.required(AttributeType.bundleIdentifier)
        self.creationDate = try creationDate.required(AttributeType.creationDate)
        guard environment != nil else { throw AppReceiptError.receiptTypeUnknown(self.receiptType) }
        return Set(reader.unreadableTypes)
    }

    /// The signed content in DER. As in Apple's receipts, both kinds of set are sorted.
    public func payload() throws -> [UInt8] {
        let attributes: [ReceiptAttribute?] = try [
            .string(AttributeType.receiptType, receiptType),
            appItemID.map { try .integer(AttributeType.appItemID, $0) },
            .string(AttributeType.bundleIdentifier, bundleIdentifier),
            .string(AttributeType.applicationVersion, applicationVersion),
            ReceiptAttribute(type: AttributeType.opaqueValue, version: 2, value: opaqueValue),
            ReceiptAttribute(type: AttributeType.deviceHash, value: deviceHash),
            ageRating.map { try .ia5String(AttributeType.ageRating, $0) },
            .date(AttributeType.creationDate, creationDate),
            downloadID.map { try .integer(AttributeType.downloadID, $0) },
            versionExternalIdentifier.map { try .integer(AttributeType.versionExternalIdentifier, $0) },
            originalPurchaseDate.map { try .date(AttributeType.originalPurchaseDate, $0) },
            originalApplicationVersion.map { try .string(AttributeType.originalApplicationVersion, $0) },
            expirationDate.map { try .date(AttributeType.expirationDate, $0) },
        ]
        let purchases = try inAppPurchases.map {
            ReceiptAttribute(type: AttributeType.inAppPurchase, value: try $0.payload())
        }
        return try ReceiptAttribute.encode(attributes.compactMap(\.self) + purchases + otherAttributes)
    }

    /// Reads only the creation date. The verifier needs it to validate the chain before it trusts the payload.
    ///
    /// - Returns: Nil if the payload has no readable creation date.
    static func creationDate(ofPayload payload: [UInt8]) -> Timestamp? {
        guard var reader = try? ReceiptAttributeReader(payload) else { return nil }
        while let hasNext = try? reader.next(repeatable: AttributeType.inAppPurchase), hasNext {
            if reader.type == AttributeType.creationDate { return try? reader.date() }
        }
        return nil
    }
}

extension Optional {
    /// - Throws: `AppReceiptError.attributeMissing` if the value is nil.
    func required(_ type: Int) throws -> Wrapped {
        guard let self else { throw AppReceiptError.attributeMissing(type) }
        return self
    }
}
