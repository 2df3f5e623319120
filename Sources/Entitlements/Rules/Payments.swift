import Proofs

/// The rules of payments (App Store Server API, `price`).
///
/// The price of a subscription is that of one seat. With several tiers it is a rounded average, so the tiers have the amount. The
/// price of another purchase is that of its whole quantity.
extension RedeemedTransaction {
    /// The price that the customer has paid: zero for the purchase of another customer, which is shared or has given a seat.
    ///
    /// Nil if the App Store has not stated the price, or its currency.
    package var paidPrice: Price? {
        guard let amount = paidAmount, let currency = facts.text(.currency) else { return nil }
        return Price(milliunits: amount, currency: currency)
    }

    /// The same amount in milliunits, in a currency that the App Store may not have stated.
    package var paidAmount: Int64? {
        guard let amount = saleAmount else { return nil }
        return PurchasePeriod.Terms(facts).isPaidByAnother ? 0 : amount
    }

    /// The part of a payment that the App Store has refunded; nil if it has not stated the share.
    package func refunded(of amount: Int64) -> Int64? {
        // In thousandths of a percent.
        let whole: Int64 = 100_000
        guard let share = facts.integer(.revocationPercentage), (0...whole).contains(share) else { return nil }
        return whole.dividingFullWidth(amount.multipliedFullWidth(by: share)).quotient
    }

    /// The refunded amount of a price that the App Store has refunded; nil if it has not stated the share.
    package func refundedAmount(of price: Int64) -> Int64? {
        let isProrated = facts.text(.revocationType) == RevocationType.refundProrated.rawValue
        return refunded(of: price) ?? (isProrated ? nil : price)
    }

    /// True if the App Store has refunded it. The end of family sharing is no refund.
    package var isRefunded: Bool {
        revocationDate != nil && facts.text(.revocationType) != RevocationType.familyRevoke.rawValue
    }

    /// True for a refund that is no upgrade, though the App Store may state an upgrade as one.
    package var isPaidBack: Bool { isRefunded && !PurchasePeriod.Terms(facts).isUpgraded }

    private var saleAmount: Int64? {
        let seats = facts.seats
        if let seats, !seats.isEmpty { return seats.amount }
        let isOfSeat = seats != nil || facts.text(.type) == ProductType.autoRenewableSubscription.rawValue
        return facts.integer(.price)?.times(isOfSeat ? Int64(quantity) : 1)
    }
}

extension [RedeemedTransaction] {
    /// The sums of the paid prices without what was refunded, the largest first.
    ///
    /// - Parameter isSandbox: True for the sums of test purchases, false for those of real ones.
    package func spent(inSandbox isSandbox: Bool) -> [Price] {
        var sums: [String: Int64] = [:]
        for transaction in self where transaction.origin.isSandbox == isSandbox {
            guard let price = transaction.paidPrice else { continue }
            let refunded = transaction.isPaidBack ? transaction.refundedAmount(of: price.milliunits) ?? 0 : 0
            sums[price.currency, default: 0] &+= price.milliunits &- refunded
        }
        return sums.map { Price(milliunits: $1, currency: $0) }.largestFirst
    }
}

extension [Price] {
    /// The order in which sums of several currencies are shown.
    package var largestFirst: [Price] { sorted { ($1.milliunits, $0.currency) < ($0.milliunits, $1.currency) } }
}

extension RenewalFacts {
    /// The price of the next period with all its seats; nil if the App Store has not stated it.
    package var nextPrice: Price? {
        let tiers = seats ?? []
        let amount =
            tiers.isEmpty ? integer(.renewalPrice)?.times(integer(.renewalQuantity) ?? 1) : tiers.amount
        guard let amount, let currency = text(.currency) else { return nil }
        return Price(milliunits: amount, currency: currency)
    }
}

extension [MultiSeatPriceTier] {
    /// The amount of all seats; nil if it is too large for any currency.
    fileprivate var amount: Int64? {
        var sum: Int64 = 0
        for tier in self {
            guard let amount = tier.price.times(tier.quantity) else { return nil }
            let (next, isTooLarge) = sum.addingReportingOverflow(amount)
            guard !isTooLarge else { return nil }
            sum = next
        }
        return sum
    }
}

extension Int64 {
    /// The product; nil if it is too large.
    fileprivate func times(_ quantity: Int64) -> Int64? {
        let (product, isTooLarge) = multipliedReportingOverflow(by: quantity)
        return isTooLarge ? nil : product
    }
}
