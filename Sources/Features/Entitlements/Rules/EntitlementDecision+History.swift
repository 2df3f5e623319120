import Ledger
import Proofs

/// The rules of histories: changes of states by statements or by time.
extension EntitlementDecision {
    /// Records the effects of the changes so far on purchases with an end in the histories of their owners.
    ///
    /// A statement may be late, and the next one may follow it. So the end of its period is left to the next
    /// `LedgerTransaction.recordDueStates`.
    ///
    /// - Parameter type: Returns the type of a product, for transactions without a stated type.
    package mutating func recordStates(type: (String) -> ProductType?) {
        recordStates(of: changedPurchases, holding: moment, type: type)
    }

    /// Records the current states of purchases with an end in the histories of their owners.
    ///
    /// - Parameter hold: The last moment at which no end is reported that time alone has brought to a subscription that may renew.
    /// - Returns: The purchases whose statement about the renewal is awaited.
    @discardableResult
    package mutating func recordStates(
        of originals: Set<TransactionKey>,
        holding hold: Timestamp? = nil,
        type: (String) -> ProductType?
    ) -> Set<TransactionKey> {
        var awaiting: Set<TransactionKey> = []
        let granted = grantedTransactions
        for original in originals.sorted() {
            guard let purchase = facts.purchases[original], let status = status(of: original, type: type),
                status.paidUntil != nil || facts.recordedStates[original] != nil
            else { continue }
            var recorded = facts.recordedStates[original]
            // A period that is granted now may have ended in the state of the one before it. It has its own events.
            if granted.contains(
                TransactionKey(
                    app: original.app, origin: original.origin, identifier: status.transactionIdentifier))
            {
                recorded = recorded?.reopened
            }
            let awaited = recorded?.state == status.state ? nil : status.awaitsStatement(at: moment, holding: hold)
            if awaited != nil { awaiting.insert(original) }
            let new =
                awaited.map {
                    HistoryState(state: recorded?.state ?? .active, renews: recorded?.renews, changesAt: $0)
                } ?? HistoryState(status, at: moment)
            guard recorded != new || facts.recordedStates[original] != new else { continue }
            // Purchases from origins that are not accepted for the owner cause no events.
            let isReported = awaited == nil && isAccepted(original.origin, for: purchase.owner)
            for event in !isReported ? [] : status.events(since: recorded, at: moment) {
                let entry = AuditEntry(
                    happenedAt: event.happenedAt, event: event.event, actor: .appStore, origin: original.origin,
                    app: original.app, reference: status.transactionIdentifier, subject: status.productIdentifier,
                    reason: event.reason)
                make(.audit(entry, user: purchase.owner))
            }
            make(.recordedState(original, new))
        }
        return awaiting
    }

    /// The status of a purchase; nil if nobody owns it.
    func status(of original: TransactionKey, type: (String) -> ProductType?) -> PurchaseStatus? {
        let isRevokedByTeam = facts.revokedByTeam.contains(original)
        let renewal = facts.purchases[original]?.renewal
        let periods = facts.transactions(of: original).map { key, transaction in
            PurchasePeriod(key, transaction, isRevokedByTeam: isRevokedByTeam)
        }
        // Only a subscription has a statement about its renewal.
        let kind =
            periods.lazy.compactMap(\.terms.type).first ?? periods.last.flatMap { type($0.productIdentifier) }
            ?? renewal.map { _ in .autoRenewableSubscription }
        return PurchaseStatus(
            of: original.identifier, from: original.origin, periods, kind, renewal, at: moment)
    }

    /// The transactions that the changes so far grant.
    private var grantedTransactions: Set<TransactionKey> {
        Set(
            changes.compactMap { change in
                guard case .audit(let entry, _) = change, entry.event == .granted, let origin = entry.origin else {
                    return nil
                }
                return TransactionKey(app: entry.app ?? "", origin: origin, identifier: entry.reference)
            })
    }

    /// The purchases that the changes so far concern.
    private var changedPurchases: Set<TransactionKey> {
        var originals: Set<TransactionKey> = []
        for change in changes {
            switch change {
            case .transaction(let claim, _, _):
                if let transaction = facts.transactions[claim.key] { originals.insert(transaction.originalKey) }
            case .status(let key, _), .grace(let key, _), .facts(let key, _):
                if let transaction = facts.transactions[key] { originals.insert(transaction.originalKey) }
            case .renewal(let original, _): originals.insert(original)
            default: break
            }
        }
        return originals
    }
}
