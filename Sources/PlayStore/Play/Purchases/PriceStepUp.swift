import Proofs

/// The consent to a step-up of the price, which South Korea requires before a free trial or an introductory price ends
/// (developer.android.com/google/play/billing/lifecycle/subscriptions#price-stepup-consent, and price-changes, "Price step-up consent
/// examples").
package struct PriceStepUp: Codable, Hashable, Sendable {
    /// The states of a consent, by Google's names.
    package enum State: String, Codable, Sendable {
        /// The customer has not consented yet.
        case pending = "PENDING"
        /// The customer has consented, and the new price is waiting to take effect.
        case confirmed = "CONFIRMED"
        /// The new price has taken effect.
        case completed = "COMPLETED"
    }

    package let newPrice: Money
    package internal(set) var state: State
    /// The renewal at the new price, which ends the subscription without a consent.
    package internal(set) var deadline: Timestamp
}

extension RecurringPurchase {
    private static let regionWithConsent = "KR"
    /// "A consent period can be for a maximum of 30 days before the step-up price takes effect" (price-changes).
    private static let consentDays: Int64 = 30

    /// The next renewal at a higher price for the same time, and its price; nil if the offer leads to none.
    private var nextStepUp: (time: Timestamp, price: Money)? {
        let (terms, begun) = (base.terms, base.begunPhases)
        guard terms.phases.indices.contains(begun - 1), let last = base.periods.last,
            [.freeTrial, .introductory].contains(last.kind)
        else { return nil }
        var (time, running) = (base.expiryTime, terms.phases[begun - 1])
        let planned = terms.phases.dropFirst(begun) + [Phase(kind: .base, length: terms.period, price: terms.price)]
        for next in planned {
            guard next.rate(from: startTime) <= running.rate(from: startTime) else { return (time, next.price) }
            time = Self.end(of: next.length, from: time, terms: terms, kind: next.kind)
            running = next
        }
        return nil
    }

    /// True if the customer may not pause: "During a free trial, an introductory period, or … other charges scheduled at a higher daily
    /// price, users cannot pause" (support.google.com/googleplay/android-developer/answer/15722617).
    var awaitsStepUp: Bool { base.terms.regionCode == Self.regionWithConsent && nextStepUp != nil }

    /// The beginning of the next period of consent; nil if one runs, and if none comes. A consent at the purchase counts at once.
    var consentTime: Timestamp? {
        guard awaitsStepUp, let next = nextStepUp, let last = base.periods.last, state == .active, renews,
            stepUp?.state ?? .completed == .completed
        else { return nil }
        return consentsAtPurchase ? last.start : max(last.start, next.time.adding(days: -Self.consentDays))
    }

    /// Begins the period of consent.
    mutating func beginConsent() -> [Effect] {
        guard let next = nextStepUp else { return [] }
        stepUp = PriceStepUp(
            newPrice: next.price, state: consentsAtPurchase ? .confirmed : .pending, deadline: next.time)
        consentsAtPurchase = false
        return [.notification(.priceStepUpConsentUpdated)]
    }

    /// Consents to the step-up.
    ///
    /// - Throws: `PlayError`, `invalidAction`, unless one waits for the customer.
    package mutating func acceptStepUp() throws(PlayError) -> [Effect] {
        guard renews, stepUp?.state == .pending else {
            throw .invalidAction("Subscription \(number) has no price step-up that waits for consent.")
        }
        stepUp?.state = .confirmed
        return [.notification(.priceStepUpConsentUpdated)]
    }

    /// True if the customer has not consented to the price of a renewal.
    func lacksStepUpConsent(at renewal: Timestamp) -> Bool {
        stepUp.map { $0.state == .pending && $0.deadline <= renewal } ?? false
    }

    /// Notes the charge of a renewal.
    mutating func completeStepUp(at renewal: Timestamp) {
        if let stepUp, stepUp.state == .confirmed, stepUp.deadline <= renewal { self.stepUp?.state = .completed }
    }
}

extension RecurringPurchase.Phase {
    /// The price of a millisecond in billionths of a unit.
    fileprivate func rate(from start: Timestamp) -> Double {
        let end = start.adding(length, dayOfMonth: start.dayOfMonth)
        return Double(price.billionths ?? 0) / Double(end.millisecondsSince1970 - start.millisecondsSince1970)
    }
}
