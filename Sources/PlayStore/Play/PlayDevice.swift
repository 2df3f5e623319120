import HTTPSupport
import Proofs

/// The app of a customer's device, which sees the purchases of its account through the Play Billing Library (`queryPurchasesAsync`).
///
/// Each is shown as a transaction of a payment queue, so that one simulation of an app plays both stores. It is finished when the app or
/// its server has acknowledged it, and one that the app sells again when it is consumed.
package struct PlayDevice: Sendable {
    private let account: String
    private let consumables: Set<String>
    /// True to show what the account owns once more, although it is finished.
    package var isRestoring = false

    /// - Parameter consumables: The products that the app consumes.
    package init(account: String, consumables: Set<String>) {
        (self.account, self.consumables) = (account, consumables)
    }

    /// Buys a product or a subscription. The payment is made at once, or stays pending.
    ///
    /// - Returns: The number of the purchase.
    package func buy(_ payment: Payment, isPending: Bool, of packageName: String, at books: PlayBooks) throws -> Int64 {
        var order = PlayPurchaseOrder(
            packageName: packageName, productId: payment.productIdentifier, account: account)
        (order.quantity, order.isPending) = (payment.quantity, isPending)
        order.obfuscatedAccountId = payment.appAccountToken?.uuidString.lowercased()
        let isSubscription = try books.subscriptionProduct(order.productId, of: packageName) != nil
        return isSubscription ? try books.subscribe(order).number : try books.buy(order).number
    }

    /// The purchases of the account, the oldest first.
    package func transactions(at books: PlayBooks) throws -> [PaymentTransaction] {
        let now = try books.of(account).now
        return
            (try books.purchases(of: account).map { transaction($0, at: now) }
            + books.subscriptions(of: account).map(transaction)).sorted { $0.identifier < $1.identifier }
    }

    /// - Throws: `PlayError`, `purchaseNotFound`.
    package func transaction(_ number: Int64, at books: PlayBooks) throws -> PaymentTransaction {
        switch try sold(number, at: books) {
        case .product(let purchase): transaction(purchase, at: try books.of(account).now)
        case .subscription(let purchase): transaction(purchase)
        }
    }

    /// The signed purchase that the app sends to its server.
    package func signedPurchase(_ number: Int64, at books: PlayBooks) throws -> SignedPurchase {
        switch try sold(number, at: books) {
        case .product(let purchase): try books.signed(purchase)
        case .subscription(let purchase): try books.signed(purchase)
        }
    }

    package func purchaseToken(_ number: Int64, at books: PlayBooks) throws -> String {
        switch try sold(number, at: books) {
        case .product(let purchase): purchase.token
        case .subscription(let purchase): purchase.token
        }
    }

    /// The amount that a purchase has charged, and true for a free trial; nil for a pending payment.
    package func charge(_ number: Int64, at books: PlayBooks) throws -> (price: Price, isTrial: Bool)? {
        switch try sold(number, at: books) {
        case .product(let purchase):
            purchase.completionTime.map { _ in (purchase.price(of: purchase.quantity).price, false) }
        case .subscription(let purchase):
            purchase.periods.first.map { ($0.price.price, $0.kind == .freeTrial) }
        }
    }

    /// Acknowledges a purchase, or consumes it, unless that is done or no longer possible.
    package func finish(_ number: Int64, at books: PlayBooks) throws {
        switch try sold(number, at: books) {
        case .product(var purchase):
            guard purchase.state == .purchased, !isFinished(purchase) else { return }
            if consumables.contains(purchase.terms.productId) {
                try purchase.consume(at: books.of(account).now)
            } else {
                try purchase.acknowledge(nil)
            }
            try books.purchases.keep(purchase)
        case .subscription(var purchase):
            guard !purchase.isAcknowledged, !purchase.isEnded else { return }
            try purchase.acknowledge(SubscriptionRequests.Acknowledge())
            try books.keep(&purchase, after: [], at: books.now)
        }
    }

    /// A purchase of either kind, as a pointer.
    private indirect enum Sold {
        case product(OneTimePurchase)
        case subscription(RecurringPurchase)
    }

    private func sold(_ number: Int64, at books: PlayBooks) throws -> Sold {
        if let purchase = try books.purchases.purchase(number: number), purchase.account == account {
            return .product(purchase)
        }
        guard let purchase = try books.subscriptions.purchase(number: number), purchase.account == account else {
            throw PlayError.purchaseNotFound(String(number))
        }
        return .subscription(purchase)
    }

    private func isFinished(_ purchase: OneTimePurchase) -> Bool {
        consumables.contains(purchase.terms.productId) ? purchase.isConsumed : purchase.isAcknowledged
    }

    private func transaction(_ purchase: OneTimePurchase, at now: Timestamp) -> PaymentTransaction {
        let state: PaymentTransactionState =
            switch purchase.state {
            case .pending: .deferred
            case .purchased where !isFinished(purchase): .purchased
            case .purchased: isRestoring && purchase.isOwned(at: now) ? .restored : .finished
            case .canceled: .finished
            }
        return PaymentTransaction(
            identifier: purchase.number,
            payment: Payment(productIdentifier: purchase.terms.productId, quantity: purchase.quantity), state: state,
            error: nil,
            purchase: purchase.completionTime == nil
                ? nil : .init(transactionIdentifier: purchase.token, originalTransactionIdentifier: purchase.token))
    }

    private func transaction(_ purchase: RecurringPurchase) -> PaymentTransaction {
        let isFinished = purchase.isAcknowledged || purchase.isEnded
        // Nothing is paid before the first period begins.
        let state: PaymentTransactionState =
            if isFinished { isRestoring && !purchase.isEnded ? .restored : .finished } else {
                purchase.periods.isEmpty ? .deferred : .purchased
            }
        return PaymentTransaction(
            identifier: purchase.number, payment: Payment(productIdentifier: purchase.terms.productId), state: state,
            error: nil,
            purchase: purchase.periods.last.map {
                .init(transactionIdentifier: $0.orderId, originalTransactionIdentifier: purchase.token)
            })
    }
}
