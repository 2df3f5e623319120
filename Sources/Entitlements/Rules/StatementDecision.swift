import Ledger
import Proofs
import Vocabulary

/// The rules of statements: revocation, grace periods and parking.
extension EntitlementDecision {
    /// Applies a statement about a transaction of a user.
    ///
    /// - Parameter naming: The transaction whose account token names the user; nil if none does.
    mutating func apply(_ claim: Claim, of user: Int64, by actor: AuditActor, _ naming: Naming?) -> Redemption.Result {
        let (paidBack, wasRevoked) = (paidBack(of: claim), facts.transactions[claim.key]?.status.isRevoked ?? false)
        let original = claim.renewal.flatMap { _ in facts.ownedOriginal(of: claim) }
        let renewal = original.flatMap { facts.purchases[$0]?.renewal }
        let period = original.flatMap { facts.reading(periodsOf: $0, \.last) }
        let result = applyStatement(of: claim, of: user, by: actor, naming, after: paidBack)
        // The money of a revocation stands in its event.
        let isRevoked = facts.transactions[claim.key]?.status.isRevoked ?? false
        if wasRevoked || !isRevoked { auditRefund(of: claim, after: paidBack, to: user) }
        auditChoice(by: claim, after: renewal, in: period, to: user)
        return result
    }

    private mutating func applyStatement(
        of claim: Claim, of user: Int64, by actor: AuditActor, _ naming: Naming?, after paidBack: PaidBack?
    ) -> Redemption.Result {
        guard let before = facts.transactions[claim.key]?.status else {
            return redeemFirst(claim, of: user, by: actor, naming)
        }
        let isRevokedByTeam = facts.revokedByTeam.contains(claim.originalKey)
        let changed = status(by: claim)
        let hasGrace = write(grace: claim)
        guard let stated = changed else {
            if hasGrace { changes.events.append(.endChanged(productIdentifier: claim.productIdentifier, user: user)) }
            return before.isRevoked || isRevokedByTeam ? .revoked : .alreadyRedeemed
        }
        write(stated, of: claim, to: claim.key)
        writeToRepeats(stated, of: claim, by: actor)
        if stated.isRevoked != before.isRevoked {
            auditRevocation(stated.isRevoked, of: claim, by: actor, to: user, after: paidBack)
        } else if hasGrace || claim.isKnown && claim.expiresAt != before.expiresAt {
            changes.events.append(.endChanged(productIdentifier: claim.productIdentifier, user: user))
        }
        if stated.isRevoked || isRevokedByTeam { return .revoked }
        return before.isRevoked ? .granted : .alreadyRedeemed
    }

    /// Adds a statement to those about a redeemed transaction, with its facts.
    ///
    /// - Returns: The new status; nil if the statement changes none.
    mutating func status(by claim: Claim) -> TransactionStatus? {
        let (before, stated) = (facts.transactions[claim.key]?.status, newStatus(by: claim))
        write(factsOf: claim)
        // A claim that states no facts says nothing about an upgrade.
        guard claim.facts != nil, let status = stated ?? before else { return stated }
        let standing = withoutStatedUpgrade(status, of: claim.key)
        return standing == before ? nil : standing
    }

    private mutating func newStatus(by claim: Claim) -> TransactionStatus? {
        guard let transaction = facts.transactions[claim.key] else { return nil }
        guard let statements = transaction.statements(adding: claim) else {
            let status = withoutUpgrade(TransactionStatus(claim), of: claim)
            return status.isLater(than: transaction.status) ? status : nil
        }
        guard statements != transaction.statements else { return nil }
        change(claim.key) { $0.statements = statements }
        let status = withoutUpgrade(statements.status, of: claim)
        return status == transaction.status ? nil : status
    }

    /// Redeems a transaction for the first time, with the last statement about it, parked or not.
    private mutating func redeemFirst(
        _ claim: Claim,
        of user: Int64,
        by actor: AuditActor,
        _ naming: Naming?
    ) -> Redemption.Result {
        var isGranted = false
        recordReplacements(by: claim, of: user) { isGranted = $0.record(claim, of: user, by: actor, naming) }
        return isGranted ? .granted : .revoked
    }

    /// - Returns: False if the transaction is revoked.
    private mutating func record(_ claim: Claim, of user: Int64, by actor: AuditActor, _ naming: Naming?) -> Bool {
        let parked = facts.parked[claim.key]
        if parked != nil { unpark(claim.key) }
        var status = TransactionStatus(claim)
        for said in [parked?.status, facts.lastStatus(ofPurchaseRepeatedBy: claim)].compactMap(\.self)
        where said.isLater(than: status) {
            status = said
        }
        // A statement that was parked before the catalog had the product has no end.
        status.expiresAt = status.expiresAt ?? claim.expiresAt
        status = withoutUpgrade(status, of: claim)
        if facts.purchases[claim.originalKey] == nil { add(claim.originalKey, of: user, naming) }
        add(claim, status)
        writeToRepeats(status, of: claim, by: actor)
        if let said = parked?.claim {
            _ = write(grace: said)
            write(factsOf: said, after: claim.statementNumber)
        }
        _ = write(grace: claim)
        write(renewalOf: claim)
        let standing = withoutStatedUpgrade(status, of: claim.key)
        if standing != status { set(standing, of: claim.key) }
        status = standing
        let isGranted = !status.isRevoked && !facts.revokedByTeam.contains(claim.originalKey)
        auditRevocation(!isGranted, of: claim, by: actor, to: user)
        return isGranted
    }

    /// Records that a transaction counts, or no longer counts.
    private mutating func auditRevocation(
        _ isRevoked: Bool, of claim: Claim, by actor: AuditActor, to user: Int64, after before: PaidBack? = nil
    ) {
        let paidBack = isRevoked ? paidBack(of: claim) : nil
        audit(
            isRevoked ? .revoked : .granted, claim.key, claim.productIdentifier, by: actor, to: user,
            measure: paidBack.flatMap { refund(of: claim, $0, paidBefore: before?.amount ?? 0) })
    }

    /// Redeems the transactions parked for the same purchase, such as a subscription's renewals.
    mutating func apply(_ siblings: ParkedSiblings, of user: Int64) {
        for sibling in siblings.claims where sibling.isKnown {
            let claim = facts.standing(for: sibling)
            if claim.key != sibling.key { unpark(sibling.key) }
            _ = apply(claim, of: user, by: .appStore, nil)
        }
    }

    /// Applies the statement that is parked under another identifier of a claim's purchase event.
    mutating func applyParked(_ presented: Claim, as claim: Claim, of user: Int64) {
        guard presented.key != claim.key, let said = facts.parked[presented.key]?.claim else { return }
        unpark(presented.key)
        _ = apply(said.with(transactionIdentifier: claim.transactionIdentifier), of: user, by: .appStore, nil)
    }

    /// Parks a statement. Of two about the same transaction, the later one is kept; the same applies to their grace periods.
    mutating func park(_ claim: Claim) {
        let stated = TransactionStatus(claim)
        guard let kept = facts.parked[claim.key] else { return park(claim, stated) }
        facts.removeParked(claim.key)
        let isLater = stated.isLater(than: kept.status)
        let (new, old) = (GracePeriod(claim), GracePeriod(kept.claim))
        let grace = new.flatMap { $0.isLater(than: old) ? $0.following(old) : old ?? $0 } ?? old
        let numbers = (kept.claim.statementNumber, claim.statementNumber)
        let facts =
            claim.facts.map { (kept.claim.facts ?? TransactionFacts()).completed(by: $0, numbered: numbers) }
            ?? kept.claim.facts
        let renewal = claim.renewal.map { $0.isLater(than: kept.claim.renewal) ? $0 : kept.claim.renewal ?? $0 }
        park(
            (isLater ? claim : kept.claim).with(
                grace: grace.map { Claim.Grace(endsAt: $0.endsAt, order: $0.order) }, facts: facts,
                renewal: renewal ?? kept.claim.renewal),
            isLater ? stated : kept.status)
    }

    /// Writes a statement to a redeemed transaction.
    mutating func write(_ status: TransactionStatus, of claim: Claim, to key: TransactionKey) {
        guard let before = facts.transactions[key]?.status else {
            return note("a statement is about a redeemed transaction", key)
        }
        set(status.keepingEnd(of: before, unless: claim.isKnown), of: key)
        // The catalog may have changed since the purchase. A new period ends anew.
        guard claim.isKnown, facts.transactions[key]?.fixed?.period != claim.period else { return }
        change(key) { transaction in
            let item = transaction.fixed?.item ?? claim.item
            (transaction.fixed, transaction.extendedUntil) = (claim.period.map { FixedPeriod($0, of: item) }, nil)
        }
    }

    /// Writes a claim's statement about a grace period, unless a later one is known.
    ///
    /// - Returns: True if the end of the grace period has changed.
    private mutating func write(grace claim: Claim) -> Bool {
        guard let transaction = facts.transactions[claim.key], let grace = GracePeriod(claim),
            grace.isLater(than: transaction.grace)
        else { return false }
        let following = grace.following(transaction.grace)
        guard following != transaction.grace else { return false }
        change(claim.key) { $0.grace = following }
        changes.stated.insert(transaction.originalKey)
        return transaction.grace?.endsAt != following?.endsAt
    }
}

/// The rule of refunds without a revocation. That of a revocation is part of its event.
extension EntitlementDecision {
    /// The money that the store has paid back of a claim's transaction; nil for none.
    private func paidBack(of claim: Claim) -> PaidBack? {
        guard let transaction = facts.transactions[claim.key], let stated = transaction.stated else { return nil }
        return PaidBack(stated, quantity: claim.quantity, revokedAt: transaction.status.revocationDate)
    }

    /// Records money that was paid back since, however often it is stated.
    private mutating func auditRefund(of claim: Claim, after before: PaidBack?, to user: Int64) {
        guard let after = paidBack(of: claim), before == nil || after.amount ?? 0 > before?.amount ?? 0 else { return }
        audit(
            .paymentRefunded, claim.key, claim.productIdentifier, by: .appStore, to: user,
            measure: refund(of: claim, after, paidBefore: before?.amount ?? 0))
    }

    /// The part of an amount that no earlier event has; nil if the amount or the currency is unknown.
    private func refund(of claim: Claim, _ paidBack: PaidBack, paidBefore before: Int64) -> AuditEntry.Measure? {
        guard let amount = paidBack.amount, let currency = facts.transactions[claim.key]?.stated?.text(.currency)
        else { return nil }
        return .refund(Price(milliunits: amount - before, currency: currency), at: paidBack.at)
    }
}

extension EntitlementFacts.Transaction {
    /// The statements with that of a claim; nil if the purchase event has only one identifier.
    fileprivate func statements(adding claim: Claim) -> EventStatements? {
        let first = claim.otherIdentifier.map { _ in EventStatements(status, under: claim.transactionIdentifier) }
        guard var statements = statements ?? first else { return nil }
        statements.add(
            TransactionStatus(claim).keepingEnd(of: status, unless: claim.isKnown),
            under: claim.otherIdentifier ?? claim.transactionIdentifier)
        return statements
    }
}

/// The last statement about one purchase event under each of its transaction identifiers.
///
/// The event is revoked while the last statement under any identifier revokes it. Only a later statement under the same
/// identifier, such as one of a reversal, takes that back. The end is the one stated last.
package struct EventStatements: Hashable, Sendable, Codable {
    private struct Statement: Hashable, Sendable, Codable {
        let identifier: String
        var status: TransactionStatus
    }

    private var first: Statement
    private var others: [Statement] = []

    /// - Parameter identifier: The only identifier of the event so far.
    init(_ status: TransactionStatus, under identifier: String) {
        first = Statement(identifier: identifier, status: status)
    }

    mutating func add(_ status: TransactionStatus, under identifier: String) {
        var statements = [first] + others
        if let index = statements.firstIndex(where: { $0.identifier.hasSameBytes(as: identifier) }) {
            if status.isLater(than: statements[index].status) { statements[index].status = status }
        } else {
            statements.append(Statement(identifier: identifier, status: status))
            statements.sort { ByteKey($0.identifier) < ByteKey($1.identifier) }
        }
        (first, others) = (statements[0], Array(statements.dropFirst()))
    }

    /// The status of the event.
    var status: TransactionStatus {
        let statuses = [first.status] + others.map(\.status)
        func last(_ last: TransactionStatus, _ next: TransactionStatus) -> TransactionStatus {
            next.isLater(than: last) ? next : last
        }
        var status = statuses.reduce(first.status, last)
        let revoked = statuses.filter(\.isRevoked)
        let revoking = revoked.first.map { revoked.reduce($0, last) }
        (status.revocationDate, status.revocationReason) = (revoking?.revocationDate, revoking?.revocationReason)
        return status
    }
}
