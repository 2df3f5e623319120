import Commerce
import Store
import Wire

extension SettingsResource {
    init(_ settings: StoreSettings) {
        self.init(
            timeRate: settings.timeRate, storefront: settings.storefront, locale: settings.locale,
            isAskToBuyEnabled: settings.isAskToBuyEnabled,
            areInterruptedPurchasesEnabled: settings.areInterruptedPurchasesEnabled,
            shouldEnterBillingRetryOnRenewal: settings.shouldEnterBillingRetryOnRenewal,
            isBillingGracePeriodEnabled: settings.isBillingGracePeriodEnabled,
            failureError: settings.failureError, storeKitErrors: settings.simulatedErrors,
            notificationsURL: settings.notificationsURL, sharedSecret: settings.sharedSecret,
            verifyReceiptStatus: settings.verifyReceiptStatus,
            serverAPIRequestsPerMinute: settings.serverAPIRequestsPerMinute)
    }
}
