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
    }

    /// An expired purchase that its customer has renewed in the Play, without the app.
    package struct Resubscribed: Codable, Hashable, Sendable {
        package let token: String
        package let obfuscatedAccountId: String?
        package let obfuscatedProfileId: String?
    }

    /// The mode in which other terms replace these; nil if the purchase is topped up or bought anew.
    ///
    /// - Parameter requested: The app's wish; nil for Google's default.
    /// - Throws: `PlayError`, `invalidAction`, for a change that Google refuses.
    package func replacementMode(_ requested: ReplacementMode?, to new: Terms) throws(PlayError) -> ReplacementMode? {
        func refusal(_ reason: String) -> PlayError { .invalidAction("Subscription \(number) \(reason)") }
        guard isAcknowledged else { throw refusal("is not acknowledged yet, so nothing can replace it.") }
        let isSameProduct = terms.productId == new.productId
        let isSamePlan = isSameProduct && terms.basePlanId == new.basePlanId
        if state == .onHold, requested == nil { return nil }
        guard [.active, .canceled].contains(state) else {
            throw refusal("is \(state.rawValue). Only an active or a canceled one is replaced.")
        }
        if requested == nil, isSamePlan, state == .canceled || terms.isPrepaid {
            guard state == .canceled || new.allowsExtension else { throw refusal("has a plan without top-ups.") }
            return nil
        }
        guard !isSamePlan || state == .canceled else { throw refusal("has this plan already.") }
        let mode = requested ?? standardMode(to: new, isSameProduct: isSameProduct)
        switch mode {
        case .keepExisting:
            throw refusal("is sold alone: KEEP_EXISTING is for purchases of several subscriptions.")
        case _ where new.isPrepaid && mode != .chargeFullPrice:
            throw refusal("changes to a prepaid plan with CHARGE_FULL_PRICE only.")
        case _ where !new.isPrepaid && isSameProduct && ![.chargeFullPrice, .withoutProration].contains(mode):
            throw refusal("changes its base plan with CHARGE_FULL_PRICE or WITHOUT_PRORATION only.")
        case .deferred where terms.isPrepaid:
            throw refusal("is prepaid, and has no next renewal.")
        case _ where isSameProduct && terms.commitment != nil && new.commitment == nil:
            throw refusal("is paid in installments, and changes to no other kind of plan of the same subscription.")
        case .chargeProratedPrice where !new.isDearer(than: terms, from: startTime):
            throw refusal("gets no dearer, so CHARGE_PRORATED_PRICE is not possible.")
        default: return mode
        }
    }

    private func standardMode(to new: Terms, isSameProduct: Bool) -> ReplacementMode {
        guard !new.isPrepaid else { return .chargeFullPrice }
        guard isSameProduct else { return .withTimeProration }
        return new.chargesChangesAtOnce ? .chargeFullPrice : .withoutProration
    }

    /// Begins the purchase: it is paid now, or with the value of another one.
    mutating func begin(replacing old: RecurringPurchase?, _ mode: ReplacementMode?, at now: Timestamp) {
        (state, startTime, priceTime, pendingMode) = (.active, now, now, nil)
        guard let old, let last = old.periods.last, !old.isEnded else { return addPeriod(from: now) }
        guard let mode else {
            // A top-up extends the plan.
            return addPeriod(from: old.state == .active ? max(now, old.expiryTime) : now)
        }
        replacement = Replacement(
            productId: old.terms.productId, basePlanId: old.terms.basePlanId, offerId: old.terms.offerId, mode: mode)
        let credit = last.unusedPart(of: last.value, at: now)
        switch mode {
        case .withTimeProration:
            // Without a value, such as in a free trial, nothing is left to wait for.
            guard (credit.billionths ?? 0) > 0 else { return addPeriod(from: now) }
            addProration(from: now, to: now.adding(milliseconds: terms.time(for: credit, from: now)), value: credit)
        case .withoutProration: addProration(from: now, to: old.expiryTime, value: credit)
        case .chargeProratedPrice:
            let left = Double(old.expiryTime.millisecondsSince1970 - now.millisecondsSince1970)
            let due = terms.price.share(left / Double(terms.length(from: now)))
            let price = Money(
                currencyCode: due.currencyCode, billionths: max(0, (due.billionths ?? 0) - (credit.billionths ?? 0)))
            addProration(from: now, to: old.expiryTime, price: price, value: price.adding(credit))
        case .chargeFullPrice:
            guard (credit.billionths ?? 0) > 0 else { return addPeriod(from: now) }
            let (phase, time) = (nextPhase, terms.time(for: credit, from: now))
            addPeriod(from: now)
            guard let paid = periods.popLast() else { return }
            addProration(
                from: now, to: paid.end.adding(milliseconds: time), price: paid.price,
                value: paid.price.adding(credit), original: phase?.kind ?? .base)
        case .deferred:
            (plannedTerms, terms) = (terms, old.terms)
            begunPhases = old.begunPhases
            var rest = last
            rest.isCarriedOver = true
            add(rest)
            expiryTime = old.expiryTime
        case .keepExisting: addPeriod(from: now)
        }
    }

    private mutating func addProration(
        from start: Timestamp, to end: Timestamp, price: Money? = nil, value: Money, original: PhaseKind? = nil
    ) {
        add(
            Period(
                orderId: nextOrderId, start: start, end: end, kind: .proration,
                price: price ?? Money(currencyCode: value.currencyCode, billionths: 0), value: value,
                original: original))
    }

    /// Begins the plan of a deferred change.
    mutating func beginPlannedTerms() {
        guard let plannedTerms else { return }
        (terms, self.plannedTerms, begunPhases, priceChange) = (plannedTerms, nil, 0, nil)
    }

    /// True if the purchase is of a product, or will be with its next renewal.
    func isOf(_ productId: String) -> Bool { terms.productId == productId || plannedTerms?.productId == productId }

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
        (state, expiryTime) = (.pendingPurchaseCanceled, now)
        return [.notification(.pendingPurchaseCanceled)]
    }
}

extension RecurringPurchase.Terms {
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
