import Proofs

/// A subscription purchase as the API states it.
extension RecurringPurchase {
    /// The text of the latest state, which a deferral has to name.
    var etag: String { Base64.encode("\(number).\(revision)".utf8, .urlSafe) }

    /// The days for which a purchase names what it has replaced.
    private static let replacementDays: Int64 = 60

    /// `purchases.subscriptionsv2.get`.
    package func subscriptionPurchase(at now: Timestamp) -> SubscriptionPurchaseV2 {
        var purchase = SubscriptionPurchaseV2(kind: SubscriptionPurchaseV2.kind)
        purchase.subscriptionState = "SUBSCRIPTION_STATE_" + stateName
        (purchase.startTime, purchase.regionCode) = (
            base.periods.isEmpty ? nil : DateTimeText(moment: startTime), base.terms.regionCode
        )
        purchase.acknowledgementState =
            isAcknowledged ? "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED" : "ACKNOWLEDGEMENT_STATE_PENDING"
        (purchase.linkedPurchaseToken, purchase.etag) = (linkedToken, etag)
        purchase.externalAccountIdentifiers = Self.identifiers(
            base.terms.obfuscatedAccountId, base.terms.obfuscatedProfileId)
        purchase.testPurchase = base.terms.isTest ? .init() : nil
        if state == .paused {
            purchase.pausedStateContext = .init(autoResumeTime: resumeTime.map { DateTimeText(moment: $0) })
        }
        let declined = SubscriptionPurchaseV2.DeclinedContext(renewalDeclined: .init(pendingOrderId: nextOrderId))
        purchase.inGracePeriodStateContext = state == .inGracePeriod ? declined : nil
        purchase.onHoldStateContext = state == .onHold ? declined : nil
        if [.canceled, .expired].contains(state) { purchase.canceledStateContext = canceledContext }
        if let resubscribed, !isAcknowledged {
            purchase.outOfAppPurchaseContext = .init(
                expiredExternalAccountIdentifiers: Self.identifiers(
                    resubscribed.obfuscatedAccountId, resubscribed.obfuscatedProfileId),
                expiredPurchaseToken: resubscribed.token)
        }
        purchase.lineItems = items.flatMap { lineItems(of: $0, at: now) }
        return purchase
    }

    private static func identifiers(
        _ accountId: String?, _ profileId: String?
    ) -> SubscriptionPurchaseV2.AccountIdentifiers? {
        guard accountId != nil || profileId != nil else { return nil }
        return .init(obfuscatedExternalAccountId: accountId, obfuscatedExternalProfileId: profileId)
    }

    private var stateName: String {
        switch state {
        case .pending: "PENDING"
        case .active: "ACTIVE"
        case .inGracePeriod: "IN_GRACE_PERIOD"
        case .onHold: "ON_HOLD"
        case .paused: "PAUSED"
        case .canceled: "CANCELED"
        case .expired: "EXPIRED"
        case .pendingPurchaseCanceled: "PENDING_PURCHASE_CANCELED"
        }
    }

    private var canceledContext: SubscriptionPurchaseV2.CanceledContext? {
        switch cancellation {
        case .user(let time):
            .init(
                userInitiatedCancellation: .init(
                    cancelTime: DateTimeText(moment: time), cancelSurveyResult: cancelSurvey))
        case .system: .init(systemInitiatedCancellation: .init())
        case .developer: .init(developerInitiatedCancellation: .init())
        case .replacement: .init(replacementCancellation: .init())
        case nil: nil
        }
    }

    /// An item, and the one that will replace it.
    private func lineItems(of item: Item, at now: Timestamp) -> [SubscriptionPurchaseV2.LineItem] {
        var line = line(of: item, item.terms)
        if let last = item.periods.last {
            (line.expiryTime, line.latestSuccessfulOrderId) = (DateTimeText(moment: item.expiryTime), last.orderId)
            line.offerPhase = last.offerPhase
        }
        line.deferredItemRemoval = item.isRemoved ? .init() : nil
        var itemReplacement: SubscriptionPurchaseV2.ItemReplacement?
        if let replacement = item.replacement, now < startTime.adding(days: Self.replacementDays) {
            itemReplacement = .init(
                productId: replacement.productId, basePlanId: replacement.basePlanId, offerId: replacement.offerId,
                replacementMode: replacement.mode.rawValue)
        }
        guard let plannedTerms = item.plannedTerms else {
            line.itemReplacement = itemReplacement
            return [line]
        }
        line.deferredItemReplacement = .init(productId: plannedTerms.productId)
        var planned = self.line(of: item, plannedTerms)
        planned.itemReplacement = itemReplacement
        return [line, planned]
    }

    private func line(of item: Item, _ terms: Terms) -> SubscriptionPurchaseV2.LineItem {
        var line = SubscriptionPurchaseV2.LineItem(productId: terms.productId)
        if terms.isPrepaid {
            line.prepaidPlan = .init(
                allowExtendAfterTime: isEnded || base.periods.isEmpty || !terms.allowsExtension
                    ? nil : DateTimeText(moment: startTime))
        } else {
            line.autoRenewingPlan = .init(autoRenewEnabled: renews && !item.isRemoved, recurringPrice: terms.price)
            line.autoRenewingPlan?.priceChangeDetails = item.priceChange.map {
                .init(
                    newPrice: $0.newPrice, priceChangeMode: $0.mode.rawValue, priceChangeState: $0.state.rawValue,
                    expectedNewPriceChargeTime: newPriceTime(of: item).map { DateTimeText(moment: $0) })
            }
            line.autoRenewingPlan?.installmentDetails = installmentDetails
            line.autoRenewingPlan?.priceStepUpConsentDetails = stepUp.map {
                .init(
                    consentDeadlineTime: DateTimeText(moment: $0.deadline), newPrice: $0.newPrice,
                    state: $0.state.rawValue)
            }
        }
        line.signupPromotion = terms.promotion
        line.offerDetails = .init(
            basePlanId: terms.basePlanId, offerId: terms.offerId,
            offerTags: terms.offerTags.isEmpty ? nil : terms.offerTags)
        return line
    }

    /// `orders.get`, with a line for each item that it has paid; nil without such an order.
    func order(_ orderId: String) -> Order? {
        let lines = lines(ofOrder: orderId)
        guard let first = lines.first else { return nil }
        let paymentTime = paymentTime(of: first.period)
        let currency = first.period.price.currencyCode
        func sum(_ amount: (Period) -> Money?) -> Int64 {
            lines.reduce(0) { $0 + (amount($1.period)?.billionths ?? 0) }
        }
        let (total, refunded) = (sum(\.price), sum(\.refunded))
        var order = Order(
            orderId, of: self, createdAt: paymentTime, processedAt: paymentTime,
            total: Money(currencyCode: currency, billionths: total),
            kept: Money(currencyCode: currency, billionths: total - refunded), regionCode: base.terms.regionCode,
            channel: orderId == self.orderId ? base.terms.salesChannel : nil)
        let tax = order.tax
        order.lineItems = lines.map { item, period in
            Order.LineItem(
                productId: item.terms.productId, productTitle: item.terms.title, listingPrice: item.terms.price,
                tax: tax, total: period.price, subscriptionDetails: period.details(of: item.terms))
        }
        let isWhole = lines.allSatisfy { $0.period.refunded == $0.period.price }
        let latest = lines.compactMap(\.period.refundTime).max()
        if isWhole, let latest {
            order.addRefund(
                of: order.total ?? first.period.price, at: latest, isWhole: true,
                isChargeback: lines.contains { $0.period.isChargeback })
        } else {
            for (_, period) in lines {
                guard let amount = period.refunded, let time = period.refundTime else { continue }
                order.addRefund(of: amount, at: time, isWhole: false, isChargeback: period.isChargeback)
            }
        }
        return order
    }
}

extension RecurringPurchase.Period {
    fileprivate func details(of terms: RecurringPurchase.Terms) -> Order.SubscriptionDetails {
        var details = Order.SubscriptionDetails(basePlanId: terms.basePlanId, offerId: terms.offerId)
        details.servicePeriodStartTime = DateTimeText(moment: start)
        details.servicePeriodEndTime = DateTimeText(moment: end)
        switch kind {
        case .base: details.offerPhaseDetails = .init(baseDetails: .init())
        case .freeTrial: details.offerPhaseDetails = .init(freeTrialDetails: .init())
        case .introductory: details.offerPhaseDetails = .init(introductoryPriceDetails: .init())
        case .proration:
            details.offerPhaseDetails = .init(
                prorationPeriodDetails: .init(originalOfferPhase: original?.phaseName))
        }
        return details
    }

    fileprivate var offerPhase: SubscriptionPurchaseV2.OfferPhase {
        switch kind {
        case .base: .init(basePrice: .init())
        case .freeTrial: .init(freeTrial: .init())
        case .introductory: .init(introductoryPrice: .init())
        case .proration: .init(prorationPeriod: .init(originalOfferPhaseType: original?.phaseName))
        }
    }
}

extension RecurringPurchase.PhaseKind {
    /// Google's name of the phase that a proration period has taken in.
    fileprivate var phaseName: String? {
        switch self {
        case .base: "BASE"
        case .introductory: "INTRODUCTORY"
        case .freeTrial: "FREE_TRIAL"
        case .proration: nil
        }
    }
}
