import Ledger
import Proofs

/// A purchase as far as an item that it gives tells of it. These are the facts in a row of `entitlement`.
package struct ItemPurchase: Hashable, Sendable {
    package let origin: Origin
    package let originalTransactionIdentifier: String
    /// The transaction that gives the item.
    package let period: PurchasePeriod

    package var transactionIdentifier: String { period.transactionIdentifier }
    package var productIdentifier: String { period.productIdentifier }

    package init(_ transaction: RedeemedTransaction) {
        origin = transaction.origin
        originalTransactionIdentifier = transaction.originalTransactionIdentifier
        period = PurchasePeriod(transaction)
    }
}

/// The facts of a row that no later statement changes.
extension ItemPurchase {
    static let columns = ["purchase_date", "granted_at", "transaction_id", "original_transaction_id", "product_id"]

    /// The purchase in the next columns, which are `columns` and then those of `StandingBenefit.terms`.
    init(_ row: inout ResultRow, from origin: Origin) throws(ColumnMismatch) {
        self.origin = origin
        let (purchaseDate, redeemedAt): (Timestamp, Timestamp) = (try row.next(), try row.next())
        let transactionIdentifier: String = try row.next()
        originalTransactionIdentifier = try row.next()
        let productIdentifier: String = try row.next()
        period = PurchasePeriod(
            transactionIdentifier: transactionIdentifier, productIdentifier: productIdentifier,
            purchaseDate: purchaseDate, expiresAt: try row.next(), graceEndsAt: try row.next(), revocationDate: nil,
            isRevokedByTeam: false, redeemedAt: redeemedAt, terms: try PurchasePeriod.Terms(&row))
    }
}

extension PurchasePeriod.Terms {
    fileprivate init(_ row: inout ResultRow) throws(ColumnMismatch) {
        let type: String? = try row.next()
        self.type = type.flatMap(ProductType.init)
        (isUpgraded, isTrial, isIntroductory) = (try row.next(), try row.next(), try row.next())
        isPrepaid = try row.next()
        let ownership: String? = try row.next()
        self.ownership = ownership.flatMap(InAppOwnershipType.init)
        // Both concern a period among others.
        (isAdditional, signedAt) = (false, nil)
    }
}

/// The facts in a row of `entitlement` that later statements change: the benefit of a transaction, with the statements about it.
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
    private let expiresAt: Timestamp?
    private let graceEndsAt: Timestamp?
    private let type: ProductType?
    private let isUpgraded: Bool
    private let isTrial: Bool
    private let isIntroductory: Bool
    private let isPrepaid: Bool
    private let ownership: InAppOwnershipType?
    private let renewal: Renewal?

    /// The columns that `ItemPurchase` reads, in its order.
    static let terms = [
        "expires_at", "grace_ends_at", "product_type", "is_upgraded", "is_trial", "is_introductory", "is_prepaid",
        "ownership",
    ]
    static let renewal = ["renewal_stated_at", "renews", "is_declined"]
    static let columns = ["begins_at", "ends_at", "is_revoked"] + terms + renewal

    /// The values of the columns, in their order.
    var sqlValues: [any SQLConvertible] {
        [
            coverage.beginsAt, coverage.endsAt, coverage.isRevoked, expiresAt, graceEndsAt, type?.rawValue, isUpgraded,
            isTrial, isIntroductory, isPrepaid, ownership?.rawValue, renewal?.statedAt, renewal?.renews,
            renewal?.isDeclined,
        ]
    }

    /// - Parameter renewal: The last statement about the renewal of the purchase; nil without one. A purchase without an end has none.
    fileprivate init(_ period: PurchasePeriod, _ coverage: Coverage, _ renewal: StatedRenewal?) {
        self.coverage = coverage
        expiresAt = period.expiresAt
        graceEndsAt = period.graceEndsAt
        let terms = period.terms
        (type, isUpgraded, isTrial) = (terms.type, terms.isUpgraded, terms.isTrial)
        (isIntroductory, isPrepaid, ownership) = (terms.isIntroductory, terms.isPrepaid, terms.ownership)
        // Each renewal would change the rows of all earlier periods otherwise, whose states no longer depend on it.
        self.renewal = renewal.flatMap { stated in
            let isOver = coverage.endsAt.map { $0 <= stated.statedAt } ?? true
            guard !isOver, stated.counts(forPeriodFrom: period.purchaseDate) else { return nil }
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
            let period = PurchasePeriod(key, transaction, isRevokedByTeam: false)
            benefits[key] = StandingBenefit(period, coverage, renewal)
        }
        return benefits
    }
}
