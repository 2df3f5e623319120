import Ledger
import Proofs
import Vocabulary

/// The decision about claims. It is pure: it uses no database, clock or randomness.
///
/// Claims are decided one by one, each after the changes before it. A refused claim changes nobody's items. The same statements
/// lead to the same entitlements, in any order and with any repetition.
package struct EntitlementDecision: Sendable {
    package internal(set) var facts: EntitlementFacts
    /// The changes to write.
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
        confirmExpectation(of: presented, presentedBy: user)
        let claim = facts.standing(for: presented)
        let original = facts.ownedOriginal(of: claim)
        let siblings = facts.parkedSiblings(of: claim)
        let named = standing(facts.namedOwner(by: claim, siblings, of: original), of: original)
        if let refusal = refusal(of: claim, facts.decidingOriginal(of: claim), named, to: user) {
            changes.events.append(.refused(refusal, presented, user: user, actor: actor))
            return refusal
        }
        let isTransferred = give(original, to: user, by: named?.naming, claim, actor)
        let result = apply(claim, of: user, by: actor, named?.naming)
        applyParked(presented, as: claim, of: user)
        apply(siblings, of: user)
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
                changes.events.append(.refused(.transactionConflict, stated, user: owner, actor: .appStore))
            }
            return .recorded
        }
        let claim = facts.standing(for: stated)
        let original = facts.ownedOriginal(of: claim)
        let siblings = facts.parkedSiblings(of: claim)
        let named = standing(facts.namedOwner(by: claim, siblings, of: original), of: original)
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
        _ = give(original, to: owner, by: named?.naming, claim, .appStore)
        let wasInEffect =
            before.map { !$0.status.isRevoked } ?? true && !facts.revokedByTeam.contains(claim.originalKey)
        let result = apply(claim, of: owner, by: .appStore, named?.naming)
        applyParked(stated, as: claim, of: owner)
        apply(siblings, of: owner)
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
        _ = apply(claim, of: owner, by: .appStore, nil)
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

/// The rule of merges.
extension EntitlementDecision {
    /// Gives all purchases of an anonymous customer to the customer who has logged in. It is no transfer to somebody else: the
    /// ownership policy, the pause between two transfers and spent credits do not hinder it.
    ///
    /// - Parameters:
    ///   - former: The number of the anonymous customer. The facts have all its purchases.
    ///   - identifier: The anonymous id, for the audit log.
    package mutating func merge(_ former: Int64, into user: Int64, identifier: String, by actor: AuditActor) {
        let purchases = facts.purchases.filter { $0.value.owner == former }.keys.sorted()
        for original in purchases {
            let product = lastProduct(of: original)
            change(purchase: original) { $0.owner = user }
            changes.transferred.append(original)
            audit(.transferredOut, original, product, by: actor, to: former)
            audit(.transferredIn, original, product, by: actor, to: user, reason: identifier)
        }
        facts.tokenOwners = facts.tokenOwners.mapValues { $0 == former ? user : $0 }
        facts.tokensHaveMoved()
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

    /// Writes a claim's statement about the renewal of a redeemed subscription, unless a later one is known.
    mutating func write(renewalOf claim: Claim) {
        guard let renewal = claim.renewal else { return }
        guard let original = facts.transactions[claim.key]?.originalKey else {
            return note("a renewal is one of a redeemed transaction", claim.key)
        }
        guard renewal.isLater(than: facts.purchases[original]?.renewal) else { return }
        let start = facts.transactions[claim.key]?.purchaseDate ?? claim.purchaseDate
        guard
            claim.origin.store.statesRenewalOfPurchase
                || facts.reading(periodsOf: original, { $0.first(after: start) }) == nil
        else { return }
        facts.set(renewal.completed(by: facts.purchases[original]?.renewal), for: original)
        changes.changedRenewals.insert(original)
        changes.stated.insert(original)
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
        _ = apply(claim, of: owner, by: .appStore, nil)
        apply(siblings, of: owner)
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
    /// The purchases with a later statement about the renewal.
    var changedRenewals: Set<TransactionKey> = []
    /// The purchases with another state in the history of the owner.
    var recordedStates: Set<TransactionKey> = []
    /// The purchases whose state may follow from a new statement.
    var stated: Set<TransactionKey> = []
    /// The transactions that were parked, or are parked no longer.
    var parkedOrUnparked: Set<TransactionKey> = []

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
