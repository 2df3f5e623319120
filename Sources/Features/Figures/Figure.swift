/// A figure of the service. The raw value is the name in the API.
package enum Figure: String, CaseIterable, Sendable {
    case units
    case transactions
    case withoutPrice = "without-price"
    case revenue
    case refunds
    case refundedRevenue = "refunded-revenue"
    case refundRate = "refund-rate"
    case newCustomers = "new-customers"
    case activeSubscriptions = "active-subscriptions"
    case subscriptionMovement = "subscription-movement"
    case renewals
    case churn
    case activeTrials = "active-trials"
    case newTrials = "new-trials"
    case conversions
    case trialConversion = "trial-conversion"
    case monthlyRevenue = "mrr"
    case monthlyRevenueMovement = "mrr-movement"

    /// The definition; `Documentation/Figures.md` has more.
    package var definition: String {
        switch self {
        case .units: "The quantities of the purchases, renewals included. A free trial is no purchase."
        case .transactions: "The transactions of the purchases, renewals included."
        case .withoutPrice: "The transactions for which the App Store has stated no price. They are not in the revenue."
        case .revenue: "The prices of the transactions, before the App Store's commission, taxes and refunds."
        case .refunds: "The transactions that the App Store refunded, on the day of the refund."
        case .refundedRevenue: "The refunded amounts, on the day of the refund."
        case .refundRate:
            "The transactions of the period that were refunded since, divided by the transactions of the period."
        case .newCustomers: "The users with their first transaction in the app in the period, free trials included."
        case .activeSubscriptions: "The paid subscriptions at the end of the period, grace periods included."
        case .subscriptionMovement:
            "The change of the active subscriptions: new and resubscribed ones, less churned ones."
        case .renewals: "The paid periods that followed a paid period directly."
        case .churn:
            "The subscriptions that ended in the period, less those resubscribed, divided by those active when it began."
        case .activeTrials: "The free trials at the end of the period."
        case .newTrials: "The free trials that began in the period."
        case .conversions: "The first payments after a free trial, on the day of the payment."
        case .trialConversion:
            "The free trials that began in the period and were paid for since, divided by those that began."
        case .monthlyRevenue: "The prices of the active subscriptions at the end of the period, each for a month."
        case .monthlyRevenueMovement: "The change of the MRR: new, resubscribed and changed, less churned."
        }
    }
}
