import Proofs

/// The methods of the API on purchases and orders.
extension PlayBooks {
    /// The form of a purchase token. Another text is malformed, and not merely unknown.
    static func isToken(_ text: String) -> Bool {
        text.utf8.count <= 512 && text.wholeMatch(of: /[a-z]{24}(?:\.AO-J1O[A-Za-z0-9_-]+)?/) != nil
    }

    /// The purchase of a token.
    ///
    /// - Parameter productId: The product in the path; nil for a method without one.
    /// - Throws: `PublisherError` for a token that is malformed, unknown, or of another app or product.
    func apiPurchase(_ token: String, of productId: String?, in packageName: String) throws -> OneTimePurchase {
        guard Self.isToken(token), try subscriptions.purchase(token: token) == nil else {
            throw PublisherError.invalidToken
        }
        guard let purchase = try purchases.purchase(token: token) else { throw PublisherError.tokenNotFound }
        guard purchase.terms.packageName == packageName else { throw PublisherError.tokenOfOtherPackage }
        guard productId.map({ $0 == purchase.terms.productId }) ?? true else {
            throw PublisherError.tokenOfOtherProduct
        }
        return purchase
    }

    /// `purchases.products.acknowledge`.
    func acknowledge(_ purchase: OneTimePurchase, payload: String?) throws {
        var purchase = purchase
        try purchase.acknowledge(payload)
        try purchases.update(purchase)
    }

    /// `purchases.products.consume`.
    func consume(_ purchase: OneTimePurchase) throws {
        var purchase = purchase
        try purchase.consume()
        try purchases.update(purchase)
    }

    /// The subject of an order: a one-time purchase, or a period of a subscription by its number.
    enum Ordered {
        case purchase(OneTimePurchase)
        case period(Int, of: RecurringPurchase)

        var packageName: String {
            switch self {
            case .purchase(let purchase): purchase.terms.packageName
            case .period(_, let purchase): purchase.terms.packageName
            }
        }
    }

    /// The purchase of an order, or the period of a subscription; nil for an unknown order.
    func ordered(_ orderId: String) throws -> Ordered? {
        if let purchase = try purchases.purchase(order: orderId) { return .purchase(purchase) }
        guard let purchase = try subscriptions.purchase(order: orderId),
            let index = purchase.periods.firstIndex(where: { $0.orderId == orderId })
        else { return nil }
        return .period(index, of: purchase)
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
    func order(_ orderId: String, in packageName: String) throws -> Order? {
        switch try ordered(orderId, in: packageName) {
        case .purchase(let purchase): purchase.order
        case .period(let index, let purchase): purchase.order(purchase.periods[index])
        }
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
        let time =
            switch ordered {
            case .purchase(let purchase): purchase.purchaseTime
            case .period(let index, let purchase): purchase.periods[index].start
            }
        guard time.adding(days: Self.refundYears * 365) > now else {
            throw PublisherError.invalidValue("orderId", "orders older than 3 years cannot be refunded.")
        }
        switch ordered {
        case .purchase(let purchase):
            guard purchase.refundableQuantity > 0 else {
                throw PublisherError.invalidValue("orderId", "the order has been refunded already.")
            }
            _ = try refund(purchase.number, isRevoking: isRevoking, source: .developer)
        case .period(let index, let purchase): try refundPeriod(index, of: purchase, isRevoking: isRevoking)
        }
    }
}
