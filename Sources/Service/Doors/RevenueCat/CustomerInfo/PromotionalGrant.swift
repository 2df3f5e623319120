import Features
import Proofs

/// The grant by the team that gives a right longest, as the protocol's promotional subscription.
struct PromotionalGrant: Sendable {
    /// The protocol's name of a grant: `rc_promo_premium_lifetime`.
    let productIdentifier: String
    let subscription: CustomerInfo.Subscription

    /// - Returns: Nil if no grant gives an item of the right.
    init?(_ grants: [Grant], of right: CustomerRight) {
        let items = Set(right.items)
        guard let grant = grants.filter({ items.contains($0.item) }).max(by: { Self.lasts($1, longerThan: $0) }) else {
            return nil
        }
        productIdentifier = "rc_promo_\(right.identifier)_\(grant.duration)"
        subscription = CustomerInfo.Subscription(
            store: .promotional, isSandbox: false, purchaseDate: grant.grantedAt,
            originalPurchaseDate: grant.grantedAt, expiresDate: grant.coverageEndsAt)
    }

    private static func lasts(_ grant: Grant, longerThan other: Grant) -> Bool {
        let (end, otherEnd) = (grant.coverageEndsAt, other.coverageEndsAt)
        if end != otherEnd {
            guard let end else { return true }
            return otherEnd.map { end > $0 } ?? false
        }
        return (grant.grantedAt, grant.sequence) > (other.grantedAt, other.sequence)
    }
}
