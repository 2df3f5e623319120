import Ledger
import Proofs

/// The decision about claims. It is pure: it uses no database, clock or randomness.
///
/// Claims are decided one by one, each after the changes before it. A refused claim changes nobody's items. The same statements
/// lead to the same entitlements, in any order and with any repetition.
package struct EntitlementDecision: Sendable {
    package internal(set) var facts: EntitlementFacts
    /// The changes to write, in their order.
    package private(set) var changes: [EntitlementChange] = []
    /// The claims of the proof that is being decided.
    package var presented: [Claim] = []
    let policy: OwnershipPolicy
    /// The origins that are valid for every user.
    let origins: Set<Origin>
    let moment: Timestamp

    package init(
        facts: EntitlementFacts,
        policy: OwnershipPolicy = .keep,
        origins: Set<Origin> = [],
        at moment: Timestamp
    ) {
        self.facts = facts
        self.policy = policy
        self.origins = origins
        self.moment = moment
    }

    /// Decides a claim that a user presents.
    ///
    /// - Parameter user: The user's number.
    package mutating func redeem(_ presented: Claim, for user: Int64, by actor: AuditActor) -> Redemption.Result {
        confirmExpectation(of: presented, presentedBy: user)
        let claim = facts.standing(for: presented)
        let original = facts.ownedOriginal(of: claim)
        let siblings = facts.parkedSiblings(of: claim)
        let named = facts.namedOwner(by: claim, siblings, of: original)
        if let refusal = refusal(of: claim, original, named, to: user) {
            changes.append(.refused(refusal, presented, user: user, actor: actor))
            return refusal
        }
        let isTransferred = give(original, to: user, by: named?.naming, claim, actor)
        let result = apply(claim, of: user, by: actor, named?.naming)
        applyParked(presented, as: claim, of: user)
        apply(siblings, of: user)
        return isTransferred && result == .alreadyRedeemed ? .granted : result
    }

    /// Decides a statement of the App Store about a transaction. It goes to the user of its account token, to the owner of the
    /// purchase, or to the customer for whom an import expects it. A statement for nobody is parked until a user presents the
    /// transaction.
    package mutating func state(_ stated: Claim) -> NotificationOutcome {
        if facts.hasOtherProduct(than: stated) {
            if let owner = facts.ownedOriginal(of: stated).flatMap({ facts.purchases[$0]?.owner }) {
                changes.append(.refused(.transactionConflict, stated, user: owner, actor: .appStore))
            }
            return .recorded
        }
        let claim = facts.standing(for: stated)
        let original = facts.ownedOriginal(of: claim)
        let siblings = facts.parkedSiblings(of: claim)
        let named = facts.namedOwner(by: claim, siblings, of: original)
        let before = facts.transactions[claim.key]
        let known = original.flatMap { facts.purchases[$0]?.owner } ?? expectedOwner(of: claim)
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
                if let status = newStatus(by: claim) { write(status, of: claim, to: claim.key) }
                write(factsOf: claim)
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
        changes.removeAll {
            if case .refused(_, _, let user, _) = $0 { users.contains(user) } else { false }
        }
    }

    /// Makes a change, which the following claims see.
    mutating func make(_ change: EntitlementChange) {
        changes.append(change)
        facts.apply(change, at: moment)
    }

    mutating func audit(
        _ event: AuditEntry.Event, _ key: TransactionKey, _ productIdentifier: String, by actor: AuditActor,
        to user: Int64, reason: String? = nil
    ) {
        changes.append(
            .audit(
                AuditEntry(
                    happenedAt: moment, event: event, actor: actor, origin: key.origin, app: key.app,
                    reference: key.identifier, subject: productIdentifier, reason: reason), user: user))
    }
}
