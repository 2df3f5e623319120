import Catalog
import Proofs

/// The progress of a commitment to twelve months that are paid for monthly (App Store Server API, `TransactionCommitmentInfo`).
package struct Commitment: Hashable, Sendable, Codable {
    /// The number of the present billing period, from 1 to 12.
    package let billingPeriodNumber: Int
    /// The standard price of a billing period. It holds until the commitment ends.
    let billingPrice: Price
    /// The price of all billing periods.
    package let price: Price
    /// The end of the last billing period. A recovery after a billing issue postpones it.
    package var expiresDate: Timestamp

    package var isInLastPeriod: Bool { billingPeriodNumber >= BillingPlan.commitmentPeriods }
}

/// The rules of a commitment. Within it, the customer pays each month whatever they decide: a cancellation, another product,
/// another plan and another price wait for its end (Apple, "Managing the life cycle of monthly subscriptions with a 12-month
/// commitment").
extension CustomerSubscription {
    var billingPlanType: BillingPlanType { commitment == nil ? .upFront : .monthly }

    /// The commitment, if further billing periods of it follow.
    var unfinishedCommitment: Commitment? {
        dueDate == nil ? nil : commitment.flatMap { $0.isInLastPeriod ? nil : $0 }
    }

    /// True if the next billing period is charged (StoreKit, `willAutoRenew`). The periods of a commitment are, whatever the
    /// customer has decided about its renewal.
    package var willAutoRenew: Bool { isAutoRenewing || unfinishedCommitment != nil }

    package var nextProductIdentifier: String {
        unfinishedCommitment == nil ? autoRenewProductIdentifier : productIdentifier
    }

    var nextBillingPlanType: BillingPlanType { unfinishedCommitment == nil ? autoRenewBillingPlanType : .monthly }

    /// True if the next period belongs to the present commitment, or to the one that follows it.
    var isCommitted: Bool { commitment != nil && nextBillingPlanType == .monthly }

    /// True if the next period of a product is for sale under its plan. A commitment goes on if its plan is withdrawn.
    func isNextPeriodSold(of subscription: Subscription) -> Bool {
        nextBillingPlanType == .upFront || unfinishedCommitment != nil || subscription.monthlyPlan != nil
    }

    /// True if another product or another plan follows.
    var hasPendingChange: Bool {
        autoRenewProductIdentifier != productIdentifier || autoRenewBillingPlanType != billingPlanType
    }

    /// The offer of the next billing period. The offer of a change waits as the change does.
    var acceptedOffer: SubscriptionOffer? { unfinishedCommitment != nil && hasPendingChange ? nil : nextOffer }

    /// The commitment with the billing period that has just begun.
    ///
    /// - Parameters:
    ///   - unfinished: The commitment before; nil to begin one.
    ///   - billingPrice: The standard price of the period.
    ///   - plan: Nil if the catalog has withdrawn it since the commitment began.
    func nextCommitment(
        after unfinished: Commitment?,
        at billingPrice: Price,
        of plan: BillingPlan?,
        _ terms: SubscriptionTerms
    ) -> Commitment {
        let number = (unfinished?.billingPeriodNumber ?? 0) + 1
        let end = (number..<BillingPlan.commitmentPeriods).reduce(expiresDate) { end, _ in
            terms.timeRate.end(of: .oneMonth, from: end, dayOfMonth: dayOfMonth)
        }
        return Commitment(
            billingPeriodNumber: number, billingPrice: billingPrice,
            price: unfinished?.price ?? plan?.commitmentPrice(at: billingPrice) ?? billingPrice, expiresDate: end)
    }

    /// The price of what follows the commitment: of all billing periods of another one, or of the first period of a subscription
    /// that is billed up front.
    func commitmentRenewalPrice(_ terms: SubscriptionTerms) -> Price? {
        guard let product = terms.product(autoRenewProductIdentifier) else { return nil }
        guard autoRenewBillingPlanType == .monthly, let plan = product.subscription?.monthlyPlan else {
            return product.price
        }
        let isSame = autoRenewProductIdentifier == productIdentifier
        return plan.commitmentPrice(at: (isSame ? priceIncrease?.price ?? agreedPrice : nil) ?? plan.price)
    }
}

extension Storefront {
    /// True if Apple sells commitments in the storefront (Apple, "Supporting monthly subscriptions with a 12-month commitment").
    var sellsCommitments: Bool { !["USA", "SGP"].contains(countryCode) }
}

extension Product {
    /// The standard price of a period under a plan.
    func price(billed plan: BillingPlanType) -> Price {
        plan == .monthly ? subscription?.monthlyPlan?.price ?? price : price
    }
}
