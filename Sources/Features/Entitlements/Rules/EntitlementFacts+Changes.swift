import Proofs

extension EntitlementFacts {
    /// Updates the facts by a change.
    mutating func apply(_ change: EntitlementChange, at moment: Timestamp) {
        switch change {
        case .purchase(let original, let owner, let naming):
            set(Purchase(owner: owner, naming: naming), for: original)
            removeExpected(original)
        case .transaction(let claim, let status, _):
            set(
                Transaction(
                    originalKey: claim.originalKey, productIdentifier: claim.productIdentifier,
                    purchaseDate: claim.purchaseDate, addsToBalance: claim.credit != nil, status: status,
                    stated: claim.facts), for: claim.key)
        case .facts(let key, let complete):
            set(complete, for: key)
        case .renewal(let original, let renewal):
            set(renewal, for: original)
        case .status(let key, let status):
            guard var transaction = transactions[key] else { return }
            transaction.status = status
            set(transaction, for: key)
        case .statements(let key, let statements):
            guard var transaction = transactions[key] else { return }
            transaction.statements = statements
            set(transaction, for: key)
        case .grace(let key, let grace):
            guard var transaction = transactions[key] else { return }
            transaction.grace = grace
            set(transaction, for: key)
        case .naming(let original, let naming):
            guard var purchase = purchases[original] else { return }
            purchase.naming = naming
            set(purchase, for: original)
        case .transfer(let original, _, let owner):
            guard var purchase = purchases[original] else { return }
            purchase.owner = owner
            purchase.transferredAt = moment
            set(purchase, for: original)
        case .merge(let original, _, let owner):
            guard var purchase = purchases[original] else { return }
            purchase.owner = owner
            set(purchase, for: original)
        case .mergedTokens(let former, let owner):
            tokenOwners = tokenOwners.mapValues { $0 == former ? owner : $0 }
            tokensHaveMoved()
        case .parked(let claim, let status):
            setParked(ParkedStatement(status: status, claim: claim), for: claim.key)
        case .unparked(let key):
            removeParked(key)
        case .recordedState(let original, let state):
            recordedStates[original] = state
        case .refused, .audit, .endChanged:
            break
        }
    }
}
