import HTTPSupport
import Proofs

/// The events that time brings to a subscription: renewals, declined payments, holds, pauses, ends.
extension RecurringPurchase {
    /// The seconds of a license tester's periods, by the length of the real ones in days.
    private static let testSeconds: [(days: Int64, seconds: Int64)] = [
        (31, 300), (93, 600), (186, 900), (.max, 1800),
    ]
    private static let testTrialSeconds: Int64 = 180
    private static let testGraceSeconds: Int64 = 300
    private static let testHoldSeconds: Int64 = 600
    private static let testPauseSeconds: Int64 = 300
    /// The renewals of a license tester, without trials and introductory prices.
    private static let testRenewals = 6

    /// The end of a period. A period of a license tester lasts minutes.
    static func end(of length: SubscriptionPeriod, from start: Timestamp, terms: Terms, kind: PhaseKind) -> Timestamp {
        // Google moves a renewal on the 31st to the last day of a shorter month, and leaves it on that day.
        let end = start.adding(length, dayOfMonth: start.dayOfMonth)
        guard terms.isTest else { return end }
        guard kind != .freeTrial else { return start.adding(seconds: testTrialSeconds) }
        let days = (end.millisecondsSince1970 - start.millisecondsSince1970) / 86_400_000
        return start.adding(seconds: testSeconds.first { days <= $0.days }?.seconds ?? 1800)
    }

    private func graceEnd(from start: Timestamp) -> Timestamp {
        terms.isTest ? start.adding(seconds: Self.testGraceSeconds) : start.adding(days: terms.graceDays)
    }

    private func holdEnd(from start: Timestamp) -> Timestamp {
        terms.isTest ? start.adding(seconds: Self.testHoldSeconds) : start.adding(days: terms.holdDays)
    }

    /// The next moment at which something happens; nil after the end.
    package var nextMoment: Timestamp? {
        let end: Timestamp? =
            switch state {
            case .active, .inGracePeriod, .canceled: expiryTime
            case .onHold, .paused: resumeTime
            case .pending, .expired, .pendingPurchaseCanceled: nil
            }
        return [end, acknowledgementDeadline].compactMap(\.self).min()
    }

    /// Performs what is due at its next moment.
    package mutating func advance() -> [Effect] {
        guard let moment = nextMoment else { return [] }
        if moment == acknowledgementDeadline {
            return (try? revoke(isProrated: false, source: .google, reason: .unacknowledgedPurchase, at: moment)) ?? []
        }
        switch state {
        case .active: return endOfPeriod(at: moment)
        case .inGracePeriod: return hold(at: moment)
        case .onHold:
            resumeTime = nil
            return end(.system, at: moment)
        case .paused: return resume(at: moment)
        case .canceled:
            (state, endedAt) = (.expired, moment)
            return [.notification(.expired)]
        case .pending, .expired, .pendingPurchaseCanceled: return []
        }
    }

    private mutating func endOfPeriod(at moment: Timestamp) -> [Effect] {
        guard renews, !isLastTest else {
            (state, endedAt) = (.expired, moment)
            return [.notification(.expired)]
        }
        if let pendingCancellation, remainingCommittedPayments == 0 { return end(pendingCancellation, at: moment) }
        if let pause = plannedPause {
            plannedPause = nil
            state = .paused
            resumeTime = pauseEnd(pause, from: moment)
            return [.notification(.paused)]
        }
        guard !isPriceUnanswered(at: moment) else { return end(.system, at: moment) }
        guard declines else { return charge(from: moment, .renewed) }
        guard terms.graceDays > 0 else { return hold(at: moment) }
        (state, expiryTime) = (.inGracePeriod, graceEnd(from: moment))
        return [.notification(.inGracePeriod)]
    }

    /// Cancels and ends at once.
    private mutating func end(_ cancellation: Cancellation, at moment: Timestamp) -> [Effect] {
        (state, self.cancellation, pendingCancellation, endedAt) = (.expired, cancellation, nil, moment)
        return [.notification(.canceled), .notification(.expired)]
    }

    /// Charges the next period, at the price and for the plan that are due then.
    private mutating func charge(from start: Timestamp, _ type: SubscriptionNotificationType) -> [Effect] {
        beginPlannedTerms()
        let isNewPrice = applyPriceChange(at: start)
        addPeriod(from: start)
        return [.notification(type)] + (isNewPrice ? [.notification(.priceChangeUpdated)] : [])
    }

    /// True after the last renewal of a license tester.
    private var isLastTest: Bool {
        terms.isTest && periods.count { $0.kind == .base } > Self.testRenewals
    }

    private mutating func hold(at moment: Timestamp) -> [Effect] {
        guard terms.holdDays > 0 else { return end(.system, at: moment) }
        (state, resumeTime) = (.onHold, holdEnd(from: moment))
        return [.notification(.onHold)]
    }

    private mutating func resume(at moment: Timestamp) -> [Effect] {
        resumeTime = nil
        guard !isPriceUnanswered(at: moment) else { return end(.system, at: moment) }
        guard !declines else { return hold(at: moment) }
        return charge(from: moment, .recovered)
    }

    /// Makes the customer's payments fail, or succeed again. A success pays what is owed at once.
    ///
    /// A payment in the grace period leaves the date of the renewal; one after a hold begins a period.
    package mutating func setDeclines(_ declines: Bool, at now: Timestamp) -> [Effect] {
        self.declines = declines
        guard !declines else { return [] }
        switch state {
        case .inGracePeriod: return charge(from: periods.last?.end ?? now, .renewed)
        case .onHold: return resume(at: now)
        default: return []
        }
    }

    /// The longest pause of a plan, whose unit shorter ones have, too; nil for a yearly plan.
    private var longestPause: SubscriptionPeriod? {
        switch terms.period.unit {
        case .day, .week: SubscriptionPeriod("P4W")
        case .month: SubscriptionPeriod("P3M")
        case .year: nil
        }
    }

    /// Plans a pause from the next renewal on.
    ///
    /// - Parameter length: 1 to 4 weeks for a weekly plan, 1 to 3 months for a longer one; nil for the shortest.
    /// - Throws: `PlayError`, `invalidAction`, unless it is active and renews, and for a length that the plan does not have.
    package mutating func planPause(_ length: SubscriptionPeriod? = nil) throws(PlayError) -> [Effect] {
        guard state == .active, renews, let longest = longestPause else {
            throw .invalidAction(
                "Subscription \(number) is not active, does not renew, or has a yearly plan, so it cannot be paused.")
        }
        guard let length = length ?? SubscriptionPeriod("P1\(longest.unit.rawValue)"), length.unit == longest.unit,
            length.value <= longest.value
        else {
            throw .invalidAction("A pause of subscription \(number) lasts P1\(longest.unit.rawValue) to \(longest).")
        }
        plannedPause = length
        return [.notification(.pauseScheduleChanged)]
    }

    /// The end of a pause. A license tester's months last five minutes each.
    private func pauseEnd(_ length: SubscriptionPeriod, from start: Timestamp) -> Timestamp {
        guard terms.isTest else { return Self.end(of: length, from: start, terms: terms, kind: .base) }
        return start.adding(seconds: Self.testPauseSeconds * (length.unit == .month ? Int64(length.value) : 1))
    }

    /// Ends a pause before its time.
    ///
    /// - Throws: `PlayError`, `invalidAction`, unless it is paused.
    package mutating func endPause(at now: Timestamp) throws(PlayError) -> [Effect] {
        guard state == .paused else { throw .invalidAction("Subscription \(number) is not paused.") }
        return resume(at: now)
    }
}

extension DueEvent.Kind {
    /// The change by the notifications that time brought about; nil for one that the App Store does not have, such as a pause.
    init?(_ effects: [RecurringPurchase.Effect], after former: RecurringPurchase.State) {
        for case .notification(let type) in effects {
            switch type {
            case .renewed, .recovered: self = .renewed
            case .inGracePeriod: self = .renewalFailed
            case .onHold: self = former == .inGracePeriod ? .gracePeriodEnded : .renewalFailed
            case .expired: self = .expired
            default: continue
            }
            return
        }
        return nil
    }
}
