import Commerce
import Ledger

/// The rules of histories: changes of states that statements or the passing of time have caused.
extension EntitlementDecision {
    /// Records in the histories of the owners what the changes so far mean for purchases with an end.
    ///
    /// - Parameters:
    ///   - type: Returns the type of a product, for transactions that do not say it.
    package mutating func announceStates(type: (String) -> ProductType?) {
        announceStates(of: changedPurchases, type: type)
    }

    /// Records in the histories of the owners how purchases with an end are now.
    ///
    /// - Parameter isSilent: Whether the states become known without an event, if no history has them: those of a ledger that had
    ///   no histories.
    package mutating func announceStates(
        of originals: Set<TransactionKey>,
        isSilent: Bool = false,
        type: (String) -> ProductType?
    ) {
        for original in originals.sorted() {
            guard let purchase = facts.purchases[original], let status = status(of: original, purchase, type: type),
                status.paidUntil != nil || facts.announced[original] != nil
            else { continue }
            let announced = facts.announced[original]
            if isSilent, announced != nil { continue }
            let awaited = status.awaitsStatement(at: moment)
            let new =
                awaited.map {
                    AnnouncedState(state: announced?.state ?? .active, renews: announced?.renews, changesAt: $0)
                } ?? AnnouncedState(status, at: moment)
            guard announced != new else { continue }
            // Nobody hears of purchases from where the owner may not buy.
            let isTold = !isSilent && awaited == nil && isAccepted(original.origin, for: purchase.owner)
            for event in !isTold ? [] : status.events(since: announced, at: moment) {
                let entry = AuditEntry(
                    happenedAt: event.happenedAt, event: event.event, actor: .appStore, origin: original.origin,
                    reference: status.transactionIdentifier, subject: status.productIdentifier, reason: event.reason)
                make(.audit(entry, user: purchase.owner))
            }
            make(.announced(original, new))
        }
    }

    private func status(
        of original: TransactionKey,
        _ purchase: EntitlementFacts.Purchase,
        type: (String) -> ProductType?
    ) -> PurchaseStatus? {
        let isRevokedByTeam = facts.revokedByTeam.contains(original)
        let periods = facts.transactions(of: original).map { key, transaction in
            PurchasePeriod(key, transaction, isRevokedByTeam: isRevokedByTeam)
        }
        // Only a subscription has a statement about its renewal.
        let kind =
            periods.lazy.compactMap(\.terms.type).first ?? periods.last.flatMap { type($0.productIdentifier) }
            ?? purchase.renewal.map { _ in .autoRenewableSubscription }
        return PurchaseStatus(
            of: original.identifier, from: original.origin, periods, kind, purchase.renewal, at: moment)
    }

    /// The purchases that the changes so far are about.
    private var changedPurchases: Set<TransactionKey> {
        var originals: Set<TransactionKey> = []
        for change in changes {
            switch change {
            case .transaction(let claim, _, _):
                if let transaction = facts.transactions[claim.key] { originals.insert(transaction.originalKey) }
            case .standing(let key, _), .grace(let key, _), .facts(let key, _):
                if let transaction = facts.transactions[key] { originals.insert(transaction.originalKey) }
            case .renewal(let original, _): originals.insert(original)
            default: break
            }
        }
        return originals
    }
}
