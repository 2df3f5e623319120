import Commerce

/// How a `.storekit` file wants its store to behave (Xcode's StoreKit Configuration Settings).
///
/// Which index of `_storeKitErrors` means which error is not established; it is taken for the SDK's order. Neither is a key for
/// interrupted purchases; `_billingIssuesEnabled`, which is older than billing retry, is taken for it.
public struct StoreKitSettings: Hashable, Sendable {
    public let timeRate: TimeRate
    /// `_askToBuyEnabled`
    public let isAskToBuyEnabled: Bool
    /// `_billingIssuesEnabled`
    public let areInterruptedPurchasesEnabled: Bool
    /// `_billingGracePeriodEnabled`
    public let isBillingGracePeriodEnabled: Bool
    /// `_renewalBillingIssuesEnabled`
    public let shouldEnterBillingRetryOnRenewal: Bool
    /// With what every payment fails (`_failTransactionsEnabled`, `_storeKitError`); nil where none does.
    public let failureError: SKErrorCode?
    /// What calls of StoreKit's fail with (`_storeKitErrors`); calls that do not fail are left out.
    public let storeKitErrors: [StoreKitCall: StoreKitFailure]
    /// The app's number in the App Store, in files that Xcode synchronises (`_applicationInternalID`).
    public let appAppleIdentifier: Int64?
    /// `_locale`
    public let locale: String

    init(_ settings: CatalogReader?) throws(CatalogError) {
        func flag(_ key: String) throws(CatalogError) -> Bool { try settings?.optional(key)?.bool() ?? false }
        isAskToBuyEnabled = try flag("_askToBuyEnabled")
        areInterruptedPurchasesEnabled = try flag("_billingIssuesEnabled")
        isBillingGracePeriodEnabled = try flag("_billingGracePeriodEnabled")
        shouldEnterBillingRetryOnRenewal = try flag("_renewalBillingIssuesEnabled")
        let code = try settings?.optional("_storeKitError")?.count() ?? 0
        failureError = try flag("_failTransactionsEnabled") ? SKErrorCode(rawValue: code) ?? .unknown : nil
        locale = try settings?.optional("_locale")?.string() ?? "en_US"
        storeKitErrors = try Self.storeKitErrors(settings)
        appAppleIdentifier = try (settings?.optional("_applicationInternalID")?.string()).flatMap { Int64($0) }
        // A rate that StoreKitTest no longer has is real time, as in Xcode's menu.
        timeRate = try (settings?.optional("_timeRate")?.count()).flatMap(TimeRate.init) ?? .realTime
    }

    private static let callNames: [String: StoreKitCall] = [
        "Load Products": .loadProducts, "Purchase": .purchase, "Verification": .verification,
        "App Store Sync": .appStoreSync, "Subscription Status": .subscriptionStatus, "App Transaction": .appTransaction,
        "Manage Subscriptions Sheet": .manageSubscriptionsSheet, "Refund Request Sheet": .refundRequestSheet,
        "Offer Code Redeem Sheet": .offerCodeRedeemSheet,
    ]

    /// Names, types and numbers that are not known are of a later Xcode, and left alone.
    private static func storeKitErrors(
        _ settings: CatalogReader?
    ) throws(CatalogError) -> [StoreKitCall: StoreKitFailure] {
        var errors: [StoreKitCall: StoreKitFailure] = [:]
        for entry in try settings?.optional("_storeKitErrors")?.elements() ?? [] {
            guard try entry.optional("enabled")?.bool() == true, let current = try entry.optional("current"),
                let call = callNames[try entry.required("name").string()]
            else { continue }
            let failures: [StoreKitFailure] =
                switch try current.required("type").string() {
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
