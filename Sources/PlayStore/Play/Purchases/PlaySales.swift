import HTTPSupport
import Proofs

/// A customer's wish to buy a product.
package struct PlayPurchaseOrder: Sendable {
    package var packageName: String
    package var productId: String
    package var account: String
    package var quantity = 1
    /// Nil for the option that apps without purchase options get, or else the first.
    package var purchaseOptionId: String?
    /// The customer's country; nil for the first in which the product is sold.
    package var regionCode: String?
    package var obfuscatedAccountId: String?
    package var obfuscatedProfileId: String?
    /// Nil for a purchase in the app.
    package var salesChannel: Order.SalesChannel?
    /// The Play Points that the customer spends on a one-time product; nil for none.
    package var pointsDetails: Order.PointsDetails?
    /// The token with which the app chooses the offer of a one-time product.
    package var offerToken: String?
    /// The products that are bought together with the first one.
    package var products: [PlayProductOrder] = []
    /// The promotion code of a subscription that many customers use.
    package var promotionCode: String?
    /// True for a promotion code of this customer alone.
    package var usesOneTimeCode = false
    /// True for a customer who consents to the price after the offer of a subscription when buying.
    package var consentsToStepUp = false
    /// True for a license tester.
    package var isTest = false
    /// True for a payment that is made later, such as one in cash.
    package var isPending = false
    /// The number of the subscription that a subscription replaces; nil for one of the same product.
    package var replacedNumber: Int64?
    /// Nil for Google's default.
    package var replacementMode: ReplacementMode?
    /// The subscriptions that are bought with this one. In a change, those of the replaced purchase that are not named leave it.
    package var addOns: [PlayAddOnOrder] = []

    package init(packageName: String, productId: String, account: String) {
        (self.packageName, self.productId, self.account) = (packageName, productId, account)
    }
}

/// A customer's wish to buy another one-time product in the same order.
package struct PlayProductOrder: Codable, Sendable {
    package var productId: String
    /// Nil for the option that apps without purchase options get, or else the first.
    package var purchaseOptionId: String?
    /// An offer of the purchase option; nil for its price.
    package var offerId: String?

    package init(productId: String) { self.productId = productId }
}

/// A customer's wish to have an add-on of a subscription.
package struct PlayAddOnOrder: Codable, Sendable {
    package var productId: String
    /// Nil for that of the kept item, or else for the first active one.
    package var basePlanId: String?
    /// An offer of the base plan; nil for its price alone.
    package var offerId: String?
    /// The item of the replaced purchase in whose place it comes; nil for one of the same product, if there is one.
    package var replacedProductId: String?
    /// Nil to keep an item as it is, and for Google's default.
    package var replacementMode: ReplacementMode?

    package init(productId: String) { self.productId = productId }
}

/// The customer's side of the Play: purchases, delayed payments, refunds.
extension PlayBooks {
    static let maximumQuantity = 50

    /// Sells a product.
    ///
    /// - Parameter offerId: An offer of the purchase option; nil for its price.
    /// - Throws: `PlayError` for an unknown product or offer, a wrong quantity, or a product that the account owns.
    package func buy(_ order: PlayPurchaseOrder, offerId: String? = nil) throws -> OneTimePurchase {
        try of(order.account).sell(order, offerId: offerId)
    }

    private func sell(_ order: PlayPurchaseOrder, offerId: String?) throws -> OneTimePurchase {
        var terms = try terms(of: order, offerId: offerId)
        let others = try order.products.map { other in
            var single = order
            (single.productId, single.purchaseOptionId) = (other.productId, other.purchaseOptionId)
            (single.regionCode, single.offerToken) = (terms.regionCode, nil)
            return try self.terms(of: single, offerId: other.offerId)
        }
        try Self.check([terms] + others)
        for product in [terms] + others {
            guard
                try !purchases.purchases(of: product.productId, in: order.packageName, by: order.account).contains(
                    where: { $0.isOwned(at: now) })
            else {
                throw PlayError.invalidAction(
                    "\"\(order.account)\" owns \"\(product.productId)\" already, or has a pending payment for it. Consume the "
                        + "purchase, or wait for the end of the rental, to sell it again.")
            }
        }
        if order.usesOneTimeCode { try Self.apply(order, to: &terms) }
        var purchase = OneTimePurchase(
            number: try nextNumber(), token: newToken(), account: order.account, terms: terms, with: others,
            purchaseTime: now)
        // "A pre-order is in PENDING state before the release time" (developer.android.com/google/play/billing/integrate).
        let isPaid = !order.isPending && terms.preorder == nil
        if order.usesOneTimeCode {
            purchase.give(at: now)
        } else if isPaid {
            try purchase.complete(orderId: newOrderId(), at: now)
        }
        try purchases.keep(purchase)
        if isPaid { try notify(.purchased, about: purchase, at: now) }
        return purchase
    }

    /// Charges a pre-order at its release, and notifies the developer.
    func release(_ purchase: OneTimePurchase, at time: Timestamp) throws {
        var purchase = purchase
        let terms = purchase.terms
        let option = try product(terms.productId, of: terms.packageName)?.purchaseOptions?.first {
            $0.purchaseOptionId == terms.purchaseOptionId
        }
        let offer: OneTimeProductOffer? = try terms.offerId.flatMap {
            try resource([terms.productId, terms.purchaseOptionId, $0], of: terms.packageName)
        }
        let full = option?.price(in: terms.regionCode)?.price
        purchase.release(
            orderId: newOrderId(), for: full.flatMap { offer?.price(of: $0, in: terms.regionCode) }, at: time)
        try purchases.keep(purchase)
        try notify(.purchased, about: purchase, at: time)
    }

    private func terms(of order: PlayPurchaseOrder, offerId: String?) throws -> OneTimePurchase.Terms {
        try check(order)
        guard let product = try product(order.productId, of: order.packageName),
            let option = product.soldOption(order.purchaseOptionId), let optionId = option.purchaseOptionId,
            let (regionCode, fullPrice) = option.price(in: order.regionCode)
        else { throw PlayError.productNotFound(order.productId) }
        var preorder: OneTimePurchase.Preorder?
        var (price, tags) = (fullPrice, (product.offerTags ?? []) + (option.offerTags ?? []))
        if let offerId {
            let offer: OneTimeProductOffer? = try resource([order.productId, optionId, offerId], of: order.packageName)
            guard let offer, offer.isSold(at: now), let reduced = offer.price(of: fullPrice, in: regionCode) else {
                throw PlayError.productNotFound("\(order.productId) \(optionId) \(offerId)")
            }
            guard try offer.isRedeemable(after: purchases.redemptions(of: offer, by: order.account)) else {
                throw PlayError.invalidAction("\"\(order.account)\" has bought \"\(offerId)\" as often as it allows.")
            }
            (price, tags) = (reduced, tags + (offer.offerTags ?? []))
            preorder = offer.preOrderOffer?.preorder
        }
        let maximum = option.buyOption?.multiQuantityEnabled == true ? Self.maximumQuantity : 1
        guard (1...maximum).contains(order.quantity) else {
            throw PlayError.quantityOutOfRange(order.quantity, maximum: maximum)
        }
        try Self.check(order.pointsDetails, on: price, quantity: order.quantity)
        var terms = OneTimePurchase.Terms(
            packageName: order.packageName, productId: order.productId,
            purchaseOptionId: optionId, offerId: offerId, offerTags: tags.compactMap(\.tag),
            title: product.listings?.first?.title ?? order.productId, regionCode: regionCode, price: price,
            quantity: order.quantity, obfuscatedAccountId: order.obfuscatedAccountId,
            obfuscatedProfileId: order.obfuscatedProfileId, isTest: order.isTest)
        (terms.salesChannel, terms.pointsDetails, terms.offerToken) = (
            order.salesChannel, order.pointsDetails, order.offerToken
        )
        (terms.rental, terms.preorder) = (option.rentOption, preorder)
        return terms
    }

    /// The rules of several products in one order (developer.android.com/google/play/billing/multi-product-for-one-time-product): they
    /// "must be available for immediate download", and the feature "doesn't support the rent purchase option".
    ///
    /// - Throws: `PlayError`, `invalidAction`.
    private static func check(_ items: [OneTimePurchase.Terms]) throws(PlayError) {
        guard items.count > 1 else { return }
        guard Set(items.map(\.productId)).count == items.count, Set(items.map(\.price.currencyCode)).count == 1 else {
            throw .invalidAction("Several products of one order have to differ, and to have prices in one currency.")
        }
        if let item = items.first(where: {
            $0.quantity > 1 || $0.pointsDetails != nil || $0.rental != nil || $0.preorder != nil
        }) {
            throw .invalidAction(
                "\"\(item.productId)\" cannot be sold with other products: several products of one order are one unit each, without "
                    + "Play Points, rentals and pre-orders.")
        }
    }

    /// Lets a promotion code pay. "The user … receives the item … at no cost" (developer.android.com/google/play/billing/promo).
    ///
    /// - Throws: `PlayError`, `invalidAction`, for an order with anything else that a code does not pay for.
    private static func apply(_ order: PlayPurchaseOrder, to terms: inout OneTimePurchase.Terms) throws(PlayError) {
        guard order.products.isEmpty, order.quantity == 1, !order.isPending, terms.offerId == nil,
            terms.pointsDetails == nil, terms.rental == nil
        else {
            throw .invalidAction(
                "A promotion code gives one unit of one product for good, at once: without an offer, Play Points or a pending payment."
            )
        }
        (terms.hasPromotionCode, terms.price) = (true, Money(currencyCode: terms.price.currencyCode, billionths: 0))
    }

    /// A way to sell a product: a purchase option, or an offer of it.
    package typealias SoldForm = (purchaseOptionId: String, offerId: String?)

    /// The ways in which a product is sold now besides the one without a choice: its other purchase options, and the offers.
    package func soldForms(of product: OneTimeProduct) throws -> [SoldForm] {
        guard let packageName = product.packageName, let productId = product.productId else { return [] }
        let standard = product.soldOption(nil)?.purchaseOptionId
        return try (product.purchaseOptions ?? []).filter { $0.state == .active }.compactMap(\.purchaseOptionId)
            .flatMap { option in
                let offers: [OneTimeProductOffer] = try resources(of: packageName, under: [productId, option])
                    .map(\.resource)
                let sold = offers.filter { $0.isSold(at: now) }.map { SoldForm(option, $0.offerId) }
                return (option == standard ? [] : [SoldForm(option, nil)]) + sold
            }
    }

    /// - Throws: `PlayError`, `invalidAction`, for points that are worth more than one unit, or in another currency.
    private static func check(_ points: Order.PointsDetails?, on price: Money, quantity: Int) throws(PlayError) {
        guard let points else { return }
        guard quantity == 1, let coupon = points.pointsCouponValue, coupon.currencyCode == price.currencyCode,
            let value = coupon.billionths, value <= price.billionths ?? 0
        else {
            throw .invalidAction(
                "Play Points need a pointsCouponValue in \(price.currencyCode) that is at most the price, and a quantity of 1."
            )
        }
    }

    func check(_ order: PlayPurchaseOrder) throws {
        guard LocalAccount.isValid(order.account) else { throw PlayError.accountInvalid(order.account) }
        for identifier in [order.obfuscatedAccountId, order.obfuscatedProfileId].compactMap(\.self)
        where !(1...GooglePlay.maximumObfuscatedLength).contains(identifier.count) {
            throw PlayError.obfuscatedIdentifierInvalid
        }
        guard try hasApp(order.packageName) else { throw PlayError.appNotFound(order.packageName) }
    }

    /// The purchases of all accounts or of one, newest first.
    package func purchases(of account: String?, limit: Int = 1000) throws -> [OneTimePurchase] {
        try purchases.purchases(of: account, limit: limit)
    }

    package func complete(_ number: Int64) throws -> OneTimePurchase {
        try change(number, .purchased) { try $0.complete(orderId: newOrderId(), at: $1.now) }
    }

    /// Cancels a pending purchase, whose payment was not made in time, or a pre-order.
    package func cancel(_ number: Int64) throws -> OneTimePurchase {
        try change(number, .canceled) { purchase, _ in try purchase.cancel() }
    }

    /// Refunds units of a purchase.
    ///
    /// - Parameter quantity: The number of units; nil for all that are left.
    package func refund(
        _ number: Int64, quantity: Int? = nil, isRevoking: Bool = true, source: VoidedPurchase.Source = .user,
        reason: VoidedPurchase.Reason = .other
    ) throws -> OneTimePurchase {
        var purchase = try purchase(number)
        try refund(
            &purchase,
            .init(
                time: try of(purchase.account).now, quantity: quantity ?? purchase.refundableQuantity,
                isRevoking: isRevoking, source: source,
                reason: reason))
        return purchase
    }

    /// Refunds a purchase, lists it as voided, and notifies the developer.
    func refund(_ purchase: inout OneTimePurchase, _ refund: OneTimePurchase.Refund) throws {
        let voided = try purchase.refund(refund)
        try purchases.keep(purchase)
        guard let voided else { return }
        try void(voided, of: purchase, at: refund.time, isSubscription: false)
    }

    private func notify(
        _ type: OneTimeNotificationType, about purchase: OneTimePurchase, at time: Timestamp
    ) throws {
        try notify(purchase.terms.packageName, of: purchase.account, at: time) {
            $0.oneTimeProductNotification = .init(
                version: DeveloperNotification.version, notificationType: type.rawValue, purchaseToken: purchase.token,
                // "The sku field isn't provided in RTDN for multi-product OTP purchases" (the same page as the rules of such an order).
                sku: purchase.items.count == 1 ? purchase.terms.productId : nil)
        }
    }

    private func change(
        _ number: Int64, _ type: OneTimeNotificationType, _ body: (inout OneTimePurchase, PlayBooks) throws -> Void
    ) throws -> OneTimePurchase {
        var purchase = try purchase(number)
        let books = try of(purchase.account)
        try body(&purchase, books)
        try purchases.keep(purchase)
        try books.notify(type, about: purchase, at: books.now)
        return purchase
    }

    /// A token in the form of Google's: 24 small letters, and bytes in base64.
    func newToken() -> String {
        let letters = randomness.bytes(24).map { UInt8(ascii: "a") + $0 % 26 }
        return String(decoding: letters, as: UTF8.self) + ".AO-J1O" + Base64.encode(randomness.bytes(66), .urlSafe)
    }

    /// A number of an order: `GPA.3312-4512-1100-55923`.
    func newOrderId() -> String {
        let groups = [4, 4, 4, 5].map { String(randomness.digits($0 + 1, startingWith: "0").dropFirst()) }
        return "GPA." + groups.joined(separator: "-")
    }
}

extension OneTimeProduct {
    /// The purchase option of an identifier; without one, the option for apps without purchase options, or else the first to buy, or else
    /// the first to rent. Only an active option is sold.
    fileprivate func soldOption(_ identifier: String?) -> PurchaseOption? {
        let sold = (purchaseOptions ?? []).filter { $0.state == .active }
        guard identifier == nil else { return sold.first { $0.purchaseOptionId == identifier } }
        let bought = sold.filter { $0.buyOption != nil }
        return bought.first { $0.buyOption?.legacyCompatible == true } ?? bought.first ?? sold.first
    }
}

extension OneTimeProduct.PurchaseOption {
    /// The price in a region; nil for the first in which the option is available.
    fileprivate func price(in regionCode: String?) -> (regionCode: String, price: Money)? {
        let available = (regionalPricingAndAvailabilityConfigs ?? []).first {
            $0.availability == RegionalConfig.available && (regionCode == nil || $0.regionCode == regionCode)
        }
        guard let regionCode = available?.regionCode, let price = available?.price else { return nil }
        return (regionCode, price)
    }
}
