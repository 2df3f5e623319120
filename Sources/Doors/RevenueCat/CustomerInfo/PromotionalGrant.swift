import Commerce
import Entitlements

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
        productIdentifier = "rc_promo_\(right.identifier)_\(Self.duration(of: grant))"
        subscription = CustomerInfo.Subscription(
            store: .promotional, isSandbox: false, purchaseDate: grant.grantedAt,
            originalPurchaseDate: grant.grantedAt, expiresDate: Self.end(of: grant))
    }

    private static func end(of grant: Grant) -> Timestamp? {
        [grant.endsAt, grant.revocation?.revokedAt].compactMap(\.self).min()
    }

    private static func lasts(_ grant: Grant, longerThan other: Grant) -> Bool {
        let (end, otherEnd) = (end(of: grant), end(of: other))
        if end != otherEnd {
            guard let end else { return true }
            return otherEnd.map { end > $0 } ?? false
        }
        return (grant.grantedAt, grant.sequence) > (other.grantedAt, other.sequence)
    }

    /// The names of the protocol's durations.
    private static let durations: [(name: String, period: String)] = [
        ("daily", "P1D"), ("three_day", "P3D"), ("weekly", "P1W"), ("two_week", "P2W"), ("monthly", "P1M"),
        ("two_month", "P2M"), ("three_month", "P3M"), ("six_month", "P6M"), ("yearly", "P1Y"),
    ]

    private static func duration(of grant: Grant) -> String {
        guard let endsAt = grant.endsAt else { return "lifetime" }
        let exact = durations.first { duration in
            SubscriptionPeriod(duration.period).map {
                grant.grantedAt.adding($0, dayOfMonth: grant.grantedAt.dayOfMonth).secondsSince1970
                    == endsAt.secondsSince1970
            } ?? false
        }
        return exact?.name ?? "custom"
    }
}
