/// The content of an app receipt (Apple, "Receipt Fields"). The numbers are the attribute types.
public struct AppReceipt: Hashable, Sendable {
    /// `Production`, `ProductionSandbox`, `ProductionVPP`, `ProductionVPPSandbox` or `Xcode` (0).
    public var receiptType = ""
    /// The app's Apple ID (1). It is 0 in the sandbox and absent from Xcode's receipts since 2023.
    public var appItemID: Int64?
    public var bundleIdentifier = ""
    public var applicationVersion = ""
    /// An input of the device hash (4).
    public var opaqueValue: [UInt8] = []
    /// The SHA-1 of the device's identifier, the opaque value and the encoded bundle identifier attribute (5).
    public var deviceHash: [UInt8] = []
    /// The app's age rating, such as `4+` (10).
    public var ageRating: String?
    public var creationDate = Timestamp(millisecondsSince1970: 0)
    /// 15
    public var downloadID: Int64?
    /// 16
    public var versionExternalIdentifier: Int64?
    public var inAppPurchases: [InAppPurchase] = []
    public var originalPurchaseDate: Timestamp?
    public var originalApplicationVersion: String?
    /// The expiration date of a receipt of the Volume Purchase Program (21).
    public var expirationDate: Timestamp?
    /// Attributes without a documented meaning, unchanged and in their original order.
    public var otherAttributes: [ReceiptAttribute] = []

    /// An empty receipt to fill.
    public init() {}

    /// The environment of the receipt type. Nil if Apple does not define the type.
    public var environment: AppStoreEnvironment? {
        switch receiptType {
        case "Production", "ProductionVPP": .production
        case "ProductionSandbox", "ProductionVPPSandbox": .sandbox
        case "Xcode": .xcode
        default: nil
        }
    }

    /// True if the receipt was issued for the device.
    ///
    /// - Parameter identifier: The `identifierForVendor` on iOS (16 bytes), or the primary network address on a Mac (6
    ///   bytes).
    public func isValid(forDevice identifier: [UInt8]) -> Bool {
        let hash = try? Self.deviceHash(
            identifier: identifier, opaqueValue: opaqueValue, bundleIdentifier: bundleIdentifier)
        return hash == deviceHash
    }

    /// The hash that binds a receipt to a device (Apple, "Validating receipts on the device"). It is the SHA-1 of the
    /// device's identifier, the opaque value and the encoded bundle identifier attribute.
    ///
    /// - Parameter identifier: The `identifierForVendor` on iOS (16 bytes), or the primary network address on a Mac (6
    ///   bytes).
    public static func deviceHash(
        identifier: [UInt8],
        opaqueValue: [UInt8],
        bundleIdentifier: String
    ) throws -> [UInt8] {
        let bundle = Array(try ReceiptAttribute.string(2, bundleIdentifier).value)
        return DigestAlgorithm.sha1.digest(of: identifier + opaqueValue + bundle)
    }

    /// The attributes with a documented or measured meaning, by their types. A fact that a JWS states, too, has the name of
    /// its field there.
    package enum Attribute: Int, CaseIterable {
        case receiptType = 0, appAppleId, bundleId, applicationVersion, opaqueValue, deviceHash
        case ageRating = 10
        case receiptCreationDate = 12
        case downloadId = 15, versionExternalIdentifier, inAppPurchase, originalPurchaseDate, originalApplicationVersion
        case expirationDate = 21

        package var meaning: String {
            switch self {
            case .receiptType: "store environment"
            case .appAppleId: "the app's Apple ID"
            case .bundleId: "app"
            case .applicationVersion: "version of the app"
            case .opaqueValue: "input of the binding to the device"
            case .deviceHash: "binding to the device"
            case .ageRating: "age rating"
            case .receiptCreationDate: "date of the signature"
            case .downloadId: "download"
            case .versionExternalIdentifier: "the version's Apple ID"
            case .inAppPurchase: "purchase"
            case .originalPurchaseDate: "first purchase"
            case .originalApplicationVersion: "version first downloaded"
            case .expirationDate: "end of the receipt"
            }
        }
    }

    /// The attributes whose value is bytes without a structure.
    static let opaqueAttributes: Set = [Attribute.opaqueValue.rawValue, Attribute.deviceHash.rawValue]

    /// The maximum number of purchases read from one receipt. A receipt with 12,000 of a subscriber is reported.
    package static let maximumPurchases = 20_000

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
        while try reader.next(repeatable: Attribute.inAppPurchase.rawValue) {
            switch Attribute(rawValue: reader.type) {
            case .receiptType: receiptType = try reader.string()
            case .appAppleId: appItemID = reader.optional { try $0.integer() }
            case .bundleId: bundleIdentifier = try reader.string()
            case .applicationVersion: applicationVersion = reader.optional { try $0.string() } ?? ""
            case .opaqueValue: opaqueValue = reader.bytes
            case .deviceHash: deviceHash = reader.bytes
            case .ageRating: ageRating = reader.optional { try $0.string() }
            case .receiptCreationDate: creationDate = try reader.date()
            case .downloadId: downloadID = reader.optional { try $0.integer() }
            case .versionExternalIdentifier: versionExternalIdentifier = reader.optional { try $0.integer() }
            case .inAppPurchase:
                guard inAppPurchases.count < Self.maximumPurchases else {
                    throw ProofRefusal(
                        .tooManyPurchases, "The receipt contains more than \(Self.maximumPurchases) purchases.")
                }
                inAppPurchases.append(InAppPurchase())
                var purchase = try reader.inner()
                try inAppPurchases[inAppPurchases.endIndex - 1].read(&purchase)
                reader.note(purchase.unreadableTypes)
            case .originalPurchaseDate: originalPurchaseDate = reader.optional { try $0.date() }
            case .originalApplicationVersion: originalApplicationVersion = reader.optional { try $0.string() }
            case .expirationDate: expirationDate = reader.optional { try $0.date() }
            case nil: reader.keep()
            }
        }
        otherAttributes = reader.others
        self.receiptType = try receiptType.required(Attribute.receiptType.rawValue)
        self.bundleIdentifier = try bundleIdentifier.required(Attribute.bundleId.rawValue)
        self.creationDate = try creationDate.required(Attribute.receiptCreationDate.rawValue)
        guard environment != nil else {
            throw ProofRefusal(.payloadInvalid, "Apple defines no receipt type \"\(self.receiptType.prefix(32))\".")
        }
        return Set(reader.unreadableTypes)
    }

    /// The signed content in DER. As in Apple's receipts, both kinds of set are sorted.
    public func payload() throws -> [UInt8] {
        let attributes: [ReceiptAttribute?] = try [
            .string(Attribute.receiptType.rawValue, receiptType),
            appItemID.map { try .integer(Attribute.appAppleId.rawValue, $0) },
            .string(Attribute.bundleId.rawValue, bundleIdentifier),
            .string(Attribute.applicationVersion.rawValue, applicationVersion),
            ReceiptAttribute(type: Attribute.opaqueValue.rawValue, version: 2, value: opaqueValue),
            ReceiptAttribute(type: Attribute.deviceHash.rawValue, value: deviceHash),
            ageRating.map { try .ia5String(Attribute.ageRating.rawValue, $0) },
            .date(Attribute.receiptCreationDate.rawValue, creationDate),
            downloadID.map { try .integer(Attribute.downloadId.rawValue, $0) },
            versionExternalIdentifier.map { try .integer(Attribute.versionExternalIdentifier.rawValue, $0) },
            originalPurchaseDate.map { try .date(Attribute.originalPurchaseDate.rawValue, $0) },
            originalApplicationVersion.map { try .string(Attribute.originalApplicationVersion.rawValue, $0) },
            expirationDate.map { try .date(Attribute.expirationDate.rawValue, $0) },
        ]
        let purchases = try inAppPurchases.map {
            ReceiptAttribute(type: Attribute.inAppPurchase.rawValue, value: try $0.payload())
        }
        return try ReceiptAttribute.encode(attributes.compactMap(\.self) + purchases + otherAttributes)
    }

    /// Reads only the creation date. The verifier needs it to validate the chain before it trusts the payload.
    ///
    /// - Returns: Nil if the payload has no readable creation date.
    static func creationDate(ofPayload payload: [UInt8]) -> Timestamp? {
        guard var reader = try? ReceiptAttributeReader(payload) else { return nil }
        while let hasNext = try? reader.next(repeatable: Attribute.inAppPurchase.rawValue), hasNext {
            if reader.type == Attribute.receiptCreationDate.rawValue { return try? reader.date() }
        }
        return nil
    }
}

extension Optional {
    /// - Throws: `ProofRefusal` if the value is nil.
    func required(_ type: Int) throws -> Wrapped {
        guard let self else { throw ProofRefusal(.payloadInvalid, "Attribute \(type) is missing.") }
        return self
    }
}
