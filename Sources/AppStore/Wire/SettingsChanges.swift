/// Changes to the settings of the store. A nil field keeps its setting. An empty string or a zero removes it.
struct SettingsChanges: Codable, Sendable {
    /// The name of a rate in StoreKitTest.
    var timeRate: String?
    var storefront: String?
    var locale: String?
    var isAskToBuyEnabled: Bool?
    var areInterruptedPurchasesEnabled: Bool?
    var shouldEnterBillingRetryOnRenewal: Bool?
    var isBillingGracePeriodEnabled: Bool?
    /// The name of an SKError.
    var failureError: String?
    /// The error of each failing call.
    var storeKitErrors: [String: String]?
    var notificationsURL: String?
    var sharedSecret: String?
    var verifyReceiptStatus: Int64?
    var serverAPIRequestsPerMinute: Int?
}
