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
        func joined(_ text: (Phrase) -> String) -> String {
            let parts = [
                CustomerWords.isolated(text(product)), period.map(text), text(state), end.map(text), next.map(text),
            ]
            return parts.compactMap(\.self).joined(separator: ", ") + "."
        }
        return Phrase(joined(\.english), joined(\.korean))
    }

    /// True if the customer has not consented to a higher price yet.
    var awaitsConsent: Bool { renewal?.integer(.priceIncreaseStatus) == 0 }

    private var end: Phrase? {
        guard let until = status.until else { return nil }
        let day = CustomerWords.day(until)
        switch status.state {
        case .billingRetry:
            return Phrase(
                "not owned since \(day.english), Apple retries the charge",
                "\(day.korean)부터 보유하지 않음, Apple이 결제를 다시 시도함")
        case .gracePeriod:
            return Phrase(
                "the renewal could not be charged, owned until \(day.english)",
                "갱신 결제 실패, \(day.korean)까지 보유")
        case .expired:
            let reason = status.expirationReason.map { CustomerWords.reason($0) }
            return Phrase(
                "ended on \(day.english)" + (reason.map { " (\($0.english))" } ?? ""),
                "\(day.korean)에 종료" + (reason.map { " (\($0.korean))" } ?? ""))
        case .trial, .introductory, .active, .willNotRenew, .familyShared, .owned:
            // The App Store may state a grace period before the paid time ends.
            let day = CustomerWords.day(status.paidUntil ?? until)
            guard status.renews == true else {
                // The periods of a commitment follow, also if the customer lets it end.
                return !status.mayRenew
                    ? Phrase("ends on \(day.english)", "\(day.korean)에 종료")
                    : Phrase("paid until \(day.english)", "\(day.korean)까지 결제됨")
            }
            let cost = renewal?.nextPrice?.formatted
            return Phrase(
                "renews on \(day.english)" + (cost.map { " at \($0)" } ?? ""),
                "\(day.korean)에 갱신" + (cost.map { " (\($0))" } ?? ""))
        case .revoked, .upgraded, .refunded, .consumed, .unclaimed: return nil
        }
    }

    /// The product of the next period if it is another one.
    private var next: Phrase? {
        guard let next = status.nextProductIdentifier, !next.hasSameBytes(as: status.productIdentifier) else {
            return nil
        }
        let name = names.product(next)
        return Phrase(
            "then \(CustomerWords.isolated(name.english))", "다음은 \(CustomerWords.isolated(name.korean))")
    }
}
