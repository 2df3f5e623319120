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

    /// The days in grace and on hold: those of the item with the shortest grace period, and with the longest hold of several such items
    /// (subscription-with-addons, "Recovery period selection").
    private var recovery: (graceDays: Int64, holdDays: Int64) {
        let terms = items.filter { !$0.isRemoved }.map(\.terms)
        let graceDays = terms.reduce(base.terms.graceDays) { min($0, $1.graceDays) }
        let holds = terms.filter { $0.graceDays == graceDays }.map(\.holdDays)
        return (graceDays, holds.max() ?? base.terms.holdDays)
    }

    private func graceEnd(from start: Timestamp) -> Timestamp {
        base.terms.isTest ? start.adding(seconds: Self.testGraceSeconds) : start.adding(days: recovery.graceDays)
    }

    private func holdEnd(from start: Timestamp) -> Timestamp {
        base.terms.isTest ? start.adding(seconds: Self.testHoldSeconds) : start.adding(days: recovery.holdDays)
    }

    /// The next moment at which something happens; nil after the end.
    package var nextMoment: Timestamp? {
        let ends = items.map(\.expiryTime)
        let end: Timestamp? =
            switch state {
            case .active, .inGracePeriod: ends.min()
            // "The user will continue to have access to the entitled items … until the corresponding billing periods end"
            // (subscription-with-addons, "Cancel subscription with add-ons").
            case .canceled: ends.max()
            case .onHold, .paused: resumeTime
            case .pending, .expired, .pendingPurchaseCanceled: nil
            }
        return [end, acknowledgementDeadline, consentTime].compactMap(\.self).min()
    }

    /// Performs what is due at its next moment.
    package mutating func advance() -> [Effect] {
        guard let moment = nextMoment else { return [] }
        if moment == acknowledgementDeadline {
            return (try? revoke(isProrated: false, source: .google, reason: .unacknowledgedPurchase, at: moment)) ?? []
        }
        switch state {
        case .active where moment == consentTime: return beginConsent()
        case .active: return endOfPeriod(at: moment)
        case .inGracePeriod: return endOfGrace(at: moment)
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
        let isBaseDue = base.expiryTime <= moment
        guard !isBaseDue || renews && !isLastTest else {
            (state, endedAt) = (.expired, moment)
            return [.notification(.expired)]
        }
        let left = dropRemoved(at: moment)
        guard items.contains(where: { $0.expiryTime <= moment }) else { return left }
        if isBaseDue, let pendingCancellation, base.remainingCommittedPayments == 0 {
            return left + end(pendingCancellation, at: moment)
        }
        if isBaseDue, let pause = plannedPause {
            plannedPause = nil
            (state, resumeTime, suspendedAt) = (.paused, pauseEnd(pause, from: moment), moment)
            return left + [.notification(.paused)]
        }
        guard !isPriceUnanswered(at: moment), !lacksStepUpConsent(at: moment) else {
            return left + end(.system, at: moment)
        }
        guard declines else { return left + charge(at: moment, .renewed) }
        guard recovery.graceDays > 0 else { return left + hold(at: moment) }
        decline(until: graceEnd(from: moment), at: moment)
        state = .inGracePeriod
        return left + [.notification(.inGracePeriod)]
    }

    /// Drops the items whose removal is due.
    private mutating func dropRemoved(at moment: Timestamp) -> [Effect] {
        let removed = addOns.filter { $0.isRemoved && $0.expiryTime <= moment }
        guard !removed.isEmpty else { return [] }
        formerItems += removed
        addOns.removeAll { $0.isRemoved && $0.expiryTime <= moment }
        return [.notification(.itemsChanged)]
    }

    /// Notes the renewals that could not be charged. The customer keeps access to these items until the end of a grace period.
    private mutating func decline(until graceEnd: Timestamp? = nil, at moment: Timestamp) {
        changeItems { item in
            guard item.expiryTime <= moment, item.declinedAt == nil else { return }
            item.declinedAt = item.expiryTime
            item.expiryTime = graceEnd ?? item.expiryTime
        }
    }

    /// The end of a grace period, or of an item during it: "a new charge attempt will be initiated for those items once the subscription
    /// recovers" (subscription-with-addons, "Grace period").
    private mutating func endOfGrace(at moment: Timestamp) -> [Effect] {
        let left = dropRemoved(at: moment)
        let graceEnd = items.filter { $0.declinedAt != nil }.map(\.expiryTime).max() ?? moment
        guard graceEnd > moment else { return left + hold(at: moment) }
        decline(until: graceEnd, at: moment)
        return left
    }

    /// Cancels, and ends what is not paid.
    private mutating func end(_ cancellation: Cancellation, at moment: Timestamp) -> [Effect] {
        (self.cancellation, pendingCancellation) = (cancellation, nil)
        // "The items in payment decline will expire, and access to the other items will be resumed for the remainder of their billing
        // periods" (subscription-with-addons, "Account hold").
        let isPaid = endSuspension(at: moment)
        (state, endedAt) = isPaid ? (.canceled, nil) : (.expired, moment)
        return [.notification(.canceled)] + (isPaid ? [] : [.notification(.expired)])
    }

    /// Gives the items that have waited their time back.
    ///
    /// - Returns: True if an item is still paid.
    mutating func endSuspension(at moment: Timestamp) -> Bool {
        if let suspendedAt {
            let length = moment.millisecondsSince1970 - suspendedAt.millisecondsSince1970
            changeItems { item in
                guard item.expiryTime > suspendedAt else { return }
                item.expiryTime = item.expiryTime.adding(milliseconds: length)
            }
        }
        suspendedAt = nil
        return items.contains { $0.expiryTime > moment }
    }

    /// Charges the next periods of the items that are due or were declined, at the prices and for the plans that are due then.
    ///
    /// - Parameter isLate: True for a payment in the grace period, which leaves the dates of the renewals.
    private mutating func charge(at moment: Timestamp, _ type: SubscriptionNotificationType, isLate: Bool = false)
        -> [Effect]
    {
        let order = nextOrderId
        var (renewal, isNewPrice): (Timestamp?, Bool) = (nil, false)
        changeItems { item in
            if !item.isRemoved, item.declinedAt != nil || item.expiryTime <= moment {
                let start = isLate ? item.declinedAt ?? moment : moment
                item.beginPlannedTerms()
                isNewPrice = item.applyPriceChange(at: start) || isNewPrice
                item.addPeriod(from: start, order: order, alignedTo: renewal)
            }
            renewal = renewal ?? item.expiryTime
        }
        state = .active
        completeStepUp(at: moment)
        return [.notification(type)] + (isNewPrice ? [.notification(.priceChangeUpdated)] : [])
    }

    /// True after the last renewal of a license tester.
    private var isLastTest: Bool {
        base.terms.isTest && base.periods.count { $0.kind == .base } > Self.testRenewals
    }

    private mutating func hold(at moment: Timestamp) -> [Effect] {
        decline(at: moment)
        guard recovery.holdDays > 0 else { return end(.system, at: moment) }
        (state, resumeTime, suspendedAt) = (.onHold, holdEnd(from: moment), suspendedAt ?? moment)
        return [.notification(.onHold)]
    }

    private mutating func resume(at moment: Timestamp) -> [Effect] {
        resumeTime = nil
        guard !isPriceUnanswered(at: moment) else { return end(.system, at: moment) }
        guard !declines else { return hold(at: moment) }
        _ = endSuspension(at: moment)
        return charge(at: moment, .recovered)
    }

    /// Makes the customer's payments fail, or succeed again. A success pays what is owed at once.
    ///
    /// A payment in the grace period leaves the date of the renewal; one after a hold begins a period.
    package mutating func setDeclines(_ declines: Bool, at now: Timestamp) -> [Effect] {
        self.declines = declines
        guard !declines else { return [] }
        switch state {
        case .inGracePeriod: return charge(at: now, .renewed, isLate: true)
        case .onHold: return resume(at: now)
        default: return []
        }
    }

    /// The longest pause of a plan, whose unit shorter ones have, too; nil for a yearly plan.
    private var longestPause: SubscriptionPeriod? {
        switch base.terms.period.unit {
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
        guard state == .active, renews, !awaitsStepUp, let longest = longestPause else {
            throw .invalidAction(
                "Subscription \(number) is not active, does not renew, has a yearly plan, or gets dearer in a region with consent, so it cannot be paused."
            )
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
        guard base.terms.isTest else { return Self.end(of: length, from: start, terms: base.terms, kind: .base) }
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
