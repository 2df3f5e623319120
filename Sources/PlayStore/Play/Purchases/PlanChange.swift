import Proofs

/// The ways in which a plan replaces another, by Google's names.
package enum ReplacementMode: String, Codable, Sendable, CaseIterable {
    /// The new plan begins now. The value of the old one becomes time.
    case withTimeProration = "WITH_TIME_PRORATION"
    /// The new plan begins now. The difference for the rest of the period is charged.
    case chargeProratedPrice = "CHARGE_PRORATED_PRICE"
    /// The new plan begins now, and its price is charged with the next renewal.
    case withoutProration = "WITHOUT_PRORATION"
    /// The new plan begins now, and its price is charged now. The value of the old one becomes time.
    case chargeFullPrice = "CHARGE_FULL_PRICE"
    /// The new plan begins with the next renewal.
    case deferred = "DEFERRED"
    /// For the unchanged ones of several subscriptions in a purchase.
    case keepExisting = "KEEP_EXISTING"
}

/// Upgrades, downgrades, top-ups, and purchases in the Play itself.
extension RecurringPurchase {
    /// A plan that another one has replaced.
    package struct Replacement: Codable, Hashable, Sendable {
        package let productId: String
        package let basePlanId: String
        package let offerId: String?
        package let mode: ReplacementMode

        init(_ old: Item, _ mode: ReplacementMode) {
            (productId, basePlanId) = (old.terms.productId, old.terms.basePlanId)
            (offerId, self.mode) = (old.terms.offerId, mode)
        }
    }

    /// An expired purchase that its customer has renewed in the Play, without the app.
    package struct Resubscribed: Codable, Hashable, Sendable {
        package let token: String
        package let obfuscatedAccountId: String?
        package let obfuscatedProfileId: String?
    }

    /// The mode in which other terms replace an item; nil if the purchase is topped up or bought anew.
    ///
    /// - Parameters:
    ///   - requested: The app's wish; nil for Google's default.
    ///   - item: The replaced item; nil for the base item.
    /// - Throws: `PlayError`, `invalidAction`, for a change that Google refuses.
    package func replacementMode(
        _ requested: ReplacementMode?, to new: Terms, of item: Item? = nil
    ) throws(PlayError) -> ReplacementMode? {
        func refusal(_ reason: String) -> PlayError { .invalidAction("Subscription \(number) \(reason)") }
        guard isAcknowledged else { throw refusal("is not acknowledged yet, so nothing can replace it.") }
        let old = (item ?? base).terms
        let isSameProduct = old.productId == new.productId
        let isSamePlan = isSameProduct && old.basePlanId == new.basePlanId
        if state == .onHold, requested == nil { return nil }
        guard [.active, .canceled].contains(state) else {
            throw refusal("is \(state.rawValue). Only an active or a canceled one is replaced.")
        }
        if requested == nil, isSamePlan, state == .canceled || old.isPrepaid {
            guard state == .canceled || new.allowsExtension else { throw refusal("has a plan without top-ups.") }
            return nil
        }
        guard !isSamePlan || state == .canceled else { throw refusal("has this plan already.") }
        let mode = requested ?? standardMode(to: new, isSameProduct: isSameProduct)
        switch mode {
        case .keepExisting:
            throw refusal("changes this item. KEEP_EXISTING is for one of several items that stays as it is.")
        case _ where new.isPrepaid && mode != .chargeFullPrice:
            throw refusal("changes to a prepaid plan with CHARGE_FULL_PRICE only.")
        case _ where !new.isPrepaid && isSameProduct && ![.chargeFullPrice, .withoutProration].contains(mode):
            throw refusal("changes its base plan with CHARGE_FULL_PRICE or WITHOUT_PRORATION only.")
        case .deferred where old.isPrepaid:
            throw refusal("is prepaid, and has no next renewal.")
        case _ where isSameProduct && old.commitment != nil && new.commitment == nil:
            throw refusal("is paid in installments, and changes to no other kind of plan of the same subscription.")
        case .chargeProratedPrice where !new.isDearer(than: old, from: startTime):
            throw refusal("gets no dearer, so CHARGE_PRORATED_PRICE is not possible.")
        default: return mode
        }
    }

    /// The terms of an item that an order leaves as it is; nil if it changes the item.
    ///
    /// - Parameter isAddOn: True for an add-on, which stays without a word. A base item stays beside add-ons.
    /// - Throws: `PlayError`, `invalidAction`, for a purchase of which nothing is changed now.
    func kept(_ order: PlayPurchaseOrder, offerId: String?, isAddOn: Bool = false) throws(PlayError) -> Terms? {
        guard let item = item(of: order.productId), item.plannedTerms == nil,
            order.purchaseOptionId.map({ $0 == item.terms.basePlanId }) ?? true, offerId == nil,
            [nil, .keepExisting].contains(order.replacementMode),
            isAddOn || order.replacedNumber != nil && !(order.addOns.isEmpty && addOns.isEmpty)
        else { return nil }
        guard isAcknowledged else {
            throw .invalidAction("Subscription \(number) is not acknowledged yet, so nothing can replace it.")
        }
        guard [.active, .canceled].contains(state) else {
            throw .invalidAction(
                "Subscription \(number) is \(state.rawValue). Only an active or a canceled one is replaced.")
        }
        var terms = item.terms
        (terms.obfuscatedAccountId, terms.obfuscatedProfileId) = (order.obfuscatedAccountId, order.obfuscatedProfileId)
        return terms
    }

    /// True if the purchase has a product, or has had it.
    func hasHad(_ productId: String) -> Bool {
        (items + formerItems).contains { $0.terms.productId == productId }
    }

    private func standardMode(to new: Terms, isSameProduct: Bool) -> ReplacementMode {
        guard !new.isPrepaid else { return .chargeFullPrice }
        guard isSameProduct else { return .withTimeProration }
        return new.chargesChangesAtOnce ? .chargeFullPrice : .withoutProration
    }

    /// Begins the purchase: it is paid now, or with the value of another one.
    ///
    /// The items of the other one that are not named leave at the end of their periods (subscription-with-addons, "Subscription
    /// modification scenarios").
    mutating func begin(
        replacing old: RecurringPurchase?, _ mode: ReplacementMode?, with wishes: [AddOn] = [], at now: Timestamp
    ) {
        (state, startTime, pendingMode) = (.active, now, nil)
        var named: Set<String> = []
        if let old, !old.isEnded, !old.base.periods.isEmpty, let mode {
            let replaced = (mode == .keepExisting ? old.item(of: base.terms.productId) : nil) ?? old.base
            named.insert(replaced.terms.productId)
            base.begin(replacing: replaced, mode, order: orderId, at: now)
        } else {
            // A top-up extends the plan.
            let extended = old.flatMap { $0.state == .active ? max(now, $0.expiryTime) : nil }
            base.addPeriod(from: extended ?? now, order: orderId)
        }
        if mode != .keepExisting { base.priceTime = now }
        for wish in wishes {
            var item = Item(wish.terms, at: now)
            if let replaced = wish.replacedProductId.flatMap({ old?.item(of: $0) }), let mode = wish.mode {
                named.insert(replaced.terms.productId)
                item.begin(replacing: replaced, mode, order: orderId, at: now)
            } else {
                item.addPeriod(from: now, order: orderId, alignedTo: base.expiryTime)
            }
            addOns.append(item)
        }
        guard let old, !old.isEnded, mode != nil else { return }
        for left in old.items where !named.contains(left.terms.productId) && left.expiryTime > now {
            var item = left
            item.take(over: left, isRemoved: true)
            addOns.append(item)
        }
    }

    /// True if the purchase has a product, or will have it with its next renewal.
    func isOf(_ productId: String) -> Bool {
        items.contains { $0.terms.productId == productId || $0.plannedTerms?.productId == productId }
    }

    /// Completes the payment of a pending purchase.
    ///
    /// - Parameter old: The purchase that ends now.
    /// - Throws: `PlayError`, `invalidAction`, unless it is pending.
    package mutating func complete(replacing old: RecurringPurchase?, at now: Timestamp) throws(PlayError) -> [Effect] {
        guard state == .pending else { throw .invalidAction("Subscription \(number) has no pending payment.") }
        begin(replacing: old, pendingMode, at: now)
        return [.notification(.purchased)]
    }

    /// Cancels a pending purchase, whose payment was not made in time.
    mutating func cancelPending(at now: Timestamp) -> [Effect] {
        (state, base.expiryTime) = (.pendingPurchaseCanceled, now)
        return [.notification(.pendingPurchaseCanceled)]
    }
}

extension RecurringPurchase.Item {
    /// Begins in the place of another item: it is paid now, or with the value of the other one.
    mutating func begin(
        replacing old: Self, _ mode: ReplacementMode, order orderId: String, at now: Timestamp
    ) {
        guard let last = old.periods.last else { return addPeriod(from: now, order: orderId) }
        replacement = .init(old, mode)
        let credit = last.unusedPart(of: last.value, at: now)
        switch mode {
        case .withTimeProration:
            // Without a value, such as in a free trial, nothing is left to wait for.
            guard (credit.billionths ?? 0) > 0 else { return addPeriod(from: now, order: orderId) }
            addProration(
                from: now, to: now.adding(milliseconds: terms.time(for: credit, from: now)), order: orderId,
                value: credit)
        case .withoutProration: addProration(from: now, to: old.expiryTime, order: orderId, value: credit)
        case .chargeProratedPrice:
            let left = Double(old.expiryTime.millisecondsSince1970 - now.millisecondsSince1970)
            let due = terms.price.share(left / Double(terms.length(from: now)))
            let price = Money(
                currencyCode: due.currencyCode, billionths: max(0, (due.billionths ?? 0) - (credit.billionths ?? 0)))
            addProration(from: now, to: old.expiryTime, order: orderId, price: price, value: price.adding(credit))
        case .chargeFullPrice:
            guard (credit.billionths ?? 0) > 0 else { return addPeriod(from: now, order: orderId) }
            let (phase, time) = (nextPhase, terms.time(for: credit, from: now))
            let paid = beginPhase(from: now, order: orderId)
            addProration(
                from: now, to: paid.end.adding(milliseconds: time), order: orderId, price: paid.price,
                value: paid.price.adding(credit), original: phase?.kind ?? .base)
        case .deferred:
            (plannedTerms, terms) = (terms, old.terms)
            begunPhases = old.begunPhases
            carryOver(last)
            expiryTime = old.expiryTime
        case .keepExisting: take(over: old)
        }
    }

    /// Begins the plan of a deferred change.
    mutating func beginPlannedTerms() {
        guard let plannedTerms else { return }
        (terms, self.plannedTerms, begunPhases, priceChange) = (plannedTerms, nil, 0, nil)
    }
}

extension RecurringPurchase.Terms {
    /// The region without add-ons (subscription-with-addons, "Considerations").
    private static let regionWithoutAddOns = "KR"

    /// - Throws: `PlayError`, `invalidAction`, for add-ons that Google does not sell with the plan: "only supported for auto renewing base
    ///   plans", and "all items in the purchase must have the same recurring billing period" (subscription-with-addons, "Considerations").
    func check(_ addOns: [Self]) throws(PlayError) {
        guard !addOns.isEmpty else { return }
        let all = [self] + addOns
        guard all.allSatisfy({ !$0.isPrepaid && $0.commitment == nil }) else {
            throw .invalidAction(
                "Add-ons and their base item have auto-renewing plans, not prepaid ones or installments.")
        }
        guard all.allSatisfy({ $0.period == period && $0.price.currencyCode == price.currencyCode }) else {
            throw .invalidAction("The items of a subscription have one billing period, \(period), and one currency.")
        }
        guard regionCode != Self.regionWithoutAddOns else {
            throw .invalidAction("Google sells no add-ons in \(regionCode).")
        }
    }

    /// The price of a millisecond in billionths of a unit.
    fileprivate func rate(from start: Timestamp) -> Double {
        Double(price.billionths ?? 0) / Double(length(from: start))
    }

    /// True if the price rises for the same time, also for a license tester, whose periods are no measure.
    fileprivate func isDearer(than other: Self, from start: Timestamp) -> Bool {
        var (new, old) = (self, other)
        (new.isTest, old.isTest) = (false, false)
        return new.rate(from: start) > old.rate(from: start)
    }

    /// The milliseconds that an amount buys.
    fileprivate func time(for amount: Money, from start: Timestamp) -> Int64 {
        let billionths = Double(price.billionths ?? 0)
        guard billionths > 0 else { return 0 }
        return Int64(Double(amount.billionths ?? 0) / billionths * Double(length(from: start)))
    }

    /// The milliseconds of a period.
    fileprivate func length(from start: Timestamp) -> Int64 {
        let end = RecurringPurchase.end(of: period, from: start, terms: self, kind: .base)
        return max(1, end.millisecondsSince1970 - start.millisecondsSince1970)
    }
}

extension Money {
    /// The sum with an amount of the same currency.
    fileprivate func adding(_ other: Money) -> Money {
        Money(currencyCode: currencyCode, billionths: (billionths ?? 0) + (other.billionths ?? 0))
    }
}
