import Ledger
import Proofs
import Vocabulary

/// The operator's policy for a user who presents another user's purchase.
///
/// A transfer moves a purchase with all its transactions in one commit. A purchase that added to a balance is never
/// transferred, because it may be spent. If the App Store states an account token for any other purchase, the token decides
/// regardless of the policy.
///
/// An erased owner uses nothing. So nothing of such a purchase is active, and under each policy it can be claimed some days after the
/// erasure. Until then a thief of a proof gains nothing by an erasure, and the team can move the purchase at once.
package enum OwnershipPolicy: Hashable, Sendable {
    /// The purchase stays with the first user who redeemed it.
    case keep
    /// The purchase is transferred to the user who presents it, but not again before the pause is over.
    case transfer(pauseSeconds: Int64)
    /// Like `transfer`, but only if nothing of the purchase is active, such as an expired subscription.
    case transferIfInactive(pauseSeconds: Int64)

    /// The default pause between two transfers of a purchase: 30 days.
    package static let defaultPauseSeconds: Int64 = 30 * 24 * 60 * 60

    /// The default of the days after the erasure of the owner from which on a proof is enough to own a purchase.
    package static let defaultErasedClaimDays: Int64 = 30

    /// - Parameter name: The name in the operator's settings.
    /// - Returns: Nil for an unknown name.
    package init?(name: String, pauseSeconds: Int64) {
        switch name {
        case "keep": self = .keep
        case "transfer": self = .transfer(pauseSeconds: pauseSeconds)
        case "transferIfInactive": self = .transferIfInactive(pauseSeconds: pauseSeconds)
        default: return nil
        }
    }

    /// The reason not to transfer a purchase; nil to transfer it.
    ///
    /// - Parameters:
    ///   - isActive: True if a part of the purchase is active.
    ///   - transferredAt: The time of the last transfer of a part.
    func refusal(
        isActive: Bool,
        transferredAt: Timestamp?,
        at moment: Timestamp
    ) -> Redemption.Result? {
        let pause: Int64
        switch self {
        case .keep: return .ownedByAnotherUser
        case .transfer(let seconds): pause = seconds
        case .transferIfInactive(let seconds):
            if isActive { return .ownedByAnotherUser }
            pause = seconds
        }
        return transferredAt.map { moment < $0.adding(seconds: pause) } ?? false ? .transferTooSoon : nil
    }
}

/// The rules of ownership and transfers.
extension EntitlementDecision {
    /// The reason to refuse a claim to a user; nil if the user may have it.
    mutating func refusal(
        of claim: Claim,
        _ original: TransactionKey?,
        _ named: EntitlementFacts.NamedOwner?,
        to user: Int64
    ) -> Redemption.Result? {
        guard !facts.hasOtherProduct(than: claim) else { return .transactionConflict }
        guard claim.isKnown else { return .productUnknown }
        if let named { return named.user == user ? nil : .appAccountTokenMismatch }
        guard let original, let purchase = facts.purchases[original], purchase.owner != user else { return nil }
        let erasedAt = facts.erasedOwners[purchase.owner]
        let isClaimable = erasedAt.map(isClaimable) ?? false
        guard purchase.naming == nil || isClaimable else { return .appAccountTokenMismatch }
        // The credit may be spent already.
        guard !facts.summary(of: original).addsToBalance else { return .ownedByAnotherUser }
        if isClaimable { return nil }
        let isActive = erasedAt == nil && isAnyPartActive(original, with: claim)
        // A new part that takes the others along was not transferred itself.
        let transferredAt = facts.subscription(of: original).compactMap { facts.purchases[$0]?.transferredAt }.max()
        return policy.refusal(isActive: isActive, transferredAt: transferredAt, at: moment)
    }

    /// Transfers a purchase to the user with a claim to it, unless the user owns it.
    ///
    /// - Parameter naming: The transaction whose account token names the user; nil if none does.
    /// - Returns: True if it was transferred.
    mutating func give(
        _ original: TransactionKey?,
        to user: Int64,
        by naming: Naming?,
        _ claim: Claim,
        _ actor: AuditActor
    ) -> Bool {
        guard let original, let purchase = facts.purchases[original] else { return false }
        if let naming, purchase.naming.map({ $0 < naming }) ?? true {
            change(purchase: original) { $0.naming = naming }
            changes.named.insert(original)
        }
        guard purchase.owner != user else { return false }
        give(
            original, to: user, of: lastProduct(of: original), isNamed: naming != nil, by: actor)
        return true
    }

    /// The product of the last period of a purchase. The former owner has lost this one, whichever one the new owner has bought.
    mutating func lastProduct(of original: TransactionKey) -> String {
        let last = facts.transactions(of: original).map(\.transaction).max { $0.purchaseDate < $1.purchaseDate }
        guard let last else {
            note("a purchase has a transaction", original)
            return ""
        }
        return last.productIdentifier
    }

    /// True if the owner of a purchase was erased so long ago that its proof is enough to own it.
    private func isClaimable(_ erasedAt: Timestamp) -> Bool { moment >= erasedAt.adding(days: erasedClaimDays) }

    /// The user of an account token, unless that user was erased: then the token takes the purchase from nobody who owns it, and it
    /// names nobody once the purchase can be claimed.
    func standing(
        _ named: EntitlementFacts.NamedOwner?, of original: TransactionKey?
    ) -> EntitlementFacts.NamedOwner? {
        guard let named, let erasedAt = facts.erasedOwners[named.user] else { return named }
        let owner = original.flatMap { facts.purchases[$0]?.owner }
        return owner.map { $0 == named.user } ?? true && !isClaimable(erasedAt) ? named : nil
    }

    /// Gives a purchase to a user, and the other parts of its subscription that have the same owner, unless a token names the owner.
    ///
    /// - Parameter isNamed: True if an account token names the user.
    private mutating func give(
        _ original: TransactionKey, to user: Int64, of product: String, isNamed: Bool, by actor: AuditActor
    ) {
        let former = facts.purchases[original]?.owner
        giveAlone(original, to: user, of: product, isNamed: isNamed, by: actor)
        for part in facts.subscription(of: original) where part != original {
            guard let purchase = facts.purchases[part], purchase.owner == former,
                purchase.naming == nil || facts.erasedOwners[purchase.owner] != nil
            else { continue }
            giveAlone(part, to: user, of: lastProduct(of: part), isNamed: isNamed, by: actor)
        }
    }

    private mutating func giveAlone(
        _ original: TransactionKey, to user: Int64, of product: String, isNamed: Bool, by actor: AuditActor
    ) {
        guard let former = facts.purchases[original]?.owner else {
            return note("a transferred purchase is known", original)
        }
        // The token of an erased user names nobody any more.
        let losesNaming = !isNamed && facts.erasedOwners[former] != nil
        change(purchase: original) { [moment] in
            ($0.owner, $0.transferredAt) = (user, moment)
            if losesNaming { $0.naming = nil }
        }
        if losesNaming { changes.named.insert(original) }
        changes.transferred.append(original)
        audit(.transferredOut, original, product, by: actor, to: former)
        audit(.transferredIn, original, product, by: actor, to: user)
    }

    /// The same of the subscription of which a purchase is a part.
    private mutating func isAnyPartActive(_ original: TransactionKey, with claim: Claim) -> Bool {
        for part in facts.subscription(of: original) where facts.purchases[part] != nil {
            if isActive(part, with: claim) { return true }
        }
        return false
    }

    /// True if a part of a purchase is active, or a claim continues it without a gap. The App Store may state a renewal only
    /// after the previous period has ended.
    private mutating func isActive(_ original: TransactionKey, with claim: Claim) -> Bool {
        guard !facts.revokedByTeam.contains(original) else { return false }
        let summary = facts.summary(of: original)
        if summary.isEndless { return true }
        guard let end = summary.end else { return false }
        if end > moment { return true }
        guard let renewedUntil = claim.expiresAt, claim.revocationDate == nil,
            // A period that a later one has replaced continues nothing.
            facts.reading(periodsOf: original, { $0.first(after: claim.purchaseDate) }) == nil
        else { return false }
        // The clocks of the App Store's servers differ.
        return renewedUntil > moment && claim.purchaseDate <= end.adding(seconds: 3600)
    }
}

extension EntitlementFacts {
    package func addsToBalance(_ original: TransactionKey) -> Bool {
        transactions(of: original).contains { $0.transaction.addsToBalance }
    }
}

/// The rule of moves by the team.
extension EntitlementDecision {
    /// Gives a purchase with its renewals to another user, as a transfer without the ownership policy and its pause would.
    ///
    /// The reason stays out of the audit log of an erased owner, because it may name a person.
    ///
    /// - Throws: `GrantError` if an account token names the owner, who was not erased, or if the purchase has added to a balance.
    package mutating func move(
        _ original: TransactionKey,
        to user: Int64,
        reason: String,
        by actor: AuditActor
    ) throws(GrantError) {
        guard let purchase = facts.purchases[original] else { return note("a moved purchase is known", original) }
        guard purchase.owner != user else { return }
        let isErased = facts.erasedOwners[purchase.owner] != nil
        // The next renewal with the token would bring the purchase back. The token of an erased user takes it from nobody.
        guard purchase.naming == nil || isErased else { throw .accountTokenDecides }
        // The credit may be spent already.
        guard !facts.addsToBalance(original) else { throw .purchaseAddsToBalance }
        let product = lastProduct(of: original)
        give(original, to: user, of: product, isNamed: false, by: actor)
        audit(.moved, original, product, by: actor, to: purchase.owner, reason: isErased ? nil : reason)
        audit(.moved, original, product, by: actor, to: user, reason: reason)
    }
}
