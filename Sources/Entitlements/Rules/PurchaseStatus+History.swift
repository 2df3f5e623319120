import Commerce
import Ledger

/// The rules of a user's history: what has happened to a purchase between two moments.
extension PurchaseStatus {
    /// Something that has happened to a purchase, also by the passing of time.
    struct HistoryEvent: Hashable, Sendable {
        let event: AuditEntry.Event
        /// The time at which it took effect.
        let happenedAt: Timestamp
        let reason: String?

        init(_ event: AuditEntry.Event, at happenedAt: Timestamp, reason: String? = nil) {
            self.event = event
            self.happenedAt = happenedAt
            self.reason = reason
        }
    }

    /// The events between the state that the history has and this one, in their order.
    ///
    /// - Parameter announced: Nil for a purchase that the history has not told of.
    func events(since announced: AnnouncedState?, at moment: Timestamp) -> [HistoryEvent] {
        let change = state == announced?.state ? nil : stateEvent(after: announced?.state, at: moment)
        return renewalEvents(since: announced) + [change].compactMap(\.self)
    }

    /// The time for which the statement about a renewal may take to arrive, in seconds, before the end of a subscription that
    /// may renew is told: the item is not owned meanwhile.
    private static let statementSeconds: Int64 = 3600

    /// The moment until which a statement about the renewal is awaited; nil if none is.
    func awaitsStatement(at moment: Timestamp) -> Timestamp? {
        guard state == .expired, mayRenew, let paidUntil, renewalStatedAt.map({ $0 < paidUntil }) ?? true else {
            return nil
        }
        let end = paidUntil.adding(seconds: Self.statementSeconds)
        return moment < end ? end : nil
    }

    private func renewalEvents(since announced: AnnouncedState?) -> [HistoryEvent] {
        guard state.isOwned || state == .billingRetry, let renewalStatedAt, let renews else { return [] }
        switch (announced?.renews, renews) {
        case (true, false), (nil, false): return [HistoryEvent(.autoRenewDisabled, at: renewalStatedAt)]
        case (false, true): return [HistoryEvent(.autoRenewEnabled, at: renewalStatedAt)]
        case (true, true), (nil, true), (false, false): return []
        }
    }

    private func stateEvent(after before: PurchaseState?, at moment: Timestamp) -> HistoryEvent? {
        guard let paidUntil else { return nil }
        switch state {
        case .gracePeriod: return HistoryEvent(.gracePeriodBegan, at: paidUntil)
        case .billingRetry: return HistoryEvent(.renewalFailed, at: graceEndsAt ?? paidUntil)
        case .expired:
            let end = [paidUntil, graceEndsAt].compactMap(\.self).max() ?? paidUntil
            // The App Store gives up at its limit, or says that it has before.
            let retryEnd = paidUntil.adding(days: PurchaseState.billingRetryDays)
            let givenUp = isRetried ? retryEnd : min(renewalStatedAt ?? retryEnd, retryEnd)
            return HistoryEvent(
                .expired, at: before == .billingRetry ? max(end, givenUp) : end, reason: expirationReason?.rawValue)
        default: return nil
        }
    }
}
