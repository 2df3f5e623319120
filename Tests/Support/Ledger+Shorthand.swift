import Commerce
import Entitlements
import Ledger

extension Ledger {
    /// By the user, with purchases of every origin counting.
    public func redeem(
        _ claims: [Claim],
        for user: User,
        under policy: OwnershipPolicy = .keep,
        at moment: Timestamp
    ) throws(LedgerError) -> LedgerAnswer {
        try redeem(claims, for: user, under: policy, counting: Set(Origin.allCases), by: .user, at: moment)
    }

    /// - Throws: The first fault of any.
    public func allTogether(_ useCases: [() -> Void]) throws {
        if let fault = together(useCases).compactMap(\.self).first { throw fault }
    }

    /// With purchases of every origin counting.
    public func items(of user: User, at moment: Timestamp) throws(StorageFault) -> [Item] {
        try items(of: user, counting: Set(Origin.allCases), at: moment)
    }

    /// The whole log, in its order.
    public func audit(of user: User) throws(StorageFault) -> [AuditRecord] {
        try audit(of: user, after: 0, limit: .max)
    }

    /// With every origin accepted for everybody.
    public func record(
        _ notification: NotificationRecord,
        stating claim: Claim?,
        at moment: Timestamp
    ) throws(StorageFault) -> NotificationOutcome {
        try record(notification, stating: claim, accepting: AcceptedOrigins(Set(Origin.allCases)), at: moment)
    }

    /// With every origin accepted for everybody.
    public func record(_ claim: Claim, at moment: Timestamp) throws(StorageFault) -> NotificationOutcome {
        try record(claim, accepting: AcceptedOrigins(Set(Origin.allCases)), at: moment)
    }
}
