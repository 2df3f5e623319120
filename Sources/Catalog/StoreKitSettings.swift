import Proofs

/// The settings of a `.storekit` file for its store (Xcode's StoreKit Configuration Settings).
///
/// The indices of `_storeKitErrors` are undocumented; Till assumes the order of the SDK. The key for interrupted purchases is
/// undocumented, too. Till uses `_billingIssuesEnabled`, which is older than billing retry.
package struct StoreKitSettings: Hashable, Sendable {
    package let timeRate: TimeRate
    /// `_askToBuyEnabled`
    package let isAskToBuyEnabled: Bool
    /// `_billingIssuesEnabled`
    package let areInterruptedPurchasesEnabled: Bool
    /// `_billingGracePeriodEnabled`
    package let isBillingGracePeriodEnabled: Bool
    /// `_renewalBillingIssuesEnabled`
    package let shouldEnterBillingRetryOnRenewal: Bool
    /// The error of every payment (`_failTransactionsEnabled`, `_storeKitError`); nil if payments succeed.
    package let failureError: SKErrorCode?
    /// The simulated errors of StoreKit's calls (`_storeKitErrors`); calls that succeed are left out.
    package let storeKitErrors: [StoreKitCall: StoreKitFailure]
    /// The app's number in the App Store, in files synchronised by Xcode (`_applicationInternalID`).
    package let appAppleIdentifier: Int64?
    /// `_locale`
    package let locale: String

    init(_ settings: CatalogReader?) throws(CatalogError) {
        func flag(_ key: String) throws(CatalogError) -> Bool { try settings?.optional(key)?.bool() ?? false }
        isAskToBuyEnabled = try flag("_askToBuyEnabled")
        areInterruptedPurchasesEnabled = try flag("_billingIssuesEnabled")
        isBillingGracePeriodEnabled = try flag("_billingGracePeriodEnabled")
        shouldEnterBillingRetryOnRenewal = try flag("_renewalBillingIssuesEnabled")
        let code = try settings?.optional("_storeKitError")?.count() ?? 0
        failureError = try flag("_failTransactionsEnabled") ? SKErrorCode(rawValue: code) ?? .unknown : nil
        locale = try settings?.optionalString("_locale") ?? "en_US"
        storeKitErrors = try Self.storeKitErrors(settings)
        appAppleIdentifier = try (settings?.optionalString("_applicationInternalID")).flatMap { Int64($0) }
        // A rate that StoreKitTest has dropped means real time, as in Xcode's menu.
        timeRate = try (settings?.optional("_timeRate")?.count()).flatMap(TimeRate.init) ?? .realTime
    }

    private static let callNames: [String: StoreKitCall] = [
        "Load Products": .loadProducts, "Purchase": .purchase, "Verification": .verification,
        "App Store Sync": .appStoreSync, "Subscription Status": .subscriptionStatus, "App Transaction": .appTransaction,
        "Manage Subscriptions Sheet": .manageSubscriptionsSheet, "Refund Request Sheet": .refundRequestSheet,
        "Offer Code Redeem Sheet": .offerCodeRedeemSheet,
    ]

    /// Unknown names, types and numbers belong to a later Xcode and are ignored.
    private static func storeKitErrors(
        _ settings: CatalogReader?
    ) throws(CatalogError) -> [StoreKitCall: StoreKitFailure] {
        var errors: [StoreKitCall: StoreKitFailure] = [:]
        for entry in try settings?.optional("_storeKitErrors")?.elements() ?? [] {
            guard try entry.optional("enabled")?.bool() == true, let current = try entry.optional("current"),
                let call = callNames[try entry.required("name").text()]
            else { continue }
            let failures: [StoreKitFailure] =
                switch try current.required("type").text() {
                case "generic": StoreKitFailure.generic
                case "purchase": StoreKitFailure.ofPurchase
                case "verification": StoreKitFailure.ofVerification
                default: []
                }
            let index = try current.required("index").count()
            guard failures.indices.contains(index), call.failures.contains(failures[index]) else { continue }
            errors[call] = failures[index]
        }
        return errors
    }
}
