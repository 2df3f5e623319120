import Ledger
import Proofs

/// The rules of a user's history: the events of a purchase between two moments.
extension PurchaseStatus {
    /// An event of a purchase, caused by a statement or by time.
    struct HistoryEvent: Hashable, Sendable {
        let event: AuditEntry.Event
        /// The time at which the event took effect.
        let happenedAt: Timestamp
        let reason: String?

        init(_ event: AuditEntry.Event, at happenedAt: Timestamp, reason: String? = nil) {
            self.event = event
            self.happenedAt = happenedAt
            self.reason = reason
        }
    }

    /// The events between the state in the history and this one, in their order.
    ///
    /// - Parameter recorded: The state in the history; nil if it has none.
    func events(since recorded: HistoryState?, at moment: Timestamp) -> [HistoryEvent] {
        let change = state == recorded?.state ? nil : stateEvent(after: recorded?.state, at: moment)
        return renewalEvents(since: recorded) + [change].compactMap(\.self)
    }

    /// The time to wait for a statement about the renewal, in seconds, before the end of a subscription that may renew is
    /// reported. The user does not own the item meanwhile.
    private static let statementSeconds: Int64 = 3600

    /// The moment until which a statement about the renewal is awaited; nil if none is.
    ///
    /// - Parameter hold: The last moment at which no silent end is reported; nil if there is none.
    func awaitsStatement(at moment: Timestamp, holding hold: Timestamp?) -> Timestamp? {
        guard let silentEnd else { return nil }
        let isRenewal = state == .expired && !isRetried
        let end = isRenewal ? silentEnd.adding(seconds: Self.statementSeconds) : silentEnd
        let isHeld = hold.map { moment <= $0 } ?? false
        return moment < end || isHeld ? max(end, hold ?? end) : nil
    }

    /// The end that time alone has brought to a subscription that may renew. Nil if the App Store has stated anything since.
    private var silentEnd: Timestamp? {
        guard mayRenew, let paidUntil else { return nil }
        let end: Timestamp? =
            switch state {
            case .billingRetry: graceEndsAt
            case .expired: isRetried ? retryEndsAt : paidUntil
            default: nil
            }
        return end.flatMap { end in renewalStatedAt.map { $0 < end } ?? true ? end : nil }
    }

    private func renewalEvents(since recorded: HistoryState?) -> [HistoryEvent] {
        guard state.isOwned || state == .billingRetry, let renewalStatedAt, let renews else { return [] }
        switch (recorded?.renews, renews) {
        case (true, false), (nil, false): return [HistoryEvent(.autoRenewDisabled, at: renewalStatedAt)]
        case (false, true): return [HistoryEvent(.autoRenewEnabled, at: renewalStatedAt)]
        case (true, true), (nil, true), (false, false): return []
        }
    }

    private func stateEvent(after before: PurchaseState?, at moment: Timestamp) -> HistoryEvent? {
        guard let paidUntil, let retryEndsAt else { return nil }
        switch state {
        case .gracePeriod: return HistoryEvent(.gracePeriodBegan, at: paidUntil)
        case .billingRetry: return HistoryEvent(.renewalFailed, at: graceEndsAt ?? paidUntil)
        case .expired:
            let end = [paidUntil, graceEndsAt].compactMap(\.self).max() ?? paidUntil
            // The App Store stops retrying at its limit, or states that it has stopped earlier.
            let givenUp = isRetried ? retryEndsAt : min(renewalStatedAt ?? retryEndsAt, retryEndsAt)
            return HistoryEvent(
                .expired, at: before == .billingRetry ? max(end, givenUp) : end, reason: expirationReason?.rawValue)
        default: return nil
        }
    }
}
