/// Changes to the settings of the store. A nil field stays; an empty text or a zero removes a setting.
public struct SettingsChanges: Codable, Sendable {
    /// A rate by its name in StoreKitTest.
    public let timeRate: String?
    public let storefront: String?
    public let locale: String?
    public let isAskToBuyEnabled: Bool?
    public let areInterruptedPurchasesEnabled: Bool?
    public let shouldEnterBillingRetryOnRenewal: Bool?
    public let isBillingGracePeriodEnabled: Bool?
    /// An SKError by its name.
    public let failureError: String?
    /// Errors by the calls that fail with them.
    public let storeKitErrors: [String: String]?
    public let notificationsURL: String?
    public let sharedSecret: String?
    public let verifyReceiptStatus: Int64?
    public let serverAPIRequestsPerMinute: Int?

    public init(
        timeRate: String? = nil,
        storefront: String? = nil,
        locale: String? = nil,
        isAskToBuyEnabled: Bool? = nil,
        areInterruptedPurchasesEnabled: Bool? = nil,
        shouldEnterBillingRetryOnRenewal: Bool? = nil,
        isBillingGracePeriodEnabled: Bool? = nil,
        failureError: String? = nil,
        storeKitErrors: [String: String]? = nil,
        notificationsURL: String? = nil,
        sharedSecret: String? = nil,
        verifyReceiptStatus: Int64? = nil,
        serverAPIRequestsPerMinute: Int? = nil
    ) {
        self.timeRate = timeRate
        self.storefront = storefront
        self.locale = locale
        self.isAskToBuyEnabled = isAskToBuyEnabled
        self.areInterruptedPurchasesEnabled = areInterruptedPurchasesEnabled
        self.shouldEnterBillingRetryOnRenewal = shouldEnterBillingRetryOnRenewal
        self.isBillingGracePeriodEnabled = isBillingGracePeriodEnabled
        self.failureError = failureError
        self.storeKitErrors = storeKitErrors
        self.notificationsURL = notificationsURL
        self.sharedSecret = sharedSecret
        self.verifyReceiptStatus = verifyReceiptStatus
        self.serverAPIRequestsPerMinute = serverAPIRequestsPerMinute
    }
}
