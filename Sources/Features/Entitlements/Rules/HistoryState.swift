import Proofs

/// The state of a purchase with an end in its owner's history.
package struct HistoryState: Hashable, Sendable {
    package let state: PurchaseState
    /// Nil if the App Store has not stated whether it renews, and for a purchase that is not owned.
    package let renews: Bool?
    /// The moment at which time alone changes the state; nil if it never does.
    package let changesAt: Timestamp?

    package init(state: PurchaseState, renews: Bool?, changesAt: Timestamp?) {
        self.state = state
        self.renews = renews
        self.changesAt = changesAt
    }

    /// The state of the purchase in a new period.
    var reopened: HistoryState { HistoryState(state: .active, renews: renews, changesAt: changesAt) }

    init(_ status: PurchaseStatus, at moment: Timestamp) {
        let isEnded = [.expired, .revoked, .refunded, .upgraded].contains(status.state)
        let ends = [status.paidUntil, status.graceEndsAt, status.retryEndsAt]
        self.init(
            state: status.state, renews: isEnded ? nil : status.renews,
            changesAt: isEnded ? nil : ends.compactMap(\.self).filter { $0 > moment }.min())
    }
}
