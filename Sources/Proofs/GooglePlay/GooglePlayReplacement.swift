/// The rules of replaced purchases.
extension GooglePlayAnswer {
    /// The end of the paid time of a replaced period, as far as it is known; nil for another period.
    ///
    /// The old token of a replacement is expired at once, and in a deferred one "the entitlement for the old plan is transferred to the new
    /// purchase for the remaining time" (developer.android.com/google/play/billing/subscriptions, "Handle deferred replacement"). The old
    /// token does not say which mode it was. So the new period ends the old one, and not this answer.
    ///
    /// - Parameters:
    ///   - known: The end that was known before the answer.
    ///   - paidUntil: The same, or the end that the order states.
    ///   - isContinued: True if a later token has the line. That of a prepaid plan which is topped up has no cancellation.
    func keptEnd(
        _ known: Timestamp?, paidUntil: Timestamp?, _ expiryTime: Timestamp, isContinued: Bool
    ) -> Timestamp? {
        guard isReplaced || isContinued, let end = isReplaced ? paidUntil : known else { return nil }
        switch state {
        case .expired: return end
        case .canceled: return max(end, expiryTime)
        default: return nil
        }
    }
}

extension GooglePlayAnswer.SubscriptionLineItem {
    /// True if another item of the same answer has taken the place of this one.
    ///
    /// After a deferred replacement, the new purchase still has the old item, with its end in the past
    /// (developer.android.com/google/play/billing/subscriptions, "Handle deferred replacement").
    func isReplaced(among items: [Self]) -> Bool {
        items.contains { other in
            guard let replaced = other.replaced, let product = replaced.productId, other.expiryTime != nil,
                product.hasSameBytes(as: productId), !isSame(as: other)
            else { return false }
            return replaced.basePlanId.flatMap { plan in basePlanId.map(plan.hasSameBytes) } ?? true
        }
    }

    /// The end of the item in whose place this one comes at the renewal; nil for another item.
    func deferredBeginning(among items: [Self]) -> Timestamp? {
        guard replaced?.mode == "DEFERRED" else { return nil }
        return items.first { $0.isReplaced(among: [self]) }?.expiryTime
    }

    private func isSame(as other: Self) -> Bool {
        productId.hasSameBytes(as: other.productId) && basePlanId == other.basePlanId && orderId == other.orderId
    }
}
