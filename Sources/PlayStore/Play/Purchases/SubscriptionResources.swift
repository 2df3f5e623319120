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
            periods.isEmpty ? nil : DateTimeText(moment: startTime), terms.regionCode
        )
        purchase.acknowledgementState =
            isAcknowledged ? "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED" : "ACKNOWLEDGEMENT_STATE_PENDING"
        (purchase.linkedPurchaseToken, purchase.etag) = (linkedToken, etag)
        purchase.externalAccountIdentifiers = Self.identifiers(terms.obfuscatedAccountId, terms.obfuscatedProfileId)
        purchase.testPurchase = terms.isTest ? .init() : nil
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
        purchase.lineItems = lineItems(at: now)
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

    /// The item, and the one that will replace it.
    private func lineItems(at now: Timestamp) -> [SubscriptionPurchaseV2.LineItem] {
        var item = item(of: terms)
        if let last = periods.last {
            (item.expiryTime, item.latestSuccessfulOrderId) = (DateTimeText(moment: expiryTime), last.orderId)
            item.offerPhase = last.offerPhase
        }
        var itemReplacement: SubscriptionPurchaseV2.ItemReplacement?
        if let replacement, now < startTime.adding(days: Self.replacementDays) {
            itemReplacement = .init(
                productId: replacement.productId, basePlanId: replacement.basePlanId, offerId: replacement.offerId,
                replacementMode: replacement.mode.rawValue)
        }
        guard let plannedTerms else {
            item.itemReplacement = itemReplacement
            return [item]
        }
        item.deferredItemReplacement = .init(productId: plannedTerms.productId)
        var planned = self.item(of: plannedTerms)
        planned.itemReplacement = itemReplacement
        return [item, planned]
    }

    private func item(of terms: Terms) -> SubscriptionPurchaseV2.LineItem {
        var item = SubscriptionPurchaseV2.LineItem(productId: terms.productId)
        if terms.isPrepaid {
            item.prepaidPlan = .init(
                allowExtendAfterTime: isEnded || periods.isEmpty || !terms.allowsExtension
                    ? nil : DateTimeText(moment: startTime))
        } else {
            item.autoRenewingPlan = .init(autoRenewEnabled: renews, recurringPrice: terms.price)
            item.autoRenewingPlan?.priceChangeDetails = priceChange.map {
                .init(
                    newPrice: $0.newPrice, priceChangeMode: $0.mode.rawValue, priceChangeState: $0.state.rawValue,
                    expectedNewPriceChargeTime: expectedNewPriceTime.map { DateTimeText(moment: $0) })
            }
            item.autoRenewingPlan?.installmentDetails = installmentDetails
        }
        item.signupPromotion = terms.promotion
        item.offerDetails = .init(
            basePlanId: terms.basePlanId, offerId: terms.offerId,
            offerTags: terms.offerTags.isEmpty ? nil : terms.offerTags)
        return item
    }

    /// `orders.get`, of one period.
    func order(_ period: Period) -> Order {
        let paymentTime = paymentTime(of: period)
        let kept = (period.price.billionths ?? 0) - (period.refunded?.billionths ?? 0)
        var order = Order(
            period.orderId, of: self, createdAt: paymentTime, processedAt: paymentTime, total: period.price,
            kept: Money(currencyCode: terms.price.currencyCode, billionths: kept), regionCode: terms.regionCode,
            channel: period.orderId == orderId ? terms.salesChannel : nil)
        var details = Order.SubscriptionDetails(basePlanId: terms.basePlanId, offerId: terms.offerId)
        details.servicePeriodStartTime = DateTimeText(moment: period.start)
        details.servicePeriodEndTime = DateTimeText(moment: period.end)
        switch period.kind {
        case .base: details.offerPhaseDetails = .init(baseDetails: .init())
        case .freeTrial: details.offerPhaseDetails = .init(freeTrialDetails: .init())
        case .introductory: details.offerPhaseDetails = .init(introductoryPriceDetails: .init())
        case .proration:
            details.offerPhaseDetails = .init(
                prorationPeriodDetails: .init(originalOfferPhase: period.original?.phaseName))
        }
        order.lineItems = [
            Order.LineItem(
                productId: terms.productId, productTitle: terms.title, listingPrice: terms.price, tax: order.tax,
                total: period.price, subscriptionDetails: details)
        ]
        if let refunded = period.refunded, let time = period.refundTime {
            order.addRefund(
                of: refunded, at: time, isWhole: refunded == period.price, isChargeback: period.isChargeback)
        }
        return order
    }
}

extension RecurringPurchase.Period {
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
