/// The rules of replaced purchases.
extension GooglePlayAnswer {
    /// The end of a replaced period that the ledger knows; nil for another period.
    ///
    /// The old token of a replacement is expired at once, and in a deferred one "the entitlement for the old plan is transferred to the new
    /// purchase for the remaining time" (developer.android.com/google/play/billing/subscriptions, "Handle deferred replacement"). The old
    /// token does not say which mode it was. So the new period ends the old one, and not this answer.
    func keptEnd(of known: GooglePlayPeriod?, _ expiryTime: Timestamp) -> Timestamp? {
        guard isReplaced, [.expired, .canceled].contains(state) else { return nil }
        return known?.expiresDate.map { max($0, expiryTime) }
    }

    func hasReplaced(_ purchase: ProvenPurchase) -> Bool {
        guard case .subscription(let items) = content else { return false }
        return items.contains { item in
            item.productId.hasSameBytes(as: purchase.productIdentifier)
                && item.orderId == purchase.facts.text(.orderId) && item.isReplaced(among: items)
        }
    }
}

extension GooglePlayAnswer.SubscriptionLineItem {
    /// True if another item of the same answer has taken the place of this one.
    fileprivate func isReplaced(among items: [Self]) -> Bool {
        items.contains { other in
            guard let replaced = other.replaced, let product = replaced.productId, other.expiryTime != nil,
                product.hasSameBytes(as: productId), !isSame(as: other)
            else { return false }
            return replaced.basePlanId.flatMap { plan in basePlanId.map(plan.hasSameBytes) } ?? true
        }
    }

    private func isSame(as other: Self) -> Bool {
        productId.hasSameBytes(as: other.productId) && basePlanId == other.basePlanId && orderId == other.orderId
    }
}
