import Proofs

/// An item of a subscription purchase: the base item, or an add-on. Each has its own plan, prices, periods and end
/// (developer.android.com/google/play/billing/subscription-with-addons).
extension RecurringPurchase {
    package struct Item: Codable, Hashable, Sendable {
        package internal(set) var terms: Terms
        package internal(set) var expiryTime: Timestamp
        package internal(set) var periods: [Period] = []
        /// The number of phases of the offer that have begun.
        var begunPhases = 0
        /// The plan that this one replaced, as an app asked for it; nil if none.
        package internal(set) var replacement: Replacement?
        /// The plan that begins with the next renewal.
        package internal(set) var plannedTerms: Terms?
        /// The last price change since the purchase.
        package internal(set) var priceChange: PriceChange?
        /// The price of an increase that begins with the consent to that of another item; nil for none.
        var waitingPrice: Money?
        /// The moment since which the customer has the price.
        package internal(set) var priceTime: Timestamp
        /// The renewal that could not be charged yet; nil for none.
        var declinedAt: Timestamp?
        /// True if the item leaves the subscription at the end of its period.
        package internal(set) var isRemoved = false

        init(_ terms: Terms, at now: Timestamp) { (self.terms, expiryTime, priceTime) = (terms, now, now) }
    }

    /// The wish for an add-on: its terms, and the item of the replaced purchase whose place it takes.
    package struct AddOn: Sendable {
        package let terms: Terms
        /// The product of the item that it replaces, or keeps; nil for a new add-on.
        package let replacedProductId: String?
        package let mode: ReplacementMode?

        package init(_ terms: Terms, replacing productId: String? = nil, _ mode: ReplacementMode? = nil) {
            (self.terms, replacedProductId, self.mode) = (terms, productId, mode)
        }
    }

    /// All items, the base item first.
    package var items: [Item] { [base] + addOns }

    func item(of productId: String) -> Item? { items.first { $0.terms.productId == productId } }

    /// Changes each item, the base item first.
    mutating func changeItems(_ change: (inout Item) -> Void) {
        change(&base)
        for index in addOns.indices { change(&addOns[index]) }
    }
}

extension RecurringPurchase.Item {
    /// The phase of the offer that the next period is; nil for the price of the base plan.
    var nextPhase: RecurringPurchase.Phase? {
        terms.phases.indices.contains(begunPhases) ? terms.phases[begunPhases] : nil
    }

    /// Begins the next period at the price of its phase.
    ///
    /// - Parameter renewal: The next renewal of the base item, with which an add-on renews; nil for the base item.
    mutating func addPeriod(from start: Timestamp, order orderId: String, alignedTo renewal: Timestamp? = nil) {
        add(beginPhase(from: start, order: orderId, alignedTo: renewal))
    }

    /// The next period at the price of its phase, which has begun.
    mutating func beginPhase(
        from start: Timestamp, order orderId: String, alignedTo renewal: Timestamp? = nil
    ) -> RecurringPurchase.Period {
        let phase = nextPhase
        if phase != nil { begunPhases += 1 }
        let (kind, price) = (phase?.kind ?? .base, phase?.price ?? terms.price)
        let end = RecurringPurchase.end(of: phase?.length ?? terms.period, from: start, terms: terms, kind: kind)
        // "To ensure add-on renewal dates eventually align with the base item, Google Play may insert a prorated charge after any trial or
        // intro pricing phases" (subscription-with-addons, "Rules applicable for items in the purchase").
        if phase == nil, let renewal, start < renewal, renewal < end {
            let part = price.part(from: start, to: renewal, of: end)
            return .init(
                orderId: orderId, start: start, end: renewal, kind: .proration, price: part, value: part, original: nil)
        }
        return .init(orderId: orderId, start: start, end: end, kind: kind, price: price, value: price, original: nil)
    }

    mutating func add(_ period: RecurringPurchase.Period) {
        periods.append(period)
        (expiryTime, declinedAt) = (period.end, nil)
    }

    /// - Parameters:
    ///   - price: The charge; nil for none.
    ///   - value: The charge, and the value of a replaced plan; nil for the charge alone.
    mutating func addProration(
        from start: Timestamp, to end: Timestamp, order orderId: String, price: Money? = nil, value: Money? = nil,
        original: RecurringPurchase.PhaseKind? = nil
    ) {
        let price = price ?? Money(currencyCode: terms.price.currencyCode, billionths: 0)
        add(
            .init(
                orderId: orderId, start: start, end: end, kind: .proration, price: price, value: value ?? price,
                original: original))
    }

    /// Takes over an item of a replaced purchase, with its period, its prices and what is left of its offer.
    ///
    /// - Parameter isRemoved: True if it leaves at the end of the period: "Removed add-ons will expire at the end of their current billing
    ///   periods" (subscription-with-addons, "Modify subscriptions with add-ons").
    mutating func take(over old: Self, isRemoved: Bool = false) {
        let (accountId, profileId) = (terms.obfuscatedAccountId, terms.obfuscatedProfileId)
        self = old
        (terms.obfuscatedAccountId, terms.obfuscatedProfileId) = (accountId, profileId)
        self.isRemoved = isRemoved
        if isRemoved {
            (replacement, plannedTerms, priceChange) = (nil, nil, nil)
        } else if plannedTerms == nil {
            replacement = .init(old, .keepExisting)
        }
        carryOver(old.periods.last)
    }

    /// Begins with a paid period of a replaced purchase, whose order it keeps.
    mutating func carryOver(_ last: RecurringPurchase.Period?) {
        guard var last else { return }
        last.isCarriedOver = true
        periods = [last]
    }

    /// Pays back an amount of the periods of an order.
    ///
    /// - Parameter amount: The amount of a period; its whole price by default.
    mutating func refund(
        order orderId: String, isChargeback: Bool, at now: Timestamp,
        _ amount: (RecurringPurchase.Period) -> Money = \.price
    ) {
        for index in periods.indices where periods[index].orderId == orderId {
            periods[index].refunded = amount(periods[index])
            (periods[index].refundTime, periods[index].isChargeback) = (now, isChargeback)
        }
    }

    /// The committed payments that are not made yet; 0 without a commitment.
    package var remainingCommittedPayments: Int {
        guard let commitment = terms.commitment, commitment.payments > 0 else { return 0 }
        // A trial is no payment, and neither is the time of a replaced plan.
        let paid = periods.count { ($0.price.billionths ?? 0) > 0 && !$0.isCarriedOver }
        guard paid > commitment.payments else { return commitment.payments - paid }
        return commitment.isRenewed ? commitment.payments - 1 - (paid - 1) % commitment.payments : 0
    }
}

extension Money {
    /// The share of the price of a period for the time until a moment.
    fileprivate func part(from start: Timestamp, to moment: Timestamp, of end: Timestamp) -> Money {
        let length = end.millisecondsSince1970 - start.millisecondsSince1970
        return share(Double(moment.millisecondsSince1970 - start.millisecondsSince1970) / Double(length))
    }
}
