import Commerce
import Receipts

/// A user's purchase as it is at a moment: derived from its transactions and the last statement about its renewal.
public struct PurchaseStatus: Hashable, Sendable {
    public let originalTransactionIdentifier: String
    public let origin: Origin
    /// The product of the last transaction.
    public let productIdentifier: String
    public let state: PurchaseState
    /// The beginning of the periods that followed each other without a gap until the last one.
    public let since: Timestamp
    /// The end of the last period, or of its grace period; nil for a purchase without an end.
    public let until: Timestamp?
    /// Nil if the App Store has not stated whether the subscription renews; false for a purchase that never does.
    public let renews: Bool?
    /// The product of the next period; nil for a purchase that does not renew.
    public let nextProductIdentifier: String?
    /// Nil for a purchase that has not ended, or without a stated reason.
    public let expirationReason: ExpirationReason?

    /// The longest time before the purchase date of a period in which a statement about its renewal is signed, in days: the App
    /// Store charges within a day before a period begins.
    private static let renewalDays: Int64 = 1
    /// The longest time between two periods that follow each other, in seconds: the clocks of a store's machines are not one.
    static let gapSeconds: Int64 = 3600

    /// - Parameters:
    ///   - transactions: The transactions of one purchase; nil is returned without one.
    ///   - type: The type of the product; nil if it is unknown.
    ///   - renewal: The last statement about the renewal; nil without one. A statement about an earlier period does not count.
    public init?(
        _ transactions: [RedeemedTransaction],
        _ type: ProductType?,
        _ renewal: StatedRenewal?,
        at moment: Timestamp
    ) {
        let transactions = transactions.sorted { ($0.purchaseDate, $0.sequence) < ($1.purchaseDate, $1.sequence) }
        guard let last = transactions.last else { return nil }
        let isOutdated = renewal.map { $0.statedAt < last.purchaseDate.adding(days: -Self.renewalDays) } ?? false
        let renewal = isOutdated ? nil : renewal
        let state = PurchaseState(of: last, type, renewal, at: moment)
        originalTransactionIdentifier = last.originalTransactionIdentifier
        origin = last.origin
        productIdentifier = last.productIdentifier
        self.state = state
        since = Self.beginning(of: transactions)
        until = [last.expiresAt, state == .gracePeriod ? last.graceEndsAt : nil].compactMap(\.self).max()
        let mayRenew = type == .autoRenewableSubscription && (state.isOwned || state == .billingRetry)
        renews = mayRenew ? renewal?.facts.bool(.autoRenewStatus) : false
        nextProductIdentifier = renews == true ? renewal?.facts.text(.autoRenewProductId) ?? productIdentifier : nil
        expirationReason = state == .expired ? ExpirationReason(intent: renewal?.facts.integer(.expirationIntent)) : nil
    }

    /// - Parameter transactions: At least one, by their purchase dates.
    private static func beginning(of transactions: [RedeemedTransaction]) -> Timestamp {
        var beginning = transactions[transactions.count - 1].purchaseDate
        for earlier in transactions.dropLast().reversed() {
            let isRevoked = earlier.revocationDate != nil
            let end = [earlier.expiresAt, earlier.graceEndsAt].compactMap(\.self).max()
            guard !isRevoked, end.map({ $0.adding(seconds: gapSeconds) >= beginning }) ?? true else { break }
            beginning = earlier.purchaseDate
        }
        return beginning
    }
}
