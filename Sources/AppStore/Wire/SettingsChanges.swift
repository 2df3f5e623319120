/// Changes to the settings of the store. A nil field keeps its setting. An empty string or a zero removes it.
public struct SettingsChanges: Codable, Sendable {
    /// The name of a rate in StoreKitTest.
    public let timeRate: String?
    public let storefront: String?
    public let locale: String?
    public let isAskToBuyEnabled: Bool?
    public let areInterruptedPurchasesEnabled: Bool?
    public let shouldEnterBillingRetryOnRenewal: Bool?
    public let isBillingGracePeriodEnabled: Bool?
    /// The name of an SKError.
    public let failureError: String?
    /// The error of each failing call.
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
