import Proofs

extension SettingsResource {
    package init(_ settings: StoreSettings) {
        self.init(
            timeRate: settings.timeRate.name, storefront: settings.storefront, locale: settings.locale,
            isAskToBuyEnabled: settings.isAskToBuyEnabled,
            areInterruptedPurchasesEnabled: settings.areInterruptedPurchasesEnabled,
            shouldEnterBillingRetryOnRenewal: settings.shouldEnterBillingRetryOnRenewal,
            isBillingGracePeriodEnabled: settings.isBillingGracePeriodEnabled,
            failureError: settings.failureError.map { (SKErrorCode(rawValue: $0) ?? .unknown).name },
            storeKitErrors: settings.simulatedErrors,
            notificationsURL: settings.notificationsURL, sharedSecret: settings.sharedSecret,
            verifyReceiptStatus: settings.verifyReceiptStatus,
            serverAPIRequestsPerMinute: settings.serverAPIRequestsPerMinute)
    }
}
