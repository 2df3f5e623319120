import Proofs

/// One purchase in an answer, by the plugin's name. The plugin computes from it what the customer owns.
package struct CordovaPurchase: Hashable, Sendable {
    /// The customer's decision about the next period.
    package enum RenewalIntent: String, CaseIterable, Sendable {
        case renew = "Renew"
        case lapse = "Lapse"
    }

    /// The customer's answer to a price increase.
    package enum PriceConsent: String, CaseIterable, Sendable {
        case notified = "Notified"
        case agreed = "Agreed"
    }

    package var productIdentifier: String
    /// The original transaction.
    package var purchaseIdentifier: String
    /// The last transaction.
    package var transactionIdentifier: String
    /// The date of the first transaction.
    package var purchaseDate: Timestamp
    /// The date of the last transaction of a subscription; nil for another purchase.
    package var lastRenewalDate: Timestamp?
    /// The end of access: of the paid period or its grace period, or the date of a refund. Nil for no end.
    package var expiryDate: Timestamp?
    package var isExpired: Bool
    /// Nil for a purchase that does not renew, or if the App Store has stated nothing.
    package var renewalIntent: RenewalIntent?
    /// The date of the statement that the subscription does not renew.
    package var renewalIntentChangeDate: Timestamp?
    package var cancelationReason: CancelationReason?
    /// True while the App Store retries a charge, also in the grace period.
    package var isBillingRetryPeriod = false
    package var isTrialPeriod = false
    package var isIntroPeriod = false
    /// The identifier of the offer; nil without one.
    var discountIdentifier: String?
    package var priceConsent: PriceConsent?
    package var quantity = 1
}
