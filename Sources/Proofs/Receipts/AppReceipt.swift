/// The content of an app receipt (Apple, "Receipt Fields"). The numbers are the attribute types.
public struct AppReceipt: Hashable, Sendable {
    /// `Production`, `ProductionSandbox`, `ProductionVPP`, `ProductionVPPSandbox` or `Xcode` (0).
    public var receiptType: String
    /// The app's Apple ID (1). It is 0 in the sandbox and absent from Xcode's receipts since 2023.
    public var appItemID: Int64?
    public var bundleIdentifier: String
    public var applicationVersion: String
    /// An input of the device hash (4).
    public var opaqueValue: [UInt8]
    /// The SHA-1 of the device's identifier, the opaque value and the encoded bundle identifier attribute (5).
    public var deviceHash: [UInt8]
    /// The app's age rating, such as `4+` (10).
    public var ageRating: String?
    public var creationDate: Timestamp
    /// 15
    public var downloadID: Int64?
    /// 16
    public var versionExternalIdentifier: Int64?
    public var inAppPurchases: [InAppPurchase]
    public var originalPurchaseDate: Timestamp?
    public var originalApplicationVersion: String?
    /// The expiration date of a receipt of the Volume Purchase Program (21).
    public var expirationDate: Timestamp?
    /// Attributes without a documented meaning, unchanged and in their original order.
    public var otherAttributes: [ReceiptAttribute]

    public init(
        receiptType: String,
        appItemID: Int64? = nil,
        bundleIdentifier: String,
        applicationVersion: String,
        opaqueValue: [UInt8],
        deviceHash: [UInt8],
        ageRating: String? = nil,
        creationDate: Timestamp,
        downloadID: Int64? = nil,
        versionExternalIdentifier: Int64? = nil,
        inAppPurchases: [InAppPurchase],
        originalPurchaseDate: Timestamp? = nil,
        originalApplicationVersion: String? = nil,
        expirationDate: Timestamp? = nil,
        otherAttributes: [ReceiptAttribute] = []
    ) {
        self.receiptType = receiptType
        self.appItemID = appItemID
        self.bundleIdentifier = bundleIdentifier
        self.applicationVersion = applicationVersion
        self.opaqueValue = opaqueValue
        self.deviceHash = deviceHash
        self.ageRating = ageRating
        self.creationDate = creationDate
        self.downloadID = downloadID
        self.versionExternalIdentifier = versionExternalIdentifier
        self.inAppPurchases = inAppPurchases
        self.originalPurchaseDate = originalPurchaseDate
        self.originalApplicationVersion = originalApplicationVersion
        self.expirationDate = expirationDate
        self.otherAttributes = otherAttributes
    }

    /// The environment of the receipt type. Nil if Apple does not define the type.
    public var environment: AppStoreEnvironment? {
        switch receiptType {
        case "Production", "ProductionVPP": .production
        case "ProductionSandbox", "ProductionVPPSandbox": .sandbox
        case "Xcode": .xcode
        default: nil
        }
    }
}
