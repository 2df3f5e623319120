import Foundation
import Proofs

/// The settings of the store.
package struct SettingsResource: Codable, Sendable {
    /// A rate by its name in StoreKitTest.
    package let timeRate: String
    /// The country of customers (ISO 3166-1 alpha-3).
    package let storefront: String
    package let locale: String
    package let isAskToBuyEnabled: Bool
    package let areInterruptedPurchasesEnabled: Bool
    package let shouldEnterBillingRetryOnRenewal: Bool
    package let isBillingGracePeriodEnabled: Bool
    /// The name of the SKError of every payment; nil for none.
    package var failureError: String?
    /// The error of each failing call.
    package let storeKitErrors: [StoreKitCall: StoreKitFailure]
    package var notificationsURL: URL?
    /// The password that `verifyReceipt` requires for subscriptions.
    package var sharedSecret: String?
    /// The status in every answer of `verifyReceipt`. Nil for the real one.
    package var verifyReceiptStatus: Int64?
    /// The rate limit of the App Store Server API. Nil for none.
    package var serverAPIRequestsPerMinute: Int?
}
