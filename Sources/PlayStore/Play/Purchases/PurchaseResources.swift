import Proofs

/// A purchase as the API states it.
extension OneTimePurchase {
    /// `purchases.products.get`.
    var productPurchase: ProductPurchase {
        var purchase = ProductPurchase(kind: ProductPurchase.kind)
        purchase.purchaseTimeMillis = Int64Text(value: purchaseTime.millisecondsSince1970)
        purchase.purchaseState =
            switch state {
            case .purchased: 0
            case .canceled: 1
            case .pending: 2
            }
        purchase.consumptionState = isConsumed ? 1 : 0
        purchase.acknowledgementState = isAcknowledged ? 1 : 0
        purchase.purchaseType = terms.isTest ? 0 : terms.hasPromotionCode == true ? 1 : nil
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
        var purchase = ProductPurchaseV2(kind: ProductPurchaseV2.kind)
        purchase.productLineItem = items.map { .init(productId: $0.productId, productOfferDetails: offer(of: $0)) }
        purchase.purchaseStateContext = .init(
            purchaseState: state == .canceled ? "CANCELLED" : state.rawValue.uppercased())
        purchase.acknowledgementState =
            isAcknowledged ? "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED" : "ACKNOWLEDGEMENT_STATE_PENDING"
        purchase.purchaseCompletionTime = completionTime.map { DateTimeText(moment: $0) }
        purchase.testPurchaseContext = terms.isTest ? .init(fopType: "TEST") : nil
        (purchase.orderId, purchase.regionCode) = (orderId, terms.regionCode)
        purchase.obfuscatedExternalAccountId = terms.obfuscatedAccountId
        purchase.obfuscatedExternalProfileId = terms.obfuscatedProfileId
        return purchase
    }

    private func offer(of terms: Terms) -> ProductPurchaseV2.OfferDetails {
        var offer = ProductPurchaseV2.OfferDetails(purchaseOptionId: terms.purchaseOptionId, offerId: terms.offerId)
        offer.offerTags = terms.offerTags.isEmpty ? nil : terms.offerTags
        offer.offerToken = terms.offerToken
        offer.rentOfferDetails = terms.rental.map { _ in EmptyObject() }
        offer.preorderOfferDetails = terms.preorder.map {
            .init(preorderReleaseTime: DateTimeText(moment: $0.releaseTime))
        }
        offer.quantity = Int32(quantity)
        offer.refundableQuantity = state == .pending ? nil : Int32(refundableQuantity)
        offer.consumptionState = isConsumed ? "CONSUMPTION_STATE_CONSUMED" : "CONSUMPTION_STATE_YET_TO_BE_CONSUMED"
        return offer
    }

    /// `orders.get`; nil for a purchase that was never paid.
    var order: Order? {
        guard let orderId, let completionTime else { return nil }
        var order = Order(
            orderId, of: self, createdAt: purchaseTime, processedAt: completionTime, total: price(of: quantity),
            kept: price(of: quantity - refundedQuantity), regionCode: terms.regionCode,
            channel: terms.salesChannel)
        order.pointsDetails = terms.pointsDetails
        order.lineItems = items.map { terms in
            Order.LineItem(
                productId: terms.productId, productTitle: terms.title, listingPrice: terms.price, tax: order.tax,
                total: items.count == 1 ? order.total : terms.price,
                oneTimePurchaseDetails: .init(
                    quantity: Int32(quantity), offerId: terms.offerId, purchaseOptionId: terms.purchaseOptionId,
                    rentalDetails: terms.rental.map { _ in EmptyObject() },
                    preorderDetails: terms.preorder.map { _ in EmptyObject() }))
        }
        // The refund that pays back all the rest is the order's refund; those before it are partial.
        var left = quantity
        for refund in refunds {
            left -= refund.quantity
            order.addRefund(
                of: price(of: refund.quantity), at: refund.time, isWhole: left == 0,
                isChargeback: refund.reason == .chargeback)
        }
        return order
    }
}

extension Order {
    /// The share of Google in a price, in percent. The local Play takes the fee of small developers, and no tax.
    private static let feePercent: Int64 = 15

    /// An order before its refunds.
    ///
    /// - Parameters:
    ///   - kept: The part of the total that is not paid back.
    ///   - channel: Nil for a purchase in the app.
    init(
        _ orderId: String, of purchase: some KeptPurchase, createdAt createTime: Timestamp,
        processedAt time: Timestamp, total: Money, kept: Money, regionCode: String, channel: SalesChannel?
    ) {
        self.init(orderId: orderId, purchaseToken: purchase.token)
        (self.createTime, lastEventTime) = (DateTimeText(moment: createTime), DateTimeText(moment: time))
        (state, salesChannel, orderDetails) = ("PROCESSED", channel ?? .inApp, .init(taxInclusive: true))
        (self.total, tax) = (total, Money(currencyCode: kept.currencyCode, billionths: 0))
        developerRevenueInBuyerCurrency = Money(
            currencyCode: kept.currencyCode, billionths: (kept.billionths ?? 0) / 100 * (100 - Self.feePercent))
        buyerAddress = .init(buyerCountry: regionCode)
        orderHistory = .init(processedEvent: .init(eventTime: DateTimeText(moment: time)))
    }

    /// - Parameter isWhole: True if nothing is left to be paid back.
    mutating func addRefund(of amount: Money, at time: Timestamp, isWhole: Bool, isChargeback: Bool) {
        let (time, details) = (DateTimeText(moment: time), RefundDetails(total: amount, tax: tax))
        (state, lastEventTime) = (isWhole ? "REFUNDED" : "PARTIALLY_REFUNDED", time)
        if isWhole {
            orderHistory?.refundEvent = .init(
                eventTime: time, refundReason: isChargeback ? "CHARGEBACK" : "OTHER", refundDetails: details)
        } else {
            let earlier = orderHistory?.partialRefundEvents ?? []
            orderHistory?.partialRefundEvents =
                earlier + [
                    .init(createTime: time, processTime: time, state: "PROCESSED_SUCCESSFULLY", refundDetails: details)
                ]
        }
    }
}

extension PlayBooks {
    /// Signs the present state of a purchase with the licensing key of its app.
    package func signed(_ purchase: OneTimePurchase) throws -> SignedPurchase {
        try signed(
            purchase, orderId: purchase.orderId, at: purchase.purchaseTime, isPending: purchase.state == .pending,
            quantity: purchase.quantity, isAcknowledged: purchase.isAcknowledged,
            products: purchase.items.map(\.productId))
    }

    /// The same of a subscription.
    package func signed(_ purchase: RecurringPurchase) throws -> SignedPurchase {
        try signed(
            purchase, orderId: purchase.periods.last?.orderId, at: purchase.startTime,
            isPending: purchase.state == .pending, renews: purchase.renews, isAcknowledged: purchase.isAcknowledged,
            products: purchase.items.map(\.terms.productId))
    }

    /// Signs the fields of `INAPP_PURCHASE_DATA`, in Google's order. A pending purchase is signed, too.
    private func signed(
        _ purchase: some KeptPurchase, orderId: String?, at purchaseTime: Timestamp, isPending: Bool,
        quantity: Int = 1, renews: Bool? = nil, isAcknowledged: Bool, products: [String] = []
    ) throws -> SignedPurchase {
        let (accountId, profileId) = purchase.obfuscatedIdentifiers
        let members: JSONObject = [
            "orderId": orderId.map { .string($0) }, "packageName": .string(purchase.packageName),
            "productId": .string(purchase.productId),
            "productIds": products.count > 1 ? .array(products.map { .string($0) }) : nil,
            "purchaseTime": .integer(purchaseTime.millisecondsSince1970),
            "purchaseState": .integer(isPending ? 4 : 0), "purchaseToken": .string(purchase.token),
            "obfuscatedAccountId": accountId.map { .string($0) }, "obfuscatedProfileId": profileId.map { .string($0) },
            "quantity": .integer(quantity), "autoRenewing": renews.map { .bool($0) },
            "acknowledged": .bool(isAcknowledged),
        ]
        return try SignedPurchase.sign(
            JSONValue.object(members).compactBytes, with: try keys.key(.licensing(packageName: purchase.packageName)))
    }
}
