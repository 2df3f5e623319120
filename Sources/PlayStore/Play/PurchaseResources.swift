import Proofs

/// A purchase as the API states it.
extension OneTimePurchase {
    /// `purchases.products.get`.
    var productPurchase: ProductPurchase {
        var purchase = ProductPurchase(kind: ProductPurchase.kind)
        purchase.purchaseTimeMillis = Int64Text(purchaseTime.millisecondsSince1970)
        purchase.purchaseState =
            switch state {
            case .purchased: 0
            case .canceled: 1
            case .pending: 2
            }
        purchase.consumptionState = isConsumed ? 1 : 0
        purchase.acknowledgementState = isAcknowledged ? 1 : 0
        purchase.purchaseType = terms.isTest ? 0 : nil
        (purchase.orderId, purchase.productId, purchase.purchaseToken) = (orderId, terms.productId, token)
        purchase.developerPayload = developerPayload
        purchase.quantity = quantity == 1 ? nil : Int32(quantity)
        purchase.refundableQuantity = state == .pending ? nil : Int32(refundableQuantity)
        purchase.obfuscatedExternalAccountId = terms.obfuscatedAccountId
        purchase.obfuscatedExternalProfileId = terms.obfuscatedProfileId
        purchase.regionCode = terms.regionCode
        return purchase
    }

    /// `purchases.productsv2.getproductpurchasev2`.
    var productPurchaseV2: ProductPurchaseV2 {
        var offer = ProductPurchaseV2.OfferDetails(purchaseOptionId: terms.purchaseOptionId, offerId: terms.offerId)
        offer.offerTags = terms.offerTags.isEmpty ? nil : terms.offerTags
        offer.quantity = Int32(quantity)
        offer.refundableQuantity = state == .pending ? nil : Int32(refundableQuantity)
        offer.consumptionState = isConsumed ? "CONSUMPTION_STATE_CONSUMED" : "CONSUMPTION_STATE_YET_TO_BE_CONSUMED"
        var purchase = ProductPurchaseV2(kind: ProductPurchaseV2.kind)
        purchase.productLineItem = [.init(productId: terms.productId, productOfferDetails: offer)]
        purchase.purchaseStateContext = .init(
            purchaseState: state == .canceled ? "CANCELLED" : state.rawValue.uppercased())
        purchase.acknowledgementState =
            isAcknowledged ? "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED" : "ACKNOWLEDGEMENT_STATE_PENDING"
        purchase.purchaseCompletionTime = completionTime.map { DateTimeText($0) }
        purchase.testPurchaseContext = terms.isTest ? .init(fopType: "TEST") : nil
        (purchase.orderId, purchase.regionCode) = (orderId, terms.regionCode)
        purchase.obfuscatedExternalAccountId = terms.obfuscatedAccountId
        purchase.obfuscatedExternalProfileId = terms.obfuscatedProfileId
        return purchase
    }

    /// The share of Google in a price, in percent. The local Play takes the fee of small developers, and no tax.
    private static let feePercent: Int64 = 15

    /// `orders.get`; nil for a purchase that was never paid.
    var order: Order? {
        guard let orderId, let completionTime else { return nil }
        let nothing = Money(currencyCode: terms.price.currencyCode, billionths: 0)
        let total = price(of: quantity)
        let kept = price(of: quantity - refundedQuantity).billionths ?? 0
        var order = Order(orderId: orderId, purchaseToken: token)
        order.createTime = DateTimeText(purchaseTime)
        order.lastEventTime = DateTimeText(refunds.last?.time ?? completionTime)
        order.state =
            refundedQuantity == 0 ? "PROCESSED" : refundedQuantity < quantity ? "PARTIALLY_REFUNDED" : "REFUNDED"
        (order.total, order.tax) = (total, nothing)
        order.developerRevenueInBuyerCurrency = Money(
            currencyCode: total.currencyCode, billionths: kept / 100 * (100 - Self.feePercent))
        order.buyerAddress = .init(buyerCountry: terms.regionCode)
        order.salesChannel = "IN_APP"
        order.orderDetails = .init(taxInclusive: true)
        order.lineItems = [
            Order.LineItem(
                productId: terms.productId, productTitle: terms.title, listingPrice: terms.price, tax: nothing,
                total: total,
                oneTimePurchaseDetails: .init(
                    quantity: Int32(quantity), offerId: terms.offerId, purchaseOptionId: terms.purchaseOptionId))
        ]
        order.orderHistory = history(processedAt: completionTime, nothing)
        return order
    }

    /// The refund that pays back all the rest is the order's refund; those before it are partial.
    private func history(processedAt time: Timestamp, _ nothing: Money) -> Order.History {
        var history = Order.History(processedEvent: .init(eventTime: DateTimeText(time)))
        var left = quantity
        for refund in refunds {
            left -= refund.quantity
            let (time, details) = (
                DateTimeText(refund.time), Order.RefundDetails(total: price(of: refund.quantity), tax: nothing)
            )
            if left == 0 {
                history.refundEvent = .init(
                    eventTime: time, refundReason: refund.reason == .chargeback ? "CHARGEBACK" : "OTHER",
                    refundDetails: details)
            } else {
                history.partialRefundEvents =
                    (history.partialRefundEvents ?? []) + [
                        .init(
                            createTime: time, processTime: time, state: "PROCESSED_SUCCESSFULLY", refundDetails: details
                        )
                    ]
            }
        }
        return history
    }
}

extension PlayBooks {
    /// Signs the present state of a purchase with the licensing key of its app.
    package func signed(_ purchase: OneTimePurchase) throws -> SignedPurchase {
        try signed(purchase.purchaseData, for: purchase.terms.packageName)
    }

    /// The same of a subscription.
    package func signed(_ purchase: RecurringPurchase) throws -> SignedPurchase {
        try signed(purchase.purchaseData, for: purchase.terms.packageName)
    }

    private func signed(_ data: [UInt8], for packageName: String) throws -> SignedPurchase {
        try SignedPurchase.sign(data, with: try keys.key(.licensing(packageName: packageName)))
    }
}

extension OneTimePurchase {
    /// The fields of `INAPP_PURCHASE_DATA`, in Google's order. A pending purchase is signed, too.
    fileprivate var purchaseData: [UInt8] {
        let members: JSONObject = [
            "orderId": orderId.map { .string($0) }, "packageName": .string(terms.packageName),
            "productId": .string(terms.productId),
            "purchaseTime": .integer(purchaseTime.millisecondsSince1970),
            "purchaseState": .integer(state == .pending ? 4 : 0), "purchaseToken": .string(token),
            "obfuscatedAccountId": terms.obfuscatedAccountId.map { .string($0) },
            "obfuscatedProfileId": terms.obfuscatedProfileId.map { .string($0) },
            "quantity": .integer(quantity), "acknowledged": .bool(isAcknowledged),
        ]
        return JSONValue.object(members).compactBytes
    }
}
