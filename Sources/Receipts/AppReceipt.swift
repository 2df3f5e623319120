import Commerce

/// What an app receipt says (Apple, "Receipt Fields"; the numbers are the attributes' types).
public struct AppReceipt: Hashable, Sendable {
    /// `Production`, `ProductionSandbox`, `ProductionVPP`, `ProductionVPPSandbox` or `Xcode` (0).
    public var receiptType: String
    /// The app's number in the App Store, 0 in the sandbox (1); absent in Xcode's receipts from 2023 on.
    public var appItemID: Int64?
    public var bundleIdentifier: String
    public var applicationVersion: String
    /// Mixed into the device's hash (4).
    public var opaqueValue: [UInt8]
    /// The SHA-1 over the device's identifier, the opaque value and the bundle identifier's attribute (5).
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
    /// When a receipt of the Volume Purchase Program ends (21).
    public var expirationDate: Timestamp?
    /// Attributes without a documented meaning, as they were and in their order.
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

    /// The environment that the receipt type stands for; nil for a type that is none of Apple's.
    public var environment: AppStoreEnvironment? {
        switch receiptType {
        case "Production", "ProductionVPP": .production
        case "ProductionSandbox", "ProductionVPPSandbox": .sandbox
        case "Xcode": .xcode
        default: nil
        }
    }
}
