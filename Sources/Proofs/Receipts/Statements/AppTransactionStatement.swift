/// A store's statement about an account's purchase of the app (StoreKit, `AppTransaction`).
public struct AppTransactionStatement: Sendable {
    private let bundleIdentifier: String
    private let appAppleIdentifier: Int64?
    private let environment: AppStoreEnvironment
    private let appTransactionIdentifier: String

    /// - Parameter appAppleIdentifier: The app's Apple ID, or nil in the sandbox.
    public init(
        bundleIdentifier: String,
        appAppleIdentifier: Int64?,
        environment: AppStoreEnvironment,
        appTransactionIdentifier: String
    ) {
        self.bundleIdentifier = bundleIdentifier
        self.appAppleIdentifier = appAppleIdentifier
        self.environment = environment
        self.appTransactionIdentifier = appTransactionIdentifier
    }

    /// Returns the statement. Every app in Apple's sandbox has this version, platform and original purchase date.
    public func statement(at signedDate: Timestamp) -> SignedStatement {
        var fields = StatementFields()
        fields.set("receiptType", environment)
        fields.set("appAppleId", appAppleIdentifier)
        fields.set("bundleId", bundleIdentifier)
        fields.set("applicationVersion", "1")
        fields.set("versionExternalIdentifier", 0)
        fields.set("receiptCreationDate", signedDate)
        fields.set("originalPurchaseDate", Timestamp(rfc3339: "2013-08-01T07:00:00Z"))
        fields.set("originalApplicationVersion", "1.0")
        fields.set("appTransactionId", appTransactionIdentifier)
        fields.set("originalPlatform", PurchasePlatform.iOS)
        return SignedStatement(fields: fields.object)
    }
}
