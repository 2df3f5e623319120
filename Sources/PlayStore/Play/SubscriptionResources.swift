import Proofs

/// A subscription purchase as the API states it.
extension RecurringPurchase {
    /// The text of the latest state, which a deferral has to name.
    var etag: String { Base64.encode("\(number).\(revision)".utf8, .urlSafe) }

    /// `purchases.subscriptionsv2.get`.
    package var subscriptionPurchase: SubscriptionPurchaseV2 {
        var purchase = SubscriptionPurchaseV2(kind: SubscriptionPurchaseV2.kind)
        purchase.subscriptionState = "SUBSCRIPTION_STATE_" + stateName
        (purchase.startTime, purchase.regionCode) = (DateTimeText(startTime), terms.regionCode)
        purchase.acknowledgementState =
            isAcknowledged ? "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED" : "ACKNOWLEDGEMENT_STATE_PENDING"
        (purchase.linkedPurchaseToken, purchase.etag) = (linkedToken, etag)
        if terms.obfuscatedAccountId != nil || terms.obfuscatedProfileId != nil {
            purchase.externalAccountIdentifiers = .init(
                obfuscatedExternalAccountId: terms.obfuscatedAccountId,
                obfuscatedExternalProfileId: terms.obfuscatedProfileId)
        }
        purchase.testPurchase = terms.isTest ? .init() : nil
        if state == .paused { purchase.pausedStateContext = .init(autoResumeTime: resumeTime.map { DateTimeText($0) }) }
        if [.canceled, .expired].contains(state) { purchase.canceledStateContext = canceledContext }
        purchase.lineItems = [lineItem]
        return purchase
    }

    private var stateName: String {
        switch state {
        case .active: "ACTIVE"
        case .inGracePeriod: "IN_GRACE_PERIOD"
        case .onHold: "ON_HOLD"
        case .paused: "PAUSED"
        case .canceled: "CANCELED"
        case .expired: "EXPIRED"
        }
    }

    private var canceledContext: SubscriptionPurchaseV2.CanceledContext? {
        switch cancellation {
        case .user(let time): .init(userInitiatedCancellation: .init(cancelTime: DateTimeText(time)))
        case .system: .init(systemInitiatedCancellation: .init())
        case .developer: .init(developerInitiatedCancellation: .init())
        case .replacement: .init(replacementCancellation: .init())
        case nil: nil
        }
    }

    private var lineItem: SubscriptionPurchaseV2.LineItem {
        var item = SubscriptionPurchaseV2.LineItem(productId: terms.productId)
        item.expiryTime = DateTimeText(expiryTime)
        item.latestSuccessfulOrderId = periods.last?.orderId
        if terms.isPrepaid {
            item.prepaidPlan = .init(allowExtendAfterTime: isEnded ? nil : DateTimeText(startTime))
        } else {
            item.autoRenewingPlan = .init(autoRenewEnabled: renews, recurringPrice: terms.price)
        }
        item.offerDetails = .init(
            basePlanId: terms.basePlanId, offerId: terms.offerId,
            offerTags: terms.offerTags.isEmpty ? nil : terms.offerTags)
        switch periods.last?.kind ?? .base {
        case .base: item.offerPhase = .init(basePrice: .init())
        case .freeTrial: item.offerPhase = .init(freeTrial: .init())
        case .introductory: item.offerPhase = .init(introductoryPrice: .init())
        }
        return item
    }

    /// The share of Google in a price, in percent, of a subscription.
    private static let feePercent: Int64 = 15

    /// `orders.get`, of one period.
    func order(_ period: Period) -> Order {
        let nothing = Money(currencyCode: terms.price.currencyCode, billionths: 0)
        var order = Order(orderId: period.orderId, purchaseToken: token)
        order.createTime = DateTimeText(period.start)
        order.lastEventTime = DateTimeText(period.refundTime ?? period.start)
        let isWhole = period.refunded.map { $0 == period.price } ?? false
        order.state = period.refunded == nil ? "PROCESSED" : isWhole ? "REFUNDED" : "PARTIALLY_REFUNDED"
        (order.total, order.tax) = (period.price, nothing)
        let kept = (period.price.billionths ?? 0) - (period.refunded?.billionths ?? 0)
        order.developerRevenueInBuyerCurrency = Money(
            currencyCode: terms.price.currencyCode, billionths: kept / 100 * (100 - Self.feePercent))
        order.buyerAddress = .init(buyerCountry: terms.regionCode)
        (order.salesChannel, order.orderDetails) = ("IN_APP", .init(taxInclusive: true))
        var details = Order.SubscriptionDetails(basePlanId: terms.basePlanId, offerId: terms.offerId)
        details.servicePeriodStartTime = DateTimeText(period.start)
        details.servicePeriodEndTime = DateTimeText(period.end)
        switch period.kind {
        case .base: details.offerPhaseDetails = .init(baseDetails: .init())
        case .freeTrial: details.offerPhaseDetails = .init(freeTrialDetails: .init())
        case .introductory: details.offerPhaseDetails = .init(introductoryPriceDetails: .init())
        }
        order.lineItems = [
            Order.LineItem(
                productId: terms.productId, productTitle: terms.title, listingPrice: terms.price, tax: nothing,
                total: period.price, subscriptionDetails: details)
        ]
        order.orderHistory = .init(processedEvent: .init(eventTime: DateTimeText(period.start)))
        guard let refunded = period.refunded, let time = period.refundTime.map({ DateTimeText($0) }) else {
            return order
        }
        let refund = Order.RefundDetails(total: refunded, tax: nothing)
        if isWhole {
            order.orderHistory?.refundEvent = .init(
                eventTime: time, refundReason: period.isChargeback ? "CHARGEBACK" : "OTHER", refundDetails: refund)
        } else {
            order.orderHistory?.partialRefundEvents = [
                .init(createTime: time, processTime: time, state: "PROCESSED_SUCCESSFULLY", refundDetails: refund)
            ]
        }
        return order
    }
}

extension RecurringPurchase {
    /// The fields of `INAPP_PURCHASE_DATA` of a subscription, in Google's order.
    var purchaseData: [UInt8] {
        let members: KeyValuePairs<String, JSONValue?> = [
            "orderId": periods.last.map { .string($0.orderId) }, "packageName": .string(terms.packageName),
            "productId": .string(terms.productId),
            "purchaseTime": .integer(startTime.millisecondsSince1970), "purchaseState": .integer(0),
            "purchaseToken": .string(token), "obfuscatedAccountId": terms.obfuscatedAccountId.map { .string($0) },
            "obfuscatedProfileId": terms.obfuscatedProfileId.map { .string($0) }, "quantity": .integer(1),
            "autoRenewing": .bool(renews), "acknowledged": .bool(isAcknowledged),
        ]
        var object = JSONObject()
        for case (let name, let value?) in members { _ = object.add(name, value) }
        return JSONValue.object(object).compactBytes
    }
}
