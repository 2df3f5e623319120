import Commerce
import Ledger

/// The decision about claims: pure, so that no database, clock or chance has a part in it.
///
/// Claims are decided one by one, each in view of the changes before it. A refused claim changes nothing that is owned. The same
/// statements lead to the same entitlements in whatever order and however often they come.
package struct EntitlementDecision: Sendable {
    package private(set) var facts: EntitlementFacts
    /// The changes to write, in their order.
    package private(set) var changes: [EntitlementChange] = []
    let policy: OwnershipPolicy
    /// The origins that count for every user.
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
    package mutating func redeem(_ claim: Claim, for user: Int64, by actor: AuditActor) -> Redemption.Result {
        let original = facts.ownedOriginal(of: claim)
        let siblings = facts.parkedSiblings(of: claim)
        let named = facts.namedOwner(by: claim, siblings, of: original)
        if let refusal = refusal(of: claim, original, named, to: user) {
            changes.append(.refused(refusal, claim, user: user, actor: actor))
            return refusal
        }
        let isTransferred = give(original, to: user, by: named?.naming, claim, actor)
        let result = takeIn(claim, of: user, by: actor, named?.naming)
        takeIn(siblings, of: user)
        return isTransferred && result == .alreadyRedeemed ? .granted : result
    }

    /// Decides what the App Store states of a transaction: it reaches the user whose account token it names, else the owner of
    /// the purchase. A statement for nobody is parked until a user presents the transaction.
    package mutating func state(_ claim: Claim) -> NotificationOutcome {
        let original = facts.ownedOriginal(of: claim)
        let siblings = facts.parkedSiblings(of: claim)
        let named = facts.namedOwner(by: claim, siblings, of: original)
        let before = facts.transactions[claim.key]
        guard let owner = named?.user ?? original.flatMap({ facts.purchases[$0]?.owner }),
            before != nil || claim.isKnown
        else {
            park(claim)
            return .parked
        }
        guard isAccepted(claim.origin, for: owner) else {
            // The statement signed last counts, should the owner buy there again; it grants nothing now, and nobody hears of it.
            if let before {
                if Standing(claim).isLater(than: before.standing) { write(Standing(claim), of: claim, to: claim.key) }
                write(factsOf: claim)
            } else {
                park(claim)
            }
            return .recorded
        }
        _ = give(original, to: owner, by: named?.naming, claim, .appStore)
        let stood = before.map { !$0.standing.isRevoked } ?? true && !facts.revokedByTeam.contains(claim.originalKey)
        let result = takeIn(claim, of: owner, by: .appStore, named?.naming)
        takeIn(siblings, of: owner)
        switch result {
        case .granted: return .granted
        case .revoked where stood: return .revoked
        default: return .recorded
        }
    }

    func isAccepted(_ origin: Origin, for user: Int64) -> Bool {
        origins.contains(origin) || facts.furtherOrigins[user]?.contains(origin) ?? false
    }

    /// Makes a change, and lets the claims after it see it.
    mutating func make(_ change: EntitlementChange) {
        changes.append(change)
        facts.apply(change, at: moment)
    }

    mutating func audit(
        _ event: AuditEntry.Event, _ key: TransactionKey, _ productIdentifier: String, by actor: AuditActor,
        to user: Int64
    ) {
        changes.append(
            .audit(
                AuditEntry(
                    happenedAt: moment, event: event, actor: actor, origin: key.origin, reference: key.identifier,
                    subject: productIdentifier, reason: nil), user: user))
    }
}
