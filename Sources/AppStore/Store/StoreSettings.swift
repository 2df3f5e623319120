import Catalog
import Foundation
import Proofs

/// The store's settings for all accounts, as a StoreKit test session has them (StoreKitTest, `SKTestSession`).
public struct StoreSettings: Hashable, Sendable, Codable {
    public var timeRate: TimeRate
    /// The storefront of all customers, as ISO 3166-1 alpha-3.
    public var storefront: String
    public var locale: String
    /// True if payments wait for approval.
    public var isAskToBuyEnabled: Bool
    /// True if payments fail until the customer has resolved an issue outside the app.
    public var areInterruptedPurchasesEnabled: Bool
    /// True if renewals cannot be charged.
    public var shouldEnterBillingRetryOnRenewal: Bool
    /// True if a grace period follows a renewal that cannot be charged.
    public var isBillingGracePeriodEnabled: Bool
    /// The error of every payment; nil if payments succeed.
    public var failureError: Int?
    /// The simulated errors of StoreKit's calls (StoreKitTest, `setSimulatedError`).
    public var simulatedErrors: [StoreKitCall: StoreKitFailure]
    /// The address that notifications are sent to; nil if notifications are off.
    public var notificationsURL: URL?
    /// The `password` that `verifyReceipt` requires for receipts with subscriptions; nil accepts any.
    public var sharedSecret: String?
    /// The status that `verifyReceipt` always answers; nil for the real status.
    public var verifyReceiptStatus: Int64?
    /// The rate limit of the App Store Server API, in requests a minute; nil for no limit.
    public var serverAPIRequestsPerMinute: Int?

    /// The initial settings, from a configuration file.
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
        simulatedErrors = settings.storeKitErrors
    }
}
