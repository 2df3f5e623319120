import Proofs

/// The methods of the API on purchases and orders.
extension PlayBooks {
    /// The form of a purchase token. Another text is malformed, and not merely unknown.
    static func isToken(_ text: String) -> Bool {
        text.utf8.count <= 512 && text.wholeMatch(of: /[a-z]{24}(?:\.AO-J1O[A-Za-z0-9_-]+)?/) != nil
    }

    /// The purchase of a token, of one kind.
    ///
    /// - Parameter productId: The product in the path; nil for a method without one.
    /// - Throws: `PublisherError` for a token that is malformed, unknown, forgotten, or of another kind, app or product.
    func apiPurchase<Purchase: KeptPurchase>(_ token: String, of productId: String?, in packageName: String) throws
        -> Purchase
    {
        guard Self.isToken(token) else { throw PublisherError.invalidToken }
        guard let purchase = try PurchaseRecords<Purchase>(database: database).purchase(token: token) else {
            let isOfOtherKind =
                try purchases.purchase(token: token) != nil || subscriptions.purchase(token: token) != nil
            throw isOfOtherKind ? PublisherError.invalidToken : .tokenNotFound
        }
        guard purchase.packageName == packageName else { throw PublisherError.tokenOfOtherPackage }
        guard productId.map({ purchase.isOf($0) }) ?? true else { throw PublisherError.tokenOfOtherProduct }
        guard !purchase.isForgotten(at: now) else { throw PublisherError.tokenNoLongerValid }
        return purchase
    }

    /// `purchases.products.acknowledge`.
    func acknowledge(_ purchase: OneTimePurchase, payload: String?) throws {
        var purchase = purchase
        try purchase.acknowledge(payload)
        try purchases.keep(purchase)
    }

    /// `purchases.products.consume`.
    func consume(_ purchase: OneTimePurchase) throws {
        var purchase = purchase
        try purchase.consume(at: now)
        try purchases.keep(purchase)
    }

    /// The subject of an order: a one-time purchase, or periods of a subscription's items.
    enum Ordered {
        case purchase(OneTimePurchase)
        case period(of: RecurringPurchase)

        var packageName: String {
            switch self {
            case .purchase(let purchase): purchase.packageName
            case .period(let purchase): purchase.packageName
            }
        }

        var account: String {
            switch self {
            case .purchase(let purchase): purchase.account
            case .period(let purchase): purchase.account
            }
        }
    }

    /// The purchase of an order, or the period of a subscription; nil for an unknown order.
    func ordered(_ orderId: String) throws -> Ordered? {
        if let purchase = try purchases.purchase(order: orderId) { return .purchase(purchase) }
        guard let purchase = try subscriptions.purchase(order: orderId),
            !purchase.lines(ofOrder: orderId).isEmpty
        else { return nil }
        return .period(of: purchase)
    }

    /// The same for the API.
    ///
    /// - Throws: `PublisherError`, `notFound`, for an order that is unknown or of another app.
    func ordered(_ orderId: String, in packageName: String) throws -> Ordered {
        guard let ordered = try ordered(orderId), ordered.packageName == packageName else {
            throw PublisherError.notFound("The order \(orderId.prefix(64))")
        }
        return ordered
    }

    /// `orders.get`.
    package func order(_ orderId: String, in packageName: String) throws -> Order? {
        var order =
            switch try ordered(orderId, in: packageName) {
            case .purchase(let purchase): purchase.order
            case .period(let purchase): purchase.order(orderId)
            }
        // "Requested refund is waiting to be processed": the bank has asked for it, and the Play has not decided.
        if order?.state != "REFUNDED", try review(order: orderId)?.dueTime != nil { order?.state = "PENDING_REFUND" }
        return order
    }

    /// The maximum number of orders in `orders.batchget`.
    private static let maximumOrders = 1000

    /// `orders.batchget`. An unknown order fails all.
    func orders(_ identifiers: [String], in packageName: String) throws -> OrderList {
        guard !identifiers.isEmpty else { throw PublisherError.required("orderIds") }
        guard identifiers.count <= Self.maximumOrders, Set(identifiers).count == identifiers.count else {
            throw PublisherError.invalidValue("orderIds", "name 1 to \(Self.maximumOrders) different orders.")
        }
        return OrderList(orders: try identifiers.compactMap { try order($0, in: packageName) })
    }

    /// The years in which an order can be refunded.
    private static let refundYears: Int64 = 3

    /// `orders.refund`.
    ///
    /// - Throws: `PublisherError`, `invalidValue`, for an order of more than three years, or one that is refunded already.
    func refundOrder(_ orderId: String, isRevoking: Bool, in packageName: String) throws {
        let ordered = try ordered(orderId, in: packageName)
        let time: Timestamp? =
            switch ordered {
            case .purchase(let purchase): purchase.purchaseTime
            case .period(let purchase): purchase.lines(ofOrder: orderId).first?.period.start
            }
        guard let time, time.adding(days: Self.refundYears * 365) > now else {
            throw PublisherError.invalidValue("orderId", "orders older than 3 years cannot be refunded.")
        }
        switch ordered {
        case .purchase(let purchase):
            guard purchase.refundableQuantity > 0 else {
                throw PublisherError.invalidValue("orderId", "the order has been refunded already.")
            }
            _ = try refund(purchase.number, isRevoking: isRevoking, source: .developer)
        case .period(let purchase): try refund(orderId, of: purchase, isRevoking: isRevoking)
        }
    }
}

/// The methods of the API on subscription purchases.
extension PlayBooks {
    /// The lengths of a deferral in the first version of the API.
    static let deferrals: ClosedRange<Int64> = 86_400...365 * 86_400

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
    package func revoke(_ purchase: RecurringPurchase, _ request: SubscriptionRequests.Revoke) throws {
        guard let context = request.revocationContext else { throw PublisherError.required("revocationContext") }
        try CatalogCheck.one(
            of: [context.fullRefund != nil, context.proratedRefund != nil, context.itemBasedRefund != nil],
            "revocationContext", "it needs one kind of refund.")
        var purchase = purchase
        let effects: [RecurringPurchase.Effect]
        if let item = context.itemBasedRefund {
            guard let productId = item.productId, let owned = purchase.item(of: productId) else {
                throw PublisherError.invalidValue(
                    "revocationContext.itemBasedRefund.productId", "the purchase has no such item.")
            }
            // "When the subscription purchase is in any of the payment declined states, or the item … is not owned or expired, the item turn
            // down is blocked" (subscription-with-addons, "Revoke individual item").
            guard [.active, .canceled].contains(purchase.state), owned.expiryTime > now, !owned.terms.isPrepaid else {
                throw PublisherError.invalidPurchaseState
            }
            effects = try purchase.revoke(products: [productId], source: .developer, reason: .other, at: now)
        } else {
            effects = try purchase.revoke(
                isProrated: context.proratedRefund != nil, source: .developer, reason: .other, at: now)
        }
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
        return SubscriptionRequests.Deferred(
            itemExpiryTimeDetails: purchase.items.map {
                .init(productId: $0.terms.productId, expiryTime: DateTimeText(moment: $0.expiryTime))
            })
    }

    /// `orders.refund` of a subscription. A revocation takes back the items whose latest periods the order has paid.
    func refund(
        _ orderId: String, of purchase: RecurringPurchase, isRevoking: Bool, source: VoidedPurchase.Source = .developer,
        reason: VoidedPurchase.Reason = .other, at time: Timestamp? = nil
    ) throws {
        let time = time ?? now
        guard !purchase.isRefunded(orderId) else {
            throw PublisherError.invalidValue("orderId", "the order has been refunded already.")
        }
        var purchase = purchase
        let paid = purchase.items.filter { $0.periods.last?.orderId == orderId }.map(\.terms.productId)
        if isRevoking, !purchase.isEnded, !paid.isEmpty {
            let effects = try purchase.revoke(products: paid, source: source, reason: reason, at: time)
            try keep(&purchase, after: effects, at: time)
        } else {
            let voided = purchase.refund(order: orderId, source: source, reason: reason, at: time)
            try keep(&purchase, after: isRevoking ? [voided.map { .voided($0) }].compactMap(\.self) : [], at: time)
        }
    }
}

extension RecurringPurchase {
    /// True if an order was paid back, as a whole or for one of its items.
    package func isRefunded(_ orderId: String) -> Bool {
        lines(ofOrder: orderId).contains { $0.period.refunded != nil }
    }
}
