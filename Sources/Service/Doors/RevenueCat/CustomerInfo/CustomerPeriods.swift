import Features
import Proofs

/// The periods of a customer, by product.
struct CustomerPeriods: Sendable {
    private(set) var subscriptions: [ByteKey: [CustomerPeriod]] = [:]
    /// The purchases that do not renew. Those that were taken back are absent.
    private(set) var purchases: [ByteKey: [CustomerPeriod]] = [:]

    init(_ facts: CustomerInfoFacts) {
        let purchased = Dictionary(grouping: facts.transactions) { $0.originalKey }
        var byProduct: [ByteKey: [CustomerPeriod]] = [:]
        for transactions in purchased.values {
            for period in CustomerPeriod.periods(of: transactions, at: facts.requestDate) {
                byProduct[ByteKey(period.transaction.productIdentifier), default: []].append(period)
            }
        }
        for (product, periods) in byProduct {
            let sorted = periods.sorted { $0.transaction.isEarlier(than: $1.transaction) }
            if Self.isSubscription(product, sorted, facts) {
                subscriptions[product] = sorted
            } else {
                let kept = sorted.filter { !$0.isRevoked }
                if !kept.isEmpty { purchases[product] = kept }
            }
        }
    }

    /// True if a product is an auto-renewable subscription, as its transactions state, or else the catalog. An app receipt
    /// states no type, but an end.
    private static func isSubscription(
        _ product: ByteKey,
        _ periods: [CustomerPeriod],
        _ facts: CustomerInfoFacts
    ) -> Bool {
        if let type = periods.lazy.compactMap(\.terms.type).first ?? facts.products[product]?.type {
            return type == .autoRenewableSubscription
        }
        return periods.contains { $0.transaction.facts.date(.expiresDate) != nil }
    }
}

extension RedeemedTransaction {
    /// The identity of the purchase.
    var originalKey: TransactionKey {
        TransactionKey(app: app ?? "", origin: origin, identifier: originalTransactionIdentifier)
    }
}
