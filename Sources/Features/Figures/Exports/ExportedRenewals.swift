import Proofs

/// The statements about the renewals of a user's subscriptions, and what the user's history tells of them.
struct ExportedRenewals {
    /// A period of a subscription: its transaction.
    struct Period: Hashable {
        let origin: Origin
        let transaction: ByteKey
    }

    /// The last statements, by the purchase.
    var statements: [ExportedPurchase: StatedRenewal] = [:]
    /// The dates at which renewal was turned off, by the period; absent if it was turned on again.
    var turnedOff: [Period: Timestamp] = [:]

    /// The date at which the customer turned off the renewal of a period; nil if it renews, or nothing was stated.
    ///
    /// - Parameter isLast: Whether it is the last period of its purchase.
    func turnedOff(_ bought: BoughtTransaction, isLast: Bool) -> Timestamp? {
        let transaction = bought.transaction
        let period = Period(origin: transaction.origin, transaction: ByteKey(transaction.transactionIdentifier))
        if let date = turnedOff[period] { return date }
        // A purchase that had ended when it became known has no history.
        guard let statement = statement(about: bought, isLast: isLast), statement.willRenew == false else {
            return nil
        }
        switch Self.intent(statement) {
        case nil, .customerCancelled, .customerDidNotConsentToPriceIncrease: return statement.statedAt
        case .billingError, .productNotAvailable, .other: return nil
        }
    }

    /// The end of a period after which the customer could not be charged; nil if the customer was, or nothing was stated.
    ///
    /// - Parameter isLast: Whether it is the last period of its purchase.
    func failedCharge(after bought: BoughtTransaction, isLast: Bool) -> Timestamp? {
        guard let statement = statement(about: bought, isLast: isLast),
            statement.facts.bool(.isInBillingRetryPeriod) == true || Self.intent(statement) == .billingError
        else { return nil }
        return bought.transaction.paidUntil
    }

    private func statement(about bought: BoughtTransaction, isLast: Bool) -> StatedRenewal? {
        guard isLast, let statement = statements[ExportedPurchase(bought)],
            statement.counts(forPeriodFrom: bought.transaction.purchaseDate)
        else { return nil }
        return statement
    }

    private static func intent(_ statement: StatedRenewal) -> ExpirationIntent? {
        statement.facts.integer(.expirationIntent).flatMap { Int(exactly: $0) }.flatMap(ExpirationIntent.init)
    }
}
