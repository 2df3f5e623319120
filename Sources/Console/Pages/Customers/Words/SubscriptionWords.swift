import Features
import Proofs

/// A subscription in plain words: "Premium, monthly, active, renews on 22 December 2026 at KRW 4,900."
struct SubscriptionWords {
    let status: PurchaseStatus
    /// The last statement about the renewal; nil without one.
    let renewal: RenewalFacts?
    let names: CatalogNames

    var sentence: Phrase {
        let product = names.product(status.productIdentifier)
        let period = names.catalogs.product(status.productIdentifier)?.subscription.map {
            CustomerWords.period($0.period)
        }
        let state = CustomerWords.state(status.state)
        let parts = [CustomerWords.isolated(product), period, state, end, next].compactMap(\.self)
        return "\(Phrase.joined(parts, separator: ", "))."
    }

    /// True if the customer has not consented to a higher price yet.
    var awaitsConsent: Bool { renewal?.integer(.priceIncreaseStatus) == 0 }

    private var end: Phrase? {
        guard let until = status.until else { return nil }
        let day = CustomerWords.day(until)
        switch status.state {
        case .billingRetry:
            return "not owned since \(day), Apple retries the charge"
        case .gracePeriod:
            return "the renewal could not be charged, owned until \(day)"
        case .expired:
            let reason = status.expirationReason.map { CustomerWords.reason($0) }
            return reason.map { "ended on \(day) (\($0))" } ?? "ended on \(day)"
        case .trial, .introductory, .active, .willNotRenew, .familyShared, .owned:
            // The App Store may state a grace period before the paid time ends.
            let day = CustomerWords.day(status.paidUntil ?? until)
            guard status.renews == true else {
                // The periods of a commitment follow, also if the customer lets it end.
                return !status.mayRenew ? "ends on \(day)" : "paid until \(day)"
            }
            let cost = renewal?.nextPrice?.formatted
            return cost.map { "renews on \(day) at \($0)" } ?? "renews on \(day)"
        case .revoked, .upgraded, .refunded, .consumed, .unclaimed: return nil
        }
    }

    /// The product of the next period if it is another one.
    private var next: Phrase? {
        guard let next = status.nextProductIdentifier, !next.hasSameBytes(as: status.productIdentifier) else {
            return nil
        }
        let name = names.product(next)
        return "then \(CustomerWords.isolated(name))"
    }
}
