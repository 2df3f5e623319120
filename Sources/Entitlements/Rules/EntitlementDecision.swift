import Ledger
import Proofs
import Vocabulary

/// The decision about claims. It is pure: it uses no database, clock or randomness.
///
/// Claims are decided one by one, each after the changes before it. A refused claim changes nobody's items. The same statements
/// lead to the same entitlements, in any order and with any repetition.
package struct EntitlementDecision: Sendable {
    package internal(set) var facts: EntitlementFacts
    package internal(set) var changes = EntitlementChanges()
    /// What cannot be, and was found; nil for nothing.
    package internal(set) var breach: BrokenInvariant?
    /// The claims of the proof that is being decided.
    package var presented: [Claim] = []
    var policy: OwnershipPolicy
    /// The days after the erasure of a purchase's owner from which on a proof is enough to own it.
    let erasedClaimDays: Int64
    /// The origins that are valid for every user.
    let origins: Set<Origin>
    let moment: Timestamp

    /// Decides a claim that a user presents.
    ///
    /// - Parameter user: The user's number.
    package mutating func redeem(_ presented: Claim, for user: Int64, by actor: AuditActor) -> Redemption.Result {
        facts.join(presented)
        confirmExpectation(of: presented, presentedBy: user)
        let claim = facts.standing(for: presented)
        let original = facts.ownedOriginal(of: claim)
        let siblings = facts.parkedSiblings(of: claim)
        // Swift would copy the whole decision before a call inside the next one, because this call may change the facts.
        let byToken = facts.namedOwner(by: claim, siblings, of: original)
        let named = standing(byToken, of: original)
        if let refusal = refusal(of: claim, facts.decidingOriginal(of: claim), named, to: user) {
            changes.events.append(.refused(refusal, presented, user: user, actor: actor))
            return refusal
        }
        var isTransferred = give(original, to: user, by: named?.naming, claim, actor)
        // The new part of a subscription takes the others along, so that no two users have it. A part with an account token stays.
        if original == nil, let part = facts.ownedPart(of: claim), facts.purchases[part]?.naming == nil {
            isTransferred = give(part, to: user, by: nil, claim, actor)
        }
        let result = apply(claim, of: user, by: actor, named?.naming)
        applyParked(presented, as: claim, of: user)
        apply(siblings, of: user)
        applyParked(partsOf: claim, of: user)
        return isTransferred && result == .alreadyRedeemed ? .granted : result
    }

    /// Decides the claim to a purchase of nobody that the team assigns to a user. Under each policy, it takes nothing from anybody.
    mutating func assign(
        _ claim: Claim, to user: Int64, reason: String, by actor: AuditActor
    ) -> Redemption.Result {
        let operators = policy
        policy = .keep
        defer { policy = operators }
        let result = redeem(claim, for: user, by: actor)
        if result.allowsFinish {
            audit(.assigned, claim.key, claim.productIdentifier, by: actor, to: user, reason: reason)
        }
        return result
    }

    /// Decides a statement of the App Store about a transaction. It goes to the user of its account token, to the owner of the
    /// purchase, or to the customer for whom an import expects it. A statement for nobody is parked until a user presents the
    /// transaction.
    package mutating func state(_ stated: Claim) -> NotificationOutcome {
        if facts.hasOtherProduct(than: stated) {
            if let owner = facts.ownedOriginal(of: stated).flatMap({ facts.purchases[$0]?.owner }) {
                changes.events.append(
                    .refused(.transactionConflict, stated, user: owner, actor: .store(stated.origin.store)))
            }
            return .recorded
        }
        facts.join(stated)
        let claim = facts.standing(for: stated)
        let original = facts.ownedOriginal(of: claim)
        let siblings = facts.parkedSiblings(of: claim)
        let byToken = facts.namedOwner(by: claim, siblings, of: original)
        let named = standing(byToken, of: original)
        let before = facts.transactions[claim.key]
        let deciding = original ?? (expectedOwner(of: claim) == nil ? facts.decidingOriginal(of: claim) : nil)
        let known = deciding.flatMap { facts.purchases[$0]?.owner } ?? expectedOwner(of: claim)
        guard let owner = named?.user ?? known,
            before != nil || claim.isKnown
        else {
            park(claim)
            return .parked
        }
        guard isAccepted(claim.origin, for: owner) else {
            // The last signed statement is stored in case the origin is accepted again. It grants nothing now and causes no
            // event.
            if before != nil {
                if let status = status(by: claim) { write(status, of: claim, to: claim.key) }
            } else {
                park(claim)
            }
            return .recorded
        }
        _ = give(original, to: owner, by: named?.naming, claim, .store(claim.origin.store))
        let wasInEffect =
            before.map { !$0.status.isRevoked } ?? true && !facts.revokedByTeam.contains(claim.originalKey)
        let result = apply(claim, of: owner, by: .store(claim.origin.store), named?.naming)
        applyParked(stated, as: claim, of: owner)
        apply(siblings, of: owner)
        applyParked(partsOf: claim, of: owner)
        switch result {
        case .granted: return .granted
        case .revoked where wasInEffect: return .revoked
        default: return .recorded
        }
    }

    /// Applies a claim as if the owner of its purchase presented it, or somebody new if nobody owns it.
    ///
    /// - Returns: The transaction that stands for the claim, and its original transaction.
    mutating func suppose(_ stated: Claim) -> (transaction: TransactionKey, original: TransactionKey) {
        let claim = facts.standing(for: stated)
        let siblings = facts.parkedSiblings(of: claim)
        let owner = facts.ownedOriginal(of: claim).flatMap { facts.purchases[$0]?.owner } ?? 0
        _ = apply(claim, of: owner, by: .store(claim.origin.store), nil)
        applyParked(stated, as: claim, of: owner)
        apply(siblings, of: owner)
        return (claim.key, facts.transactions[claim.key]?.originalKey ?? claim.originalKey)
    }

    func isAccepted(_ origin: Origin, for user: Int64) -> Bool {
        origins.contains(origin) || facts.acceptedOriginsByUser[user]?.contains(origin) ?? false
    }

    /// Leaves the refusals of users out of the changes.
    mutating func removeRefusals(of users: Set<Int64>) {
        changes.events.removeAll {
            if case .refused(_, _, let user, _) = $0 { users.contains(user) } else { false }
        }
    }

    mutating func audit(
        _ event: AuditEntry.Event, _ key: TransactionKey, _ productIdentifier: String, by actor: AuditActor,
        to user: Int64, reason: String? = nil, measure: AuditEntry.Measure? = nil
    ) {
        changes.events.append(
            .audit(
                AuditEntry(
                    happenedAt: moment, event: event, actor: actor, origin: key.origin, app: key.app,
                    reference: key.identifier, subject: productIdentifier, reason: reason, measure: measure),
                user: user))
    }
}

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
        let purchase = facts.transactions[claim.key]?.originalKey ?? claim.originalKey
        let moves = facts.previous(of: purchase)
        let result = applyStatement(of: claim, of: user, by: actor, naming, after: paidBack)
        for previous in facts.previous(of: purchase).subtracting(moves).sorted() {
            auditMove(of: claim, from: previous, to: user)
        }
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
        auditExtension(by: claim, from: before, to: stated, of: user)
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

    /// Records that a subscription goes on as another purchase, once for each purchase as which it was sold before.
    private mutating func auditMove(of claim: Claim, from previous: TransactionKey, to user: Int64) {
        changes.moves[previous] = changes.moves[previous] ?? claim.key
        audit(
            .migrated, claim.key, claim.productIdentifier, by: .store(claim.origin.store), to: user,
            reason: previous.identifier)
    }

    /// Redeems the transactions parked for the other parts of a claim's subscription, if nobody else owns the part.
    mutating func applyParked(partsOf claim: Claim, of user: Int64) {
        guard facts.hasMoved(claim.originalKey) else { return }
        var seen: Set<TransactionKey> = [claim.originalKey]
        // A part that is applied may state a further one.
        while let part = facts.subscription(of: claim.originalKey).first(where: { !seen.contains($0) }) {
            seen.insert(part)
            guard facts.purchases[part].map({ $0.owner == user }) ?? true else { continue }
            let parked = facts.parkedSiblings(of: claim.key, in: part)
            if parked.lastNaming.map({ $0.user == user }) ?? true { apply(parked, of: user) }
        }
    }

    /// Redeems the transactions parked for the same purchase, such as a subscription's renewals.
    mutating func apply(_ siblings: ParkedSiblings, of user: Int64) {
        for sibling in siblings.claims where sibling.isKnown {
            let claim = facts.standing(for: sibling)
            if claim.key != sibling.key { unpark(sibling.key) }
            _ = apply(claim, of: user, by: .store(claim.origin.store), nil)
        }
    }

    /// Applies the statement that is parked under another identifier of a claim's purchase event.
    mutating func applyParked(_ presented: Claim, as claim: Claim, of user: Int64) {
        guard presented.key != claim.key, let said = facts.parked[presented.key]?.claim else { return }
        unpark(presented.key)
        _ = apply(
            said.with(transactionIdentifier: claim.transactionIdentifier), of: user, by: .store(said.origin.store), nil)
    }

    /// Parks a statement. Of two about the same transaction, the later one is kept; the same applies to their grace periods.
    mutating func park(_ claim: Claim) {
        let stated = TransactionStatus(claim)
        guard let kept = facts.parked[claim.key] else { return park(claim, stated) }
        facts.removeParked(claim.key)
        let isLater = stated.isLater(than: kept.status)
        let grace = GracePeriod.joining(GracePeriod(claim), GracePeriod(kept.claim))
        let numbers = (kept.claim.statementNumber, claim.statementNumber)
        let facts =
            claim.facts.map { (kept.claim.facts ?? TransactionFacts()).completed(by: $0, numbered: numbers) }
            ?? kept.claim.facts
        let renewal = claim.renewal?.joined(with: kept.claim.renewal)
        park(
            (isLater ? claim : kept.claim).with(
                grace: grace.map { Claim.Grace(endsAt: $0.endsAt, isOver: $0.isOver, order: $0.order) }, facts: facts,
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

/// The rules of restored purchases: all transactions with the same original and product are one purchase.
extension EntitlementDecision {
    /// Writes a statement to the other transactions that repeat the purchase of a claim, unless they have a later one.
    mutating func writeToRepeats(_ status: TransactionStatus, of claim: Claim, by actor: AuditActor) {
        guard claim.repeatsOriginal, let owner = facts.purchases[claim.originalKey]?.owner,
            facts.repeatedStatus(of: claim)?.isBehind(status) ?? false
        else { return }
        for (key, transaction) in facts.transactions(ofPurchaseRepeatedBy: claim) where key != claim.key {
            let before = transaction.status
            guard status.isLater(than: before) else { continue }
            write(status, of: claim, to: key)
            guard before.isRevoked != status.isRevoked else { continue }
            audit(status.isRevoked ? .revoked : .granted, key, claim.productIdentifier, by: actor, to: owner)
        }
        facts.setRepeated(status, of: claim)
    }
}

extension EntitlementFacts {
    func transactions(ofPurchaseRepeatedBy claim: Claim) -> [(key: TransactionKey, transaction: Transaction)] {
        let product = ByteKey(claim.productIdentifier)
        return transactions(of: claim.originalKey).filter { ByteKey($0.transaction.productIdentifier) == product }
    }

    /// The last statement about the purchase that a claim repeats: about another of its transactions, or parked for the
    /// original.
    ///
    /// - Returns: Nil if each transaction is a purchase of its own.
    mutating func lastStatus(ofPurchaseRepeatedBy claim: Claim) -> TransactionStatus? {
        guard claim.repeatsOriginal else { return nil }
        let said = [repeatedStatus(of: claim)?.last, parked[claim.originalKey]?.status].compactMap(\.self)
        return said.reduce(nil) { last, next in last.map { next.isLater(than: $0) } ?? true ? next : last }
    }
}

/// The rules of purchases that an import expects.
extension EntitlementDecision {
    /// The customer for whom an import expects the purchase of a claim; nil if somebody owns the purchase, or if its origin is
    /// not accepted for the customer.
    func expectedOwner(of claim: Claim) -> Int64? {
        guard facts.ownedOriginal(of: claim) == nil, let owner = facts.expectedOwners[claim.originalKey],
            isAccepted(claim.origin, for: owner)
        else { return nil }
        return owner
    }

    /// Gives an expected purchase to its customer, before another user's claim to it is decided.
    ///
    /// The ownership policy then decides as if the customer had redeemed the purchase before the import. An account token that
    /// determines the owner takes precedence over the expectation.
    mutating func confirmExpectation(of claim: Claim, presentedBy user: Int64) {
        // Most decisions are about no expected purchase.
        guard !facts.expectedOwners.isEmpty, claim.isKnown, let owner = expectedOwner(of: claim), owner != user else {
            return
        }
        let siblings = facts.parkedSiblings(of: claim)
        guard facts.namedOwner(by: claim, siblings, of: nil) == nil else { return }
        _ = apply(claim, of: owner, by: .store(claim.origin.store), nil)
        apply(siblings, of: owner)
    }
}

/// The rules of facts that no decision depends on: price, storefront and renewal.
extension EntitlementDecision {
    /// Writes the new facts that a claim states about a redeemed transaction and its subscription.
    ///
    /// - Parameter number: The number of the statement with the known facts; nil for that of the last status.
    mutating func write(factsOf claim: Claim, after number: Int64? = nil) {
        if let stated = claim.facts, let transaction = facts.transactions[claim.key] {
            let known = transaction.stated ?? TransactionFacts()
            let complete = known.completed(
                by: stated, numbered: (number ?? transaction.status.statementNumber, claim.statementNumber))
            if complete != known {
                facts.set(complete, for: claim.key)
                changes.changedFacts.insert(claim.key)
                changes.stated.insert(transaction.originalKey)
            }
        }
        write(renewalOf: claim)
    }

    /// Writes a claim's statement about the renewal of a redeemed subscription. If a later one is known, it only adds to the settings.
    mutating func write(renewalOf claim: Claim) {
        guard let renewal = claim.renewal else { return }
        guard let original = facts.transactions[claim.key]?.originalKey else {
            return note("a renewal is one of a redeemed transaction", claim.key)
        }
        let known = facts.purchases[original]?.renewal
        let joined = renewal.joined(with: known)
        guard joined != known else { return }
        let start = facts.transactions[claim.key]?.purchaseDate ?? claim.purchaseDate
        guard
            claim.origin.store.statesRenewalOfPurchase
                || facts.reading(periodsOf: original, { $0.first(after: start) }) == nil
        else { return }
        facts.set(joined, for: original)
        changes.changedRenewals.insert(original)
        if renewal.isLater(than: known) { changes.stated.insert(original) }
    }
}

/// The changes that a decision makes to the ledger. The facts after the decision have the new values.
package struct EntitlementChanges: Hashable, Sendable {
    package enum Event: Hashable, Sendable {
        case audit(AuditEntry, user: Int64)
        /// A refused claim, recorded once for each user, transaction and result, because an app retries at every launch.
        case refused(Redemption.Result, Claim, user: Int64, actor: AuditActor)
        /// A changed end of a purchase, which apps display.
        case endChanged(productIdentifier: String, user: Int64)
    }

    /// The events of users, in their order.
    package internal(set) var events: [Event] = []
    /// The claims of the transactions that are redeemed for the first time, in their order.
    package internal(set) var newTransactions: [Claim] = []
    /// The transactions with another status, other statements or another grace period.
    var changedTransactions: Set<TransactionKey> = []
    /// The transactions with other facts.
    var changedFacts: Set<TransactionKey> = []
    /// The purchases without a previous owner, by their original transactions, like all following ones.
    var newPurchases: Set<TransactionKey> = []
    /// The purchases with another transaction that determines the owner.
    var named: Set<TransactionKey> = []
    /// The purchases with another owner, in the order of the transfers.
    var transferred: [TransactionKey] = []
    /// The purchases with a later statement about the renewal, or with other settings of it.
    var changedRenewals: Set<TransactionKey> = []
    /// The purchases with another state in the history of the owner.
    var recordedStates: Set<TransactionKey> = []
    /// The purchases whose state may follow from a new statement.
    var stated: Set<TransactionKey> = []
    /// The transactions that were parked, or are parked no longer.
    var parkedOrUnparked: Set<TransactionKey> = []
    /// The transactions that state a move for the first time, by the purchase as which the subscription was sold before.
    var moves: [TransactionKey: TransactionKey] = [:]

    package init() {}
}

/// The changes of facts. The following claims see them.
extension EntitlementDecision {
    /// Gives a purchase without an owner to a user.
    mutating func add(_ original: TransactionKey, of user: Int64, _ naming: Naming?) {
        facts.set(EntitlementFacts.Purchase(owner: user, naming: naming), for: original)
        facts.expectedOwners[original] = nil
        changes.newPurchases.insert(original)
    }

    /// Adds a transaction that is redeemed for the first time, with the item or credit of the claim.
    mutating func add(_ claim: Claim, _ status: TransactionStatus) {
        facts.set(EntitlementFacts.Transaction(claim, status), for: claim.key)
        changes.newTransactions.append(claim)
        changes.stated.insert(claim.originalKey)
    }

    mutating func set(_ status: TransactionStatus, of key: TransactionKey) {
        change(key) { $0.status = status }
        if let original = facts.transactions[key]?.originalKey { changes.stated.insert(original) }
    }

    mutating func change(_ key: TransactionKey, _ change: (inout EntitlementFacts.Transaction) -> Void) {
        guard var transaction = facts.transactions[key] else { return note("a changed transaction is known", key) }
        change(&transaction)
        facts.set(transaction, for: key)
        changes.changedTransactions.insert(key)
    }

    mutating func change(purchase original: TransactionKey, _ change: (inout EntitlementFacts.Purchase) -> Void) {
        guard var purchase = facts.purchases[original] else { return note("a changed purchase is known", original) }
        change(&purchase)
        facts.set(purchase, for: original)
    }

    mutating func park(_ claim: Claim, _ status: TransactionStatus) {
        facts.setParked(EntitlementFacts.ParkedStatement(status: status, claim: claim), for: claim.key)
        changes.parkedOrUnparked.insert(claim.key)
    }

    mutating func unpark(_ key: TransactionKey) {
        facts.removeParked(key)
        changes.parkedOrUnparked.insert(key)
    }
}

extension EntitlementFacts {
    /// A decision over these facts, which has changed nothing.
    package func decision(
        under policy: OwnershipPolicy = .keep,
        claimingErasedAfter days: Int64 = OwnershipPolicy.defaultErasedClaimDays,
        accepting origins: Set<Origin> = [],
        at moment: Timestamp
    ) -> EntitlementDecision {
        EntitlementDecision(
            facts: self, policy: policy, erasedClaimDays: days, origins: origins, moment: moment)
    }
}

/// The invariants of each decision. They are checked before anything is written: a breach refuses the group.
///
/// The rules of a decision do not throw. One that finds what cannot be notes it (`EntitlementDecision.breach`), and the check throws it.
extension EntitlementDecision {
    package func check(after before: EntitlementFacts) throws(BrokenInvariant) {
        if let breach { throw breach }
        try checkPurchases(after: before)
        try checkTransactions(after: before)
        for case .audit(let entry, let user) in changes.events {
            try hold(user > 0, "an event is one of a user", entry.reference)
        }
        for original in changes.changedRenewals {
            try hold(facts.purchases[original]?.renewal != nil, "a changed renewal is stated", original)
        }
        for original in changes.recordedStates {
            try hold(
                facts.recordedStates[original] != nil && facts.purchases[original] != nil,
                "a recorded state is one of a purchase", original)
        }
    }

    private func checkPurchases(after before: EntitlementFacts) throws(BrokenInvariant) {
        let (new, transferred) = (changes.newPurchases, Set(changes.transferred))
        for (original, purchase) in facts.purchases {
            let known = before.purchases[original]
            try hold((known == nil) == new.contains(original), "a purchase is new if nobody has owned it", original)
            guard known?.owner != purchase.owner else { continue }
            try hold(purchase.owner > 0, "an owner is a user", original)
            try hold(known == nil || transferred.contains(original), "an owner changes by a transfer", original)
        }
        for original in new.union(transferred).union(changes.named) {
            try hold(facts.purchases[original] != nil, "a changed purchase is known", original)
        }
    }

    private func checkTransactions(after before: EntitlementFacts) throws(BrokenInvariant) {
        var new: Set<TransactionKey> = []
        for claim in changes.newTransactions {
            try hold(
                before.transactions[claim.key] == nil && new.insert(claim.key).inserted,
                "a transaction is redeemed once", claim.key)
        }
        for key in new.union(changes.changedTransactions).union(changes.changedFacts) {
            guard let transaction = facts.transactions[key] else {
                throw BrokenInvariant("a changed transaction is known", key.identifier)
            }
            try hold(facts.purchases[transaction.originalKey] != nil, "a transaction has its purchase", key)
            try hold(
                new.contains(key) || before.transactions[key]?.sequence != nil, "a redeemed transaction has its row",
                key
            )
            let paidBack = transaction.stated?.integer(.refundedAmount)
            try hold(paidBack.map { $0 >= 0 } ?? true, "no store pays back less than nothing", key)
        }
    }

    private func hold(
        _ condition: Bool, _ rule: String, _ subject: @autoclosure () -> String
    ) throws(BrokenInvariant) {
        guard condition else { throw BrokenInvariant(rule, subject()) }
    }

    private func hold(_ condition: Bool, _ rule: String, _ key: TransactionKey) throws(BrokenInvariant) {
        try hold(condition, rule, key.identifier)
    }

    /// Notes what cannot be. The first breach counts.
    mutating func note(_ rule: String, _ key: TransactionKey) {
        breach = breach ?? BrokenInvariant(rule, key.identifier)
    }
}
