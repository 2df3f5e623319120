import Catalog
import Commerce
import Foundation

/// How the store behaves towards everybody, as a StoreKit test session sets it (StoreKitTest, `SKTestSession`).
public struct StoreSettings: Hashable, Sendable, Codable {
    public var timeRate: TimeRate
    /// Where customers are, as ISO 3166-1 alpha-3.
    public var storefront: String
    public var locale: String
    /// Payments wait for approval.
    public var isAskToBuyEnabled: Bool
    /// Payments fail until the customer has resolved something outside the app.
    public var areInterruptedPurchasesEnabled: Bool
    /// Renewals cannot be charged.
    public var shouldEnterBillingRetryOnRenewal: Bool
    /// Of no effect unless renewals cannot be charged.
    public var isBillingGracePeriodEnabled: Bool
    /// With what every payment fails; nil where none does.
    public var failureError: Int?
    /// What calls of StoreKit's fail with (StoreKitTest, `setSimulatedError`).
    public var simulatedErrors: [StoreKitCall: StoreKitFailure] {
        get { storeKitErrors ?? [:] }
        set { storeKitErrors = newValue }
    }
    /// nil in settings that were kept by an early version.
    private var storeKitErrors: [StoreKitCall: StoreKitFailure]?
    /// Where notifications are sent; nil for nowhere.
    public var notificationsURL: URL?
    /// What `verifyReceipt` asks for where there are subscriptions (`password`); nil for anything.
    public var sharedSecret: String?
    /// What `verifyReceipt` answers whatever it is asked; nil for what is true.
    public var verifyReceiptStatus: Int64?
    /// How many requests a minute the App Store Server API answers; nil for any number.
    public var serverAPIRequestsPerMinute: Int?

    /// The settings of a configuration file, with which a store begins.
    package init(_ configuration: StoreKitConfiguration) {
        let settings = configuration.settings
        timeRate = settings.timeRate
        storefront = configuration.storefront.countryCode
        locale = settings.locale
        isAskToBuyEnabled = settings.isAskToBuyEnabled
        areInterruptedPurchasesEnabled = settings.areInterruptedPurchasesEnabled
        shouldEnterBillingRetryOnRenewal = settings.shouldEnterBillingRetryOnRenewal
        isBillingGracePeriodEnabled = settings.isBillingGracePeriodEnabled
        failureError = settings.failureError?.rawValue
        storeKitErrors = settings.storeKitErrors
    }
}
