import Ledger
import Proofs

/// A purchase as far as an item that it gives tells of it. It is read from the row of the transaction.
package struct ItemPurchase: Hashable, Sendable {
    package let origin: Origin
    /// The original transaction.
    package let original: StoredIdentifier
    /// The transaction that gives the item.
    package let period: PurchasePeriod

    package var transactionIdentifier: String { period.transactionIdentifier }
    package var originalTransactionIdentifier: String { original.text }
    package var productIdentifier: String { period.productIdentifier }

    package init(_ transaction: RedeemedTransaction) {
        origin = transaction.origin
        original = StoredIdentifier(transaction.originalTransactionIdentifier)
        period = PurchasePeriod(transaction)
    }

    /// The columns of `redeemed_transaction` and of the joined product.
    static let columns =
        [
            "purchase_date", "redeemed_at", "transaction_id", "original_transaction_id", "product_id", "expires_at",
            "grace_ends_at",
        ] + PurchasePeriod.Terms.ofItem.map(\.field.column)

    /// The purchase in the next columns, which are `columns`.
    ///
    /// - Parameter facts: The memory for the facts of the terms, which the rows of a query share.
    init(
        _ row: inout ResultRow, from origin: Origin, readingInto facts: inout TransactionFacts
    ) throws(ColumnMismatch) {
        self.origin = origin
        let (purchaseDate, redeemedAt): (Timestamp, Timestamp) = (try row.next(), try row.next())
        let identifier: StoredIdentifier = try row.next()
        original = try row.next()
        let productIdentifier = try row.next(in: ProductRecords.identifiers)
        let (expiresAt, graceEndsAt): (Timestamp?, Timestamp?) = (try row.next(), try row.next())
        try facts.read(&row, PurchasePeriod.Terms.ofItem)
        period = PurchasePeriod(
            identifier: identifier, productIdentifier: productIdentifier, purchaseDate: purchaseDate,
            expiresAt: expiresAt, graceEndsAt: graceEndsAt, revocationDate: nil,
            isRevokedByTeam: false, redeemedAt: redeemedAt, terms: PurchasePeriod.Terms(facts))
    }
}

extension PurchasePeriod.Terms {
    /// The facts without those that concern a period among others.
    fileprivate static let ofItem = facts.filter { ![.additionalTransactionReason, .signedDate].contains($0) }
}

/// The benefit of a transaction, with the statement about the renewal of its period.
struct StandingBenefit: Hashable {
    /// A statement about the renewal, as far as the state of a period that has not ended depends on it.
    private struct Renewal: Hashable {
        let statedAt: Timestamp
        /// Nil if the statement does not tell it.
        let renews: Bool?
        /// True if a charge was declined; nil if the statement does not tell it.
        let isDeclined: Bool?
    }

    let coverage: Coverage
    private let renewal: Renewal?

    static let renewal = ["renewal_stated_at", "renews", "is_declined"]
    static let columns = ["begins_at", "ends_at", "is_revoked"] + renewal

    /// The values of the columns, in their order.
    var sqlValues: [any SQLConvertible] {
        [
            coverage.beginsAt, coverage.endsAt, coverage.isRevoked, renewal?.statedAt, renewal?.renews,
            renewal?.isDeclined,
        ]
    }

    /// - Parameter renewal: The last statement about the renewal of the purchase; nil without one. A purchase without an end has none.
    fileprivate init(
        _ coverage: Coverage, from purchaseDate: Timestamp, _ renewal: StatedRenewal?, of store: PurchaseStore
    ) {
        self.coverage = coverage
        // Each renewal would change the rows of all earlier periods otherwise, whose states no longer depend on it.
        self.renewal = renewal.flatMap { stated in
            let isOver = coverage.endsAt.map { $0 <= stated.statedAt } ?? true
            guard !isOver, stated.counts(forPeriodFrom: purchaseDate, of: store) else { return nil }
            return Renewal(
                statedAt: stated.statedAt, renews: stated.willRenew,
                isDeclined: stated.facts.bool(.isInBillingRetryPeriod))
        }
    }
}

extension EntitlementFacts {
    /// The benefit of each transaction of a purchase, with the statements about it.
    func benefits(of original: TransactionKey) -> [TransactionKey: StandingBenefit] {
        let renewal = purchases[original]?.renewal
        var benefits: [TransactionKey: StandingBenefit] = [:]
        for (key, coverage) in coverage(of: original) {
            guard let transaction = transactions[key] else { continue }
            benefits[key] = StandingBenefit(
                coverage, from: transaction.purchaseDate, renewal, of: original.origin.store)
        }
        return benefits
    }
}
