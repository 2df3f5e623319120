import Commerce

/// What an app receipt says (Apple, "Receipt Fields").
public struct AppReceipt: Hashable, Sendable {
    /// `Production`, `ProductionSandbox`, `ProductionVPP`, `ProductionVPPSandbox` or `Xcode`.
    public var receiptType: String
    public var bundleIdentifier: String
    public var applicationVersion: String
    /// Mixed into the device's hash.
    public var opaqueValue: [UInt8]
    /// The SHA-1 over the device's identifier, the opaque value and the bundle identifier's attribute.
    public var deviceHash: [UInt8]
    public var creationDate: Timestamp
    public var originalPurchaseDate: Timestamp?
    public var originalApplicationVersion: String?
    public var expirationDate: Timestamp?
    public var inAppPurchases: [InAppPurchase]
    /// Attributes without a documented meaning, as they were.
    public var otherAttributes: [ReceiptAttribute]

    public init(
        receiptType: String,
        bundleIdentifier: String,
        applicationVersion: String,
        opaqueValue: [UInt8],
        deviceHash: [UInt8],
        creationDate: Timestamp,
        originalPurchaseDate: Timestamp?,
        originalApplicationVersion: String?,
        expirationDate: Timestamp?,
        inAppPurchases: [InAppPurchase],
        otherAttributes: [ReceiptAttribute]
    ) {
        self.receiptType = receiptType
        self.bundleIdentifier = bundleIdentifier
        self.applicationVersion = applicationVersion
        self.opaqueValue = opaqueValue
        self.deviceHash = deviceHash
        self.creationDate = creationDate
        self.originalPurchaseDate = originalPurchaseDate
        self.originalApplicationVersion = originalApplicationVersion
        self.expirationDate = expirationDate
        self.inAppPurchases = inAppPurchases
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
