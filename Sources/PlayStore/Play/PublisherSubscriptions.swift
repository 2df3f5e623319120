import Proofs

/// The methods of the API on subscription purchases.
extension PlayBooks {
    /// The lengths of a deferral in the first version of the API.
    private static let deferrals: ClosedRange<Int64> = 86_400...365 * 86_400

    /// The subscription purchase of a token.
    ///
    /// - Parameter productId: The product in the path; nil for a method without one.
    /// - Throws: `PublisherError` for a token that is malformed, unknown, forgotten, or of another app or product.
    func apiSubscription(_ token: String, of productId: String? = nil, in packageName: String) throws
        -> RecurringPurchase
    {
        guard Self.isToken(token), try purchases.purchase(token: token) == nil else {
            throw PublisherError.invalidToken
        }
        guard let purchase = try subscriptions.purchase(token: token) else { throw PublisherError.tokenNotFound }
        guard purchase.terms.packageName == packageName else { throw PublisherError.tokenOfOtherPackage }
        guard productId.map({ purchase.isOf($0) }) ?? true else {
            throw PublisherError.tokenOfOtherProduct
        }
        guard !purchase.isForgotten(at: now) else { throw PublisherError.tokenNoLongerValid }
        return purchase
    }

    /// `purchases.subscriptions.acknowledge`.
    package func acknowledge(_ purchase: RecurringPurchase, _ request: SubscriptionRequests.Acknowledge) throws {
        var purchase = purchase
        try purchase.acknowledge(request)
        try keep(&purchase, after: [], at: now)
    }

    /// `purchases.subscriptionsv2.cancel`, and `purchases.subscriptions.cancel` with the customer's request.
    func cancel(_ purchase: RecurringPurchase, _ type: String?) throws {
        let cancellation: RecurringPurchase.Cancellation
        switch type {
        case "USER_REQUESTED_STOP_RENEWALS": cancellation = .user(now)
        case "DEVELOPER_REQUESTED_STOP_PAYMENTS": cancellation = .developer
        case nil: throw PublisherError.required("cancellationContext.cancellationType")
        default: throw PublisherError.invalidValue("cancellationContext.cancellationType", "it is of no type.")
        }
        var purchase = purchase
        try keep(&purchase, after: purchase.cancel(cancellation, at: now), at: now)
    }

    /// `purchases.subscriptionsv2.revoke`.
    func revoke(_ purchase: RecurringPurchase, _ request: SubscriptionRequests.Revoke) throws {
        guard let context = request.revocationContext else { throw PublisherError.required("revocationContext") }
        let chosen = [context.fullRefund != nil, context.proratedRefund != nil, context.itemBasedRefund != nil]
        guard chosen.count(where: \.self) == 1 else {
            throw PublisherError.invalidValue("revocationContext", "it needs one kind of refund.")
        }
        if let item = context.itemBasedRefund, item.productId != purchase.terms.productId {
            throw PublisherError.invalidValue(
                "revocationContext.itemBasedRefund.productId", "the purchase has no such item.")
        }
        var purchase = purchase
        let effects = try purchase.revoke(
            isProrated: context.proratedRefund != nil, source: .developer, reason: .other, at: now)
        try keep(&purchase, after: effects, at: now)
    }

    /// `purchases.subscriptionsv2.defer`. A request to validate changes nothing.
    func deferRenewal(_ purchase: RecurringPurchase, _ request: SubscriptionRequests.Defer) throws
        -> SubscriptionRequests.Deferred
    {
        guard let context = request.deferralContext else { throw PublisherError.required("deferralContext") }
        guard let text = context.deferDuration, let match = text.wholeMatch(of: /([0-9]{1,9})(?:\.[0-9]{1,9})?s/),
            let seconds = Int64(match.1)
        else { throw PublisherError.invalidValue("deferralContext.deferDuration", "write seconds, such as 86400s.") }
        guard Self.deferrals.contains(seconds) else { throw PublisherError.deferralInvalid }
        guard context.etag == purchase.etag else { throw PublisherError.concurrentUpdate }
        var purchase = purchase
        let effects = try purchase.deferRenewal(bySeconds: seconds)
        if context.validateOnly != true { try keep(&purchase, after: effects, at: now) }
        return SubscriptionRequests.Deferred(itemExpiryTimeDetails: [
            .init(productId: purchase.terms.productId, expiryTime: DateTimeText(purchase.expiryTime))
        ])
    }

    /// `orders.refund` of a period of a subscription.
    func refundPeriod(
        _ index: Int, of purchase: RecurringPurchase, isRevoking: Bool, source: VoidedPurchase.Source = .developer,
        reason: VoidedPurchase.Reason = .other, at time: Timestamp? = nil
    ) throws {
        let time = time ?? now
        guard purchase.periods[index].refunded == nil else {
            throw PublisherError.invalidValue("orderId", "the order has been refunded already.")
        }
        var purchase = purchase
        if isRevoking, !purchase.isEnded, index == purchase.periods.count - 1 {
            let effects = try purchase.revoke(isProrated: false, source: source, reason: reason, at: time)
            try keep(&purchase, after: effects, at: time)
        } else {
            let voided = purchase.refund(
                period: index, purchase.periods[index].price, source: source, reason: reason, at: time)
            try keep(&purchase, after: isRevoking ? [.voided(voided)] : [], at: time)
        }
    }
}
