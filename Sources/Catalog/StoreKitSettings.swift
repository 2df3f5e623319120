import Commerce

/// How a `.storekit` file wants its store to behave (Xcode's StoreKit Configuration Settings).
///
/// `_storeKitErrors` is kept in the file and not acted upon: which index means which error is not established. Neither is a
/// key for interrupted purchases; `_billingIssuesEnabled`, which is older than billing retry, is taken for it.
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
        // A rate that StoreKitTest no longer has is real time, as in Xcode's menu.
        timeRate = try (settings?.optional("_timeRate")?.count()).flatMap(TimeRate.init) ?? .realTime
    }
}
