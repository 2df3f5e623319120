import Foundation
import Proofs

/// The settings of the store.
public struct SettingsResource: Codable, Sendable {
    /// A rate by its name in StoreKitTest.
    public let timeRate: String
    /// The country of customers (ISO 3166-1 alpha-3).
    public let storefront: String
    public let locale: String
    public let isAskToBuyEnabled: Bool
    public let areInterruptedPurchasesEnabled: Bool
    public let shouldEnterBillingRetryOnRenewal: Bool
    public let isBillingGracePeriodEnabled: Bool
    /// The name of the SKError of every payment; nil for none.
    public let failureError: String?
    /// The error of each failing call.
    public let storeKitErrors: [StoreKitCall: StoreKitFailure]
    public let notificationsURL: URL?
    /// The password that `verifyReceipt` requires for subscriptions.
    public let sharedSecret: String?
    /// The status in every answer of `verifyReceipt`. Nil for the real one.
    public let verifyReceiptStatus: Int64?
    /// The rate limit of the App Store Server API. Nil for none.
    public let serverAPIRequestsPerMinute: Int?

    public init(
        timeRate: String,
        storefront: String,
        locale: String,
        isAskToBuyEnabled: Bool,
        areInterruptedPurchasesEnabled: Bool,
        shouldEnterBillingRetryOnRenewal: Bool,
        isBillingGracePeriodEnabled: Bool,
        failureError: String? = nil,
        storeKitErrors: [StoreKitCall: StoreKitFailure],
        notificationsURL: URL? = nil,
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
