import Proofs

extension PaymentOutcome {
    /// The outcome under the store's settings. They change only payments that would be purchased.
    package func applying(_ settings: StoreSettings) -> PaymentOutcome {
        guard self == .purchased else { return self }
        if let error = settings.failureError { return .failed(SKErrorCode(rawValue: error) ?? .unknown) }
        if settings.isAskToBuyEnabled { return .deferred }
        return settings.areInterruptedPurchasesEnabled ? .interrupted : .purchased
    }

    /// True if the customer can complete the payment, because it was interrupted.
    package func isResolvable(_ transaction: PaymentTransaction) -> Bool {
        self == .interrupted && transaction.error != nil
    }
}
