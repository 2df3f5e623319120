import Proofs

/// `purchases.subscriptions.get`.
extension SubscriptionPurchase {
    package init(_ purchase: RecurringPurchase) {
        let terms = purchase.terms
        kind = Self.kind
        if let last = purchase.periods.last {
            (startTimeMillis, expiryTimeMillis) = (Self.millis(purchase.startTime), Self.millis(purchase.expiryTime))
            // "If the subscription was canceled because payment was declined, this will be the order id from the payment declined order"
            // (`SubscriptionPurchase.orderId`). A chargeback pays back the last order, and so declines none.
            orderId = purchase.cancellation == .system && last.refunded == nil ? purchase.nextOrderId : last.orderId
        }
        autoResumeTimeMillis = purchase.state == .paused ? purchase.resumeTime.map(Self.millis) : nil
        autoRenewing = purchase.renews
        (priceCurrencyCode, priceAmountMicros) = (terms.price.currencyCode, Self.micros(terms.price))
        introductoryPriceInfo = IntroductoryPrice(terms.phases)
        if let change = purchase.priceChange, change.isUnderWay, purchase.renews {
            priceChange = .init(
                newPrice: .init(currency: change.newPrice.currencyCode, micros: Self.micros(change.newPrice).value),
                state: change.state == .confirmed ? 1 : 0)
        }
        (countryCode, linkedPurchaseToken) = (terms.regionCode, purchase.linkedToken)
        (paymentState, cancelReason) = (Self.paymentState(of: purchase), Self.cancelReason(of: purchase))
        if case .user(let time)? = purchase.cancellation {
            userCancellationTimeMillis = Self.millis(time)
            cancelSurveyResult = purchase.cancelSurvey.map {
                .init(cancelSurveyReason: $0.reason.number, userInputCancelReason: $0.reasonUserInput)
            }
        }
        if let promotion = terms.promotion {
            promotionType = promotion.vanityCode == nil ? 0 : 1
            promotionCode = promotion.vanityCode?.promotionCode
        }
        purchaseType = terms.isTest ? 0 : nil
        acknowledgementState = purchase.isAcknowledged ? 1 : 0
        (obfuscatedExternalAccountId, obfuscatedExternalProfileId) = (
            terms.obfuscatedAccountId, terms.obfuscatedProfileId
        )
    }

    private static func millis(_ moment: Timestamp) -> Int64Text { Int64Text(value: moment.millisecondsSince1970) }

    fileprivate static func micros(_ money: Money) -> Int64Text { Int64Text(value: money.price.milliunits * 1000) }

    private static func paymentState(of purchase: RecurringPurchase) -> Int32? {
        switch purchase.state {
        case .canceled, .expired, .pendingPurchaseCanceled: nil
        case .pending, .inGracePeriod, .onHold: 0
        case .active, .paused:
            if purchase.plannedTerms != nil { 3 } else if purchase.periods.last?.kind == .freeTrial { 2 } else { 1 }
        }
    }

    private static func cancelReason(of purchase: RecurringPurchase) -> Int32? {
        switch purchase.cancellation {
        case .user: 0
        case .system: 1
        case .replacement: 2
        case .developer: 3
        case nil: nil
        }
    }
}

extension SubscriptionPurchase.IntroductoryPrice {
    /// - Returns: Nil for an offer without an introductory price.
    fileprivate init?(_ phases: [RecurringPurchase.Phase]) {
        let phases = phases.filter { $0.kind == .introductory }
        guard let first = phases.first else { return nil }
        introductoryPriceCurrencyCode = first.price.currencyCode
        introductoryPriceAmountMicros = SubscriptionPurchase.micros(first.price)
        introductoryPricePeriod = first.length.description
        introductoryPriceCycles = Int32(phases.count)
    }
}

extension SubscriptionPurchaseV2.CancelSurveyResult.Reason {
    /// The number of the reason in the first version (`SubscriptionCancelSurveyResult`).
    fileprivate var number: Int32 {
        switch self {
        case .others: 0
        case .notEnoughUsage: 1
        case .technicalIssues: 2
        case .costRelated: 3
        case .foundBetterApp: 4
        }
    }
}

/// The methods that the second version of the API, or `orders`, has replaced.
extension PlayBooks {
    /// `purchases.subscriptions.defer`, by moments where the second version has a duration. Whole seconds count.
    func deferExpiry(_ purchase: RecurringPurchase, _ request: SubscriptionRequests.FirstDefer) throws
        -> SubscriptionRequests.FirstDeferred
    {
        guard let info = request.deferralInfo else { throw PublisherError.required("deferralInfo") }
        guard let expected = info.expectedExpiryTimeMillis?.value else {
            throw PublisherError.required("deferralInfo.expectedExpiryTimeMillis")
        }
        guard let desired = info.desiredExpiryTimeMillis?.value else {
            throw PublisherError.required("deferralInfo.desiredExpiryTimeMillis")
        }
        let present = purchase.expiryTime.millisecondsSince1970
        // "If the current expiry time for the subscription is not the value specified here, the deferral will not occur"
        // (`SubscriptionDeferralInfo.expectedExpiryTimeMillis`). Google names no error; this is the one of a false etag. The second version
        // of the answer has whole seconds.
        guard expected / 1000 == present / 1000 else { throw PublisherError.concurrentUpdate }
        let (length, overflow) = desired.subtractingReportingOverflow(expected)
        guard !overflow, Self.deferrals.contains(length / 1000) else { throw PublisherError.deferralInvalid }
        var purchase = purchase
        let effects = try purchase.deferRenewal(bySeconds: length / 1000)
        try keep(&purchase, after: effects, at: now)
        return .init(newExpiryTimeMillis: Int64Text(value: purchase.expiryTime.millisecondsSince1970))
    }

    /// `purchases.subscriptions.refund`: "the subscription remains valid until its expiration time and it will continue to recur".
    ///
    /// - Throws: `PublisherError`, `invalidPurchaseState`, if nothing was paid, or the last payment was paid back.
    func refund(_ purchase: RecurringPurchase) throws {
        guard let last = purchase.periods.last, last.refunded == nil else { throw PublisherError.invalidPurchaseState }
        try refundOrder(last.orderId, isRevoking: false, in: purchase.terms.packageName)
    }
}
