import Proofs

/// A purchase of a one-time product, and the rules of its life. The rules take values and a moment, and read no database and no clock.
///
/// A pending purchase completes or is canceled. A pre-order is pending until its release, and then charged. A completed one is acknowledged
/// or consumed within a deadline, or is refunded. Each refund is for some of its units, with or without their revocation. A rental ends by
/// itself, and stays purchased. Several products of one purchase are paid, acknowledged, consumed and refunded together, and a promotion
/// code pays for one without an order.
package struct OneTimePurchase: Codable, Hashable, Sendable {
    package enum State: String, Codable, Sendable, CaseIterable {
        /// The payment is outstanding, and there is no order.
        case pending
        case purchased
        /// The payment was not made, or all units are revoked.
        case canceled
    }

    /// Money that was paid back.
    package struct Refund: Codable, Hashable, Sendable {
        package let time: Timestamp
        package let quantity: Int
        /// True if the goods are to be taken back.
        package let isRevoking: Bool
        package let source: VoidedPurchase.Source
        package let reason: VoidedPurchase.Reason

        package init(
            time: Timestamp, quantity: Int, isRevoking: Bool, source: VoidedPurchase.Source,
            reason: VoidedPurchase.Reason
        ) {
            (self.time, self.quantity, self.isRevoking) = (time, quantity, isRevoking)
            (self.source, self.reason) = (source, reason)
        }
    }

    /// A product that is ordered before its release.
    package struct Preorder: Codable, Hashable, Sendable {
        package let releaseTime: Timestamp
        /// False if the price at the release counts, where it is lower than that of the order.
        package let keepsPrice: Bool

        package init(releaseTime: Timestamp, keepsPrice: Bool = true) {
            (self.releaseTime, self.keepsPrice) = (releaseTime, keepsPrice)
        }
    }

    /// The terms under which a product was bought.
    package struct Terms: Codable, Hashable, Sendable {
        package let packageName: String
        package let productId: String
        package let purchaseOptionId: String
        package let offerId: String?
        package let offerTags: [String]
        package let title: String
        package let regionCode: String
        /// The price of one unit, with the offer.
        package internal(set) var price: Money
        package let quantity: Int
        package let obfuscatedAccountId: String?
        package let obfuscatedProfileId: String?
        /// True for a license tester, who pays nothing.
        package let isTest: Bool
        /// Nil for a purchase in the app.
        package var salesChannel: Order.SalesChannel?
        /// The Play Points that the customer has spent; nil for none.
        package var pointsDetails: Order.PointsDetails?
        /// The token with which the app has chosen the offer.
        package var offerToken: String?
        /// The periods of a rental; nil for a product that is bought.
        package var rental: OneTimeProduct.PurchaseOption.RentOption?
        /// Nil for a purchase that is no pre-order.
        package var preorder: Preorder?
        /// True for a promotion code, which pays for the product; nil without one.
        package var hasPromotionCode: Bool?

        package init(
            packageName: String, productId: String, purchaseOptionId: String, offerId: String? = nil,
            offerTags: [String] = [], title: String, regionCode: String, price: Money, quantity: Int = 1,
            obfuscatedAccountId: String? = nil, obfuscatedProfileId: String? = nil, isTest: Bool = false
        ) {
            (self.packageName, self.productId, self.purchaseOptionId) = (packageName, productId, purchaseOptionId)
            (self.offerId, self.offerTags, self.title, self.regionCode) = (offerId, offerTags, title, regionCode)
            (self.price, self.quantity, self.isTest) = (price, quantity, isTest)
            self.obfuscatedAccountId = obfuscatedAccountId
            self.obfuscatedProfileId = obfuscatedProfileId
        }
    }

    package static let acknowledgementDays: Int64 = 3
    /// The same for license testers, in seconds. Google's page states three minutes in its text, and five in its table.
    package static let testAcknowledgementSeconds: Int64 = 5 * 60

    /// The number in the local Play's list.
    package let number: Int64
    package let token: String
    package let account: String
    /// The terms of the first product.
    package private(set) var terms: Terms
    /// The terms of the products beside the first one; nil for none.
    private let others: [Terms]?
    package let purchaseTime: Timestamp
    package private(set) var state = State.pending
    /// The order; nil until the purchase is paid, and for a promotion code.
    package private(set) var orderId: String?
    package private(set) var completionTime: Timestamp?
    package private(set) var isAcknowledged = false
    package private(set) var isConsumed = false
    /// The consumption of a rental; nil for none.
    package private(set) var consumptionTime: Timestamp?
    package private(set) var developerPayload: String?
    package private(set) var refunds: [Refund] = []

    package init(
        number: Int64, token: String, account: String, terms: Terms, with others: [Terms] = [], purchaseTime: Timestamp
    ) {
        (self.number, self.token, self.account) = (number, token, account)
        (self.terms, self.purchaseTime) = (terms, purchaseTime)
        self.others = others.isEmpty ? nil : others
    }
}

extension OneTimePurchase.Refund {
    /// Google's refund of all that is left of a purchase that was not acknowledged in time.
    static func unacknowledged(_ purchase: OneTimePurchase, at deadline: Timestamp) -> Self {
        Self(
            time: deadline, quantity: purchase.refundableQuantity, isRevoking: true, source: .google,
            reason: .unacknowledgedPurchase)
    }
}

extension OneTimePurchase {
    /// The terms of all products, the first one first.
    package var items: [Terms] { [terms] + (others ?? []) }
    /// The units of the only product, or of each of several.
    package var quantity: Int { terms.quantity }
    package var refundedQuantity: Int { refunds.reduce(0) { $0 + $1.quantity } }
    package var refundableQuantity: Int { state == .purchased ? quantity - refundedQuantity : 0 }

    /// The moment at which the purchase is refunded unless it is acknowledged; nil if nothing is to be acknowledged.
    package var acknowledgementDeadline: Timestamp? {
        guard state == .purchased, !isAcknowledged, refundableQuantity > 0, let completionTime else { return nil }
        return terms.isTest
            ? completionTime.adding(seconds: Self.testAcknowledgementSeconds)
            : completionTime.adding(days: Self.acknowledgementDays)
    }

    /// The end of a rental; nil for another purchase, and before the payment.
    package var rentalEnd: Timestamp? {
        guard let completionTime, let period = terms.rental?.rentalPeriod.flatMap({ RentalPeriod($0) }) else {
            return nil
        }
        let end = period.end(from: completionTime)
        guard let consumptionTime, let limit = terms.rental?.expirationPeriod.flatMap({ RentalPeriod($0) }) else {
            return end
        }
        return min(end, limit.end(from: consumptionTime))
    }

    /// True if the account cannot buy the product again.
    package func isOwned(at now: Timestamp) -> Bool {
        switch state {
        case .pending: true
        case .purchased: !isConsumed && rentalEnd.map { now < $0 } ?? true
        case .canceled: false
        }
    }

    /// The amount that is paid for a number of units of each product. Play Points pay a part of the only one.
    package func price(of quantity: Int) -> Money {
        let coupon = quantity == 0 ? 0 : terms.pointsDetails?.pointsCouponValue?.billionths ?? 0
        let unit = items.reduce(0) { $0 + ($1.price.billionths ?? 0) }
        return Money(currencyCode: terms.price.currencyCode, billionths: unit * Int64(quantity) - coupon)
    }

    /// The moment at which a pre-order is charged; nil for another purchase, and afterwards.
    package var releaseTime: Timestamp? { state == .pending ? terms.preorder?.releaseTime : nil }

    /// Completes the payment.
    ///
    /// - Throws: `PlayError`, `invalidAction`, unless the purchase is pending, and no pre-order.
    package mutating func complete(orderId: String, at time: Timestamp) throws(PlayError) {
        try requirePending("completed")
        if let releaseTime {
            throw .invalidAction(
                "Purchase \(number) is a pre-order, which is charged at its release, \(releaseTime.rfc3339). Advance the "
                    + "time, or cancel it.")
        }
        (state, self.orderId, completionTime) = (.purchased, orderId, time)
    }

    /// Gives the product for a promotion code, which has no order ("May not be set if there is no order associated with the purchase",
    /// `ProductPurchaseV2.orderId`).
    mutating func give(at time: Timestamp) { (state, completionTime) = (.purchased, time) }

    /// Charges a pre-order at its release.
    ///
    /// - Parameter price: The price of one unit at the release; nil if the offer is not there any more.
    mutating func release(orderId: String, for price: Money?, at time: Timestamp) {
        if terms.preorder?.keepsPrice == false, let price, price.currencyCode == terms.price.currencyCode,
            price.billionths ?? 0 < terms.price.billionths ?? 0
        {
            terms.price = price
        }
        (state, self.orderId, completionTime) = (.purchased, orderId, time)
    }

    /// Cancels the payment, which was not made in time.
    ///
    /// - Throws: `PlayError`, `invalidAction`, unless the purchase is pending.
    package mutating func cancel() throws(PlayError) {
        try requirePending("canceled")
        state = .canceled
    }

    private func requirePending(_ done: String) throws(PlayError) {
        guard state == .pending else {
            throw .invalidAction("Purchase \(number) is \(state.rawValue). Only a pending purchase can be \(done).")
        }
    }

    /// Acknowledges the purchase.
    ///
    /// - Throws: `PublisherError`, `invalidPurchaseState`, unless it is purchased and not acknowledged yet.
    package mutating func acknowledge(_ payload: String?) throws(PublisherError) {
        guard state == .purchased, !isAcknowledged else { throw .invalidPurchaseState }
        isAcknowledged = true
        developerPayload = payload ?? developerPayload
    }

    /// Consumes the purchase, so that the product can be bought again. That acknowledges it, too, and begins the expiration period of a
    /// rental.
    ///
    /// - Throws: `PublisherError`, `invalidPurchaseState`, unless it is purchased and not consumed yet.
    package mutating func consume(at time: Timestamp) throws(PublisherError) {
        guard state == .purchased, !isConsumed else { throw .invalidPurchaseState }
        (isAcknowledged, isConsumed) = (true, true)
        if terms.rental != nil { consumptionTime = time }
    }

    /// Pays back some units. If all are paid back with their revocation, the purchase is canceled.
    ///
    /// - Returns: The record of the voided units; nil for a refund without revocation.
    /// - Throws: `PlayError`, `invalidAction`, for more units than are left.
    package mutating func refund(_ refund: Refund) throws(PlayError) -> VoidedPurchase? {
        guard state == .purchased, (1...max(1, refundableQuantity)).contains(refund.quantity),
            refundableQuantity > 0
        else {
            throw .invalidAction(
                "Purchase \(number) is \(state.rawValue), and \(refundableQuantity) of it can be refunded, not "
                    + "\(refund.quantity).")
        }
        let isRest = refund.quantity == refundableQuantity
        refunds.append(refund)
        guard refund.isRevoking else { return nil }
        if isRest { state = .canceled }
        return VoidedPurchase(
            kind: VoidedPurchase.kind, purchaseToken: token, orderId: orderId,
            purchaseTimeMillis: Int64Text(value: purchaseTime.millisecondsSince1970),
            voidedTimeMillis: Int64Text(value: refund.time.millisecondsSince1970), voidedSource: refund.source.rawValue,
            voidedReason: refund.reason.rawValue, voidedQuantity: isRest ? nil : Int32(refund.quantity))
    }
}
