import Catalog
import Ledger
import Proofs

/// The money of charges: the price of each, what a store has paid back of it, and their sums.
///
/// Rights are another thing. A refund may leave the goods, and the end of family sharing pays nothing back. Figures, webhooks, exports,
/// the console and the story of a customer have the same amount, that of `PaidBack`.
package struct PaidBack: Hashable, Sendable {
    /// In milliunits of the charge's currency; nil if the store has not stated it.
    package let amount: Int64?
    /// The date of the last refund.
    package let at: Timestamp
    /// True if nothing of the price is left.
    package let isWhole: Bool
}

/// The rule of refunds, for every kind and both stores.
extension PaidBack {
    /// The facts that the rule depends on, without those of the terms.
    package static let facts: [TransactionFact] = [
        .price, .multiSeatInfo, .orderId, .revocationType, .revocationPercentage, .advancedCommerceInfo,
        .refundedAmount, .refundedAt,
    ]

    /// - Parameters:
    ///   - facts: The last statement of the store about the charge.
    ///   - revokedAt: The date at which the store took the goods back; nil if it left them.
    /// - Returns: Nil if nothing was paid back.
    package init?(_ facts: TransactionFacts, quantity: Int, revokedAt: Timestamp?) {
        let terms = PurchasePeriod.Terms(facts)
        guard !terms.isPaidByAnother else { return nil }
        let price = facts.paidAmount(quantity: quantity)
        if let refund = facts.statedRefund {
            guard refund.amount != 0, let date = refund.date ?? revokedAt else { return nil }
            let amount = refund.amount.map { min($0, price ?? $0) }
            self.init(amount: amount, at: date, isWhole: amount != nil && amount == price)
            return
        }
        let type = facts.text(.revocationType).flatMap(RevocationType.init)
        switch type {
        // Members of a family and of an organization have paid nothing.
        case .familyRevoke, .assignmentRevoke: return nil
        case .refundFull, .refundProrated: break
        // In an app receipt, the date of a cancellation is that of an upgrade, too (responseBody.Receipt.In_app, `cancellation_date`).
        case nil: if terms.isUpgraded { return nil }
        }
        // The revocation of an upgraded period is an upgrade. Its refund counts all the same, and has a date of its own.
        guard let date = revokedAt ?? type.flatMap({ _ in facts.date(.refundedAt) }) else { return nil }
        // In thousandths of a percent, of the whole quantity (App Store Server API, `revocationPercentage`).
        let whole: Int64 = 100_000
        if let share = facts.integer(.revocationPercentage), (0...whole).contains(share) {
            let amount = price.map { whole.dividingFullWidth($0.multipliedFullWidth(by: share)).quotient }
            self.init(amount: amount, at: date, isWhole: share == whole)
        } else if type == .refundProrated {
            self.init(amount: nil, at: date, isWhole: false)
        } else {
            self.init(amount: price, at: date, isWhole: true)
        }
    }
}

extension TransactionFacts {
    /// The refund whose amount the store states itself, or of the items of an Advanced Commerce purchase, whose transactions have no
    /// `revocationType`. Nil if it states no such refund.
    fileprivate var statedRefund: StatedRefund? {
        if self[.orderId] != nil || self[.refundedAmount] != nil {
            let (amount, date) = (integer(.refundedAmount), date(.refundedAt))
            return amount == nil && date == nil ? nil : StatedRefund(amount: amount, date: date)
        }
        let refunds = itemRefunds
        guard !refunds.isEmpty else { return nil }
        let amounts = refunds.compactMap(\.amount)
        return StatedRefund(
            amount: amounts.count == refunds.count ? amounts.reduce(0, &+) : nil,
            date: refunds.compactMap(\.date).max())
    }

    /// The amount that the customer has paid, in milliunits: zero for the purchase of another customer. Nil if the store has not stated
    /// the price.
    ///
    /// The price of a subscription is that of one seat (App Store Server API, `price`). With several tiers it is a rounded average, so
    /// the tiers have the amount. The price of another purchase is that of its whole quantity.
    fileprivate func paidAmount(quantity: Int) -> Int64? {
        let seats = seats
        if let seats, !seats.isEmpty { return seats.amount.map { isPaidByAnother ? 0 : $0 } }
        let isOfSeat = seats != nil || text(.type) == ProductType.autoRenewableSubscription.rawValue
        return integer(.price)?.times(isOfSeat ? Int64(quantity) : 1).map { isPaidByAnother ? 0 : $0 }
    }

    private var isPaidByAnother: Bool { PurchasePeriod.Terms(self).isPaidByAnother }
}

/// The part of a charge that a store has taken back: its money, or the goods without any.
package enum StoreReturn: Sendable {
    case refunded, partlyRefunded
    /// The customer's bank has taken the money back.
    case chargedBack
    /// The goods of a family member, and of the user of a seat, who have paid nothing.
    case shareEnded, seatTaken
    /// The goods, without a known reason.
    case revoked
}

extension RedeemedTransaction {
    /// Google's number of a chargeback (developers.google.com/android-publisher/api-ref/rest/v3/purchases.voidedpurchases, `voidedReason`).
    private static let chargebackReason: Int64 = 7

    /// The part that the store has taken back, and the date; nil for none, and for an upgrade.
    package var takenBack: (what: StoreReturn, at: Timestamp)? {
        let terms = PurchasePeriod.Terms(facts)
        if let paidBack {
            let isChargeback =
                facts.integer(.voidedReason) == Self.chargebackReason
                || facts.text(.refundReason) == RefundFacts.chargeback
            return (isChargeback ? .chargedBack : paidBack.isWhole ? .refunded : .partlyRefunded, paidBack.at)
        }
        guard let revocationDate, !terms.isUpgraded else { return nil }
        return switch (facts.text(.revocationType).flatMap(RevocationType.init), terms.ownership) {
        case (.familyRevoke, _), (_, .familyShared): (.shareEnded, revocationDate)
        case (.assignmentRevoke, _), (_, .assigned): (.seatTaken, revocationDate)
        default: (.revoked, revocationDate)
        }
    }

    /// The money that the store has paid back; nil for none.
    package var paidBack: PaidBack? { PaidBack(facts, quantity: quantity, revokedAt: revocationDate) }

    /// The price that the customer has paid: zero for the purchase of another customer, which is shared or has given a seat.
    ///
    /// Nil if the store has not stated the price, or its currency.
    package var paidPrice: Price? {
        guard let amount = paidAmount, let currency = facts.text(.currency) else { return nil }
        return Price(milliunits: amount, currency: currency)
    }

    /// The same amount in milliunits, in a currency that the store may not have stated.
    package var paidAmount: Int64? { facts.paidAmount(quantity: quantity) }

    /// The amount of the price that is not paid back; nil if one of the two is unknown.
    package var keptAmount: Int64? {
        guard let paidBack else { return paidAmount }
        guard let paid = paidAmount, let amount = paidBack.amount else { return nil }
        return paid - amount
    }
}

extension [RedeemedTransaction] {
    /// The charges: each payment of the customer once, without its repetitions by restoring, and without the purchases of others.
    package var charges: [RedeemedTransaction] {
        filter { !PurchasePeriod.Terms($0.facts).isPaidByAnother }.withoutRepetitions
    }

    /// The transactions without those that repeat a purchase. The App Store gives a restored purchase a new identifier (App Store Server
    /// Notifications, `transactionId`: "every time the subscription automatically renews or the user restores it on a new device").
    ///
    /// Of one purchase and product that does not renew, the original stays if it is known.
    package var withoutRepetitions: [RedeemedTransaction] {
        var kept: [RedeemedTransaction] = []
        var places: [EndlessPurchase: Int] = [:]
        for transaction in self {
            if transaction.subscribedUntil == nil {
                let sale = EndlessPurchase(
                    purchase: transaction.purchase, product: ByteKey(transaction.productIdentifier))
                if let place = places[sale] {
                    if transaction.isOriginal(beside: kept[place]) { kept[place] = transaction }
                    continue
                }
                places[sale] = kept.count
            }
            kept.append(transaction)
        }
        return kept
    }

    /// The sums of the paid prices without what was paid back, the largest first. A refund of an unknown amount is in none.
    ///
    /// - Parameter isSandbox: True for the sums of test purchases, false for those of real ones.
    package func spent(inSandbox isSandbox: Bool) -> [Price] {
        var sums: [String: Int64] = [:]
        for transaction in charges where transaction.origin.isSandbox == isSandbox {
            guard let price = transaction.paidPrice else { continue }
            sums[price.currency, default: 0] &+= price.milliunits &- (transaction.paidBack?.amount ?? 0)
        }
        return sums.map { Price(milliunits: $1, currency: $0) }.largestFirst
    }
}

extension RedeemedTransaction {
    /// True for an auto-renewable subscription. An app receipt states no type, but an end.
    package var isSubscription: Bool {
        facts.text(.type).map { $0 == ProductType.autoRenewableSubscription.rawValue } ?? (facts[.expiresDate] != nil)
    }

    /// The end of the paid time of a subscription; nil for another purchase.
    package var subscribedUntil: Timestamp? { isSubscription ? paidUntil : nil }

    /// The end of the paid time; nil for a purchase without an end.
    package var paidUntil: Timestamp? { expiresAt ?? facts.date(.expiresDate) }
}

/// A product of a purchase that does not renew. The customer pays for it once.
private struct EndlessPurchase: Hashable {
    let purchase: PurchaseOfUser
    let product: ByteKey
}

extension RedeemedTransaction {
    /// True if this one stands for a purchase that both repeat.
    fileprivate func isOriginal(beside other: RedeemedTransaction) -> Bool {
        func key(_ transaction: RedeemedTransaction) -> (Int, Timestamp, ByteKey) {
            let isOriginal = transaction.originalTransactionIdentifier.hasSameBytes(
                as: transaction.transactionIdentifier)
            return (
                isOriginal ? 0 : 1, transaction.facts.date(.originalPurchaseDate) ?? transaction.purchaseDate,
                ByteKey(transaction.transactionIdentifier)
            )
        }
        return key(self) < key(other)
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

/// The rule of refunds without a revocation. That of a revocation is part of its event.
extension EntitlementDecision {
    /// The money that the store has paid back of a claim's transaction; nil for none.
    func paidBack(of claim: Claim) -> PaidBack? {
        guard let transaction = facts.transactions[claim.key], let stated = transaction.stated else { return nil }
        return PaidBack(stated, quantity: claim.quantity, revokedAt: transaction.status.revocationDate)
    }

    /// Records money that was paid back since, however often it is stated.
    mutating func auditRefund(of claim: Claim, after before: PaidBack?, to user: Int64) {
        guard let after = paidBack(of: claim), before == nil || after.amount ?? 0 > before?.amount ?? 0 else { return }
        audit(
            .paymentRefunded, claim.key, claim.productIdentifier, by: .store(claim.origin.store), to: user,
            measure: refund(of: claim, after, paidBefore: before?.amount ?? 0))
    }

    /// The part of an amount that no earlier event has; nil if the amount or the currency is unknown.
    func refund(of claim: Claim, _ paidBack: PaidBack, paidBefore before: Int64) -> AuditEntry.Measure? {
        guard let amount = paidBack.amount, let currency = facts.transactions[claim.key]?.stated?.text(.currency)
        else { return nil }
        return .refund(Price(milliunits: amount - before, currency: currency), at: paidBack.at)
    }
}
