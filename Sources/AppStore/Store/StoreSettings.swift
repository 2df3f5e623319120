import Catalog
import Foundation
import Proofs

/// The store's settings for all accounts, as a StoreKit test session has them (StoreKitTest, `SKTestSession`).
package struct StoreSettings: Hashable, Sendable, Codable {
    package var timeRate: TimeRate
    /// The storefront of all customers, as ISO 3166-1 alpha-3.
    package var storefront: String
    package var locale: String
    /// True if payments wait for approval.
    package var isAskToBuyEnabled: Bool
    /// True if payments fail until the customer has resolved an issue outside the app.
    package var areInterruptedPurchasesEnabled: Bool
    /// True if renewals cannot be charged.
    package var shouldEnterBillingRetryOnRenewal: Bool
    /// True if a grace period follows a renewal that cannot be charged.
    package var isBillingGracePeriodEnabled: Bool
    /// The error of every payment; nil if payments succeed.
    package var failureError: Int?
    /// The simulated errors of StoreKit's calls (StoreKitTest, `setSimulatedError`).
    package var simulatedErrors: [StoreKitCall: StoreKitFailure]
    /// The address that notifications are sent to; nil if notifications are off.
    package var notificationsURL: URL?
    /// The `password` that `verifyReceipt` requires for receipts with subscriptions; nil accepts any.
    package var sharedSecret: String?
    /// The status that `verifyReceipt` always answers; nil for the real status.
    package var verifyReceiptStatus: Int64?
    /// The rate limit of the App Store Server API, in requests a minute; nil for no limit.
    package var serverAPIRequestsPerMinute: Int?

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
