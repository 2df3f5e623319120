import Proofs

/// The customer's side of subscriptions.
extension PlayBooks {
    /// Sells a subscription. The order's purchase option is the base plan. What it replaces ends when it is paid.
    ///
    /// - Parameter offerId: An offer of the base plan; nil for its price alone.
    /// - Throws: `PlayError` for an unknown plan or offer, for a subscription that the account has, and for a change that Google refuses.
    package func subscribe(_ order: PlayPurchaseOrder, offerId: String? = nil) throws -> RecurringPurchase {
        try of(order.account).sell(order, offerId: offerId)
    }

    private func sell(_ order: PlayPurchaseOrder, offerId: String?) throws -> RecurringPurchase {
        try check(order)
        guard order.quantity == 1 else { throw PlayError.quantityOutOfRange(order.quantity, maximum: 1) }
        var order = order
        let old = try replaced(by: order)
        try check(order.addOns, of: order, replacing: old)
        if let old {
            order.regionCode = order.regionCode ?? old.terms.regionCode
            order.obfuscatedAccountId = order.obfuscatedAccountId ?? old.terms.obfuscatedAccountId
            order.obfuscatedProfileId = order.obfuscatedProfileId ?? old.terms.obfuscatedProfileId
            guard old.terms.obfuscatedAccountId?.hasSameBytes(as: order.obfuscatedAccountId ?? "") ?? true else {
                throw PlayError.invalidAction(
                    "Subscription \(old.number) has another obfuscated account identifier. A change needs the same.")
            }
        }
        let kept = try old.flatMap { try $0.kept(order, offerId: offerId) }
        let terms = try kept ?? terms(of: order, offerId: offerId)
        guard !order.isPending || terms.isPrepaid else {
            throw PlayError.invalidAction("Only a prepaid plan is sold with a pending payment.")
        }
        let mode =
            kept == nil ? try old?.replacementMode(order.replacementMode, to: terms) : ReplacementMode.keepExisting
        order.regionCode = terms.regionCode
        let addOns = try order.addOns.map { try addOn($0, of: order, replacing: mode == nil ? nil : old) }
        try terms.check(addOns.map(\.terms))
        let purchase = RecurringPurchase(
            number: try nextNumber(), token: newToken(), account: order.account, terms: terms,
            orderId: newOrderId(), replacing: old, mode, with: addOns, isPending: order.isPending,
            consentsToStepUp: order.consentsToStepUp, at: now)
        if !order.isPending { try retire(old) }
        try subscriptions.keep(purchase)
        if !order.isPending { try notify(.purchased, about: purchase, at: now) }
        return purchase
    }

    /// The purchase that an order replaces; nil if it is the account's only one of the product.
    ///
    /// - Throws: `PlayError` for a subscription that the account has already, and for one of another account.
    private func replaced(by order: PlayPurchaseOrder) throws -> RecurringPurchase? {
        let current = try subscriptions.current(of: order.productId, in: order.packageName, by: order.account)
        guard current?.state != .pending else {
            throw PlayError.invalidAction("\"\(order.account)\" has a pending payment for \"\(order.productId)\".")
        }
        guard let number = order.replacedNumber else {
            guard let current else {
                guard order.replacementMode == nil else {
                    throw PlayError.invalidAction(
                        "A replacement mode needs a subscription to replace. List them with `till play subscriptions`.")
                }
                return nil
            }
            guard
                [.canceled, .onHold].contains(current.state) || current.terms.isPrepaid || order.replacementMode != nil
            else {
                throw PlayError.invalidAction(
                    "\"\(order.account)\" has the subscription \"\(order.productId)\" already.")
            }
            return current
        }
        let old = try subscription(number)
        guard old.account == order.account, old.terms.packageName == order.packageName, !old.isEnded else {
            throw PlayError.invalidAction(
                "Subscription \(number) has ended, or is of another account or app, so it cannot be replaced.")
        }
        guard current == nil || current?.number == number else {
            throw PlayError.invalidAction("\"\(order.account)\" has the subscription \"\(order.productId)\" already.")
        }
        return old
    }

    /// - Throws: `PlayError`, `invalidAction`, for a product that is named twice, or that the account has in another purchase.
    private func check(
        _ addOns: [PlayAddOnOrder], of order: PlayPurchaseOrder, replacing old: RecurringPurchase?
    ) throws {
        // "Every item in this list must be unique", and "a limit of 50 items" (subscription-with-addons).
        let products = [order.productId] + addOns.map(\.productId)
        guard Set(products).count == products.count, products.count <= Self.maximumItems else {
            throw PlayError.invalidAction("A purchase has up to \(Self.maximumItems) different subscriptions.")
        }
        for addOn in addOns {
            let current = try subscriptions.current(of: addOn.productId, in: order.packageName, by: order.account)
            guard current == nil || current?.number == old?.number else {
                throw PlayError.invalidAction(
                    "\"\(order.account)\" has the subscription \"\(addOn.productId)\" already.")
            }
        }
    }

    /// The maximum number of items of a subscription.
    private static let maximumItems = 50

    /// An add-on with its terms.
    ///
    /// - Parameter old: The purchase whose items are kept or replaced; nil if all items are new.
    private func addOn(
        _ wish: PlayAddOnOrder, of order: PlayPurchaseOrder, replacing old: RecurringPurchase?
    ) throws -> RecurringPurchase.AddOn {
        var single = order
        (single.productId, single.purchaseOptionId) = (wish.productId, wish.basePlanId)
        (single.promotionCode, single.usesOneTimeCode) = (nil, false)
        (single.addOns, single.replacementMode) = ([], wish.replacementMode)
        let replaced = wish.replacedProductId ?? wish.productId
        guard let old, let item = old.item(of: replaced) else {
            guard wish.replacedProductId == nil, wish.replacementMode == nil else {
                throw PlayError.invalidAction("No item \"\(replaced)\" is replaced.")
            }
            return .init(try terms(of: single, offerId: wish.offerId))
        }
        if let kept = try old.kept(single, offerId: wish.offerId, isAddOn: true) {
            return .init(kept, replacing: replaced, .keepExisting)
        }
        let terms = try terms(of: single, offerId: wish.offerId)
        return .init(terms, replacing: replaced, try old.replacementMode(wish.replacementMode, to: terms, of: item))
    }

    /// The ways in which a subscription is sold besides its first plan: the other active plans, and the active offers.
    package func soldForms(of product: CatalogSubscription) throws -> [SoldForm] {
        guard let packageName = product.packageName, let productId = product.productId else { return [] }
        let plans = (product.basePlans ?? []).filter { $0.state == .active }.compactMap(\.basePlanId)
        return try plans.flatMap { plan in
            let offers: [CatalogOffer] = try resources(of: packageName, under: [productId, plan]).map(\.resource)
            let sold = offers.filter { $0.state == .active }.map { SoldForm(plan, $0.offerId) }
            return (plan == plans.first ? [] : [SoldForm(plan, nil)]) + sold
        }
    }

    /// Ends the purchase that another one replaces.
    private func retire(_ old: RecurringPurchase?) throws {
        guard var old, !old.isEnded else { return }
        try keep(&old, after: old.replace(at: now), at: now)
    }

    private func terms(of order: PlayPurchaseOrder, offerId: String?) throws -> RecurringPurchase.Terms {
        let product = try subscriptionProduct(order.productId, of: order.packageName)
        let plan = product?.basePlans?.first {
            $0.state == .active && (order.purchaseOptionId == nil || $0.basePlanId == order.purchaseOptionId)
        }
        let config = plan?.regionalConfigs?.first {
            $0.newSubscriberAvailability != false && (order.regionCode == nil || $0.regionCode == order.regionCode)
        }
        guard let plan, let planId = plan.basePlanId, let period = plan.period, let region = config?.regionCode,
            let price = config?.price
        else { throw PlayError.productNotFound(order.productId) }
        var terms = RecurringPurchase.Terms(
            packageName: order.packageName, productId: order.productId, basePlanId: planId,
            title: product?.listings?.first?.title ?? order.productId, regionCode: region, price: price, period: period)
        terms.isPrepaid = plan.prepaidBasePlanType != nil
        terms.allowsExtension = plan.prepaidBasePlanType?.timeExtension != "TIME_EXTENSION_INACTIVE"
        (terms.allowsResubscription, terms.chargesChangesAtOnce) = (
            plan.allowsResubscription, plan.chargesChangesAtOnce
        )
        terms.commitment = plan.commitment
        (terms.graceDays, terms.holdDays) = (plan.graceDays, plan.holdDays)
        (terms.offerTags, terms.isTest) = ((plan.offerTags ?? []).compactMap(\.tag), order.isTest)
        terms.obfuscatedAccountId = order.obfuscatedAccountId
        terms.obfuscatedProfileId = order.obfuscatedProfileId
        terms.salesChannel = order.salesChannel
        terms.promotion = try Self.promotion(of: order)
        if terms.promotion != nil, offerId == nil {
            // "Receives the item or subscription trial at no cost" (developer.android.com/google/play/billing/promo). The Play Console sets
            // its days; the local Play gives a period of the plan.
            let free = Money(currencyCode: price.currencyCode, billionths: 0)
            terms.phases = [.init(kind: .freeTrial, length: period, price: free)]
        }
        guard let offerId else { return terms }
        guard let offer = try subscriptionOffer(offerId, of: planId, productId: order.productId, in: order.packageName),
            offer.state == .active, let phases = offer.periods(in: region, of: price)
        else { throw PlayError.productNotFound("\(order.productId) \(planId) \(offerId)") }
        // An offer without targeting is for all customers, such as to win them back: "developers may further filter these offers themselves"
        // (monetization.subscriptions.basePlans.offers, `targeting`).
        guard try offer.targeting.map({ try isTargeted(order, by: $0, of: offer) }) ?? true else {
            throw PlayError.invalidAction(
                "\"\(order.account)\" does not get the offer \"\(offerId)\", which is for other customers by its targeting."
            )
        }
        (terms.offerId, terms.phases) = (offerId, phases)
        terms.offerTags += (offer.offerTags ?? []).compactMap(\.tag)
        return terms
    }

    /// True if the targeting of an offer names the customer of an order.
    private func isTargeted(
        _ order: PlayPurchaseOrder, by targeting: SubscriptionOfferTargeting, of offer: CatalogOffer
    ) throws -> Bool {
        let bought: [RecurringPurchase] = try subscriptions.subscriptions(by: order.account, in: order.packageName)
        guard let rule = targeting.upgradeRule else {
            let isOfAny = targeting.acquisitionRule?.scope?.anySubscriptionInApp != nil
            return !bought.contains { isOfAny || $0.hasHad(order.productId) }
        }
        let items: [RecurringPurchase.Item] = bought.flatMap { $0.items + $0.formerItems }
        let isUsed = items.contains { item in
            let terms = item.terms
            return terms.productId == offer.productId && terms.basePlanId == offer.basePlanId
                && terms.offerId == offer.offerId
        }
        guard rule.oncePerUser != true || !isUsed else { return false }
        let product = rule.scope?.specificSubscriptionInApp ?? order.productId
        let period = rule.billingPeriodDuration.flatMap { SubscriptionPeriod($0) }
        let owned = bought.filter { !$0.isEnded && $0.state != .pending }.flatMap(\.items).map(\.terms)
        return owned.contains { $0.productId == product && (period == nil || $0.period == period) }
    }

    /// The promotion code of an order; nil for none.
    ///
    /// - Throws: `PlayError`, `invalidAction`, for a code of both kinds.
    private static func promotion(
        of order: PlayPurchaseOrder
    ) throws(PlayError) -> SubscriptionPurchaseV2.SignupPromotion? {
        guard let code = order.promotionCode else {
            return order.usesOneTimeCode ? .init(oneTimeCode: .init()) : nil
        }
        guard !order.usesOneTimeCode else {
            throw .invalidAction(
                "A subscription is bought with one promotion code: a promotionCode or a one-time code.")
        }
        return .init(vanityCode: .init(promotionCode: code))
    }

    /// The subscriptions of all accounts or of one, newest first.
    package func subscriptions(of account: String?, limit: Int = 1000) throws -> [RecurringPurchase] {
        try subscriptions.purchases(of: account, limit: limit)
    }

    /// Performs an action of the customer or of Google on a subscription.
    ///
    /// - Throws: `PlayError`, also for an action that the API would refuse.
    /// - Parameters:
    ///   - pauseLength: The length of a pause; nil for the shortest of the plan.
    ///   - survey: The customer's reason for a cancellation; nil for none.
    /// - Returns: The subscription, or the new one of a resubscription.
    package func perform(
        _ action: SubscriptionAction, on number: Int64, pauseLength: SubscriptionPeriod? = nil,
        survey: SubscriptionPurchaseV2.CancelSurveyResult? = nil
    ) throws -> RecurringPurchase {
        let purchase = try subscription(number)
        return try of(purchase.account).perform(action, on: purchase, pauseLength: pauseLength, survey: survey)
    }

    private func perform(
        _ action: SubscriptionAction, on purchase: RecurringPurchase, pauseLength: SubscriptionPeriod?,
        survey: SubscriptionPurchaseV2.CancelSurveyResult?
    ) throws -> RecurringPurchase {
        guard action != .resubscribe else { return try resubscribe(to: purchase) }
        guard survey?.reasonUserInput == nil || survey?.reason == .others else {
            throw PlayError.invalidAction(
                "A customer writes words of their own for \(SubscriptionPurchaseV2.CancelSurveyResult.Reason.others.rawValue) alone."
            )
        }
        var purchase = purchase
        if action == .cancel, purchase.cancellation == nil { purchase.cancelSurvey = survey }
        do {
            let effects: [RecurringPurchase.Effect] =
                switch action {
                case .complete: try complete(&purchase)
                case .resubscribe: []
                case .acceptPrice: try purchase.acceptPrice(at: now)
                case .acceptStepUp: try purchase.acceptStepUp()
                case .cancel where purchase.state == .pending: purchase.cancelPending(at: now)
                case .cancel: try purchase.cancel(.user(now), at: now)
                case .restore: try purchase.restore()
                case .declinePayments: purchase.setDeclines(true, at: now)
                case .acceptPayments: purchase.setDeclines(false, at: now)
                case .pause: try purchase.planPause(pauseLength)
                case .resume: try purchase.endPause(at: now)
                case .refund: try purchase.revoke(isProrated: false, source: .user, reason: .other, at: now)
                case .chargeback: try purchase.revoke(isProrated: false, source: .google, reason: .chargeback, at: now)
                }
            try keep(&purchase, after: effects, at: now)
        } catch is PublisherError {
            throw PlayError.invalidAction(
                "Subscription \(purchase.number) is \(purchase.state.rawValue), or does not renew, so \(action.rawValue) is not possible."
            )
        }
        return purchase
    }

    /// Completes a pending payment. What the purchase replaces ends now.
    private func complete(_ purchase: inout RecurringPurchase) throws -> [RecurringPurchase.Effect] {
        let old = try purchase.linkedToken.flatMap { try subscriptions.purchase(token: $0) }
        let effects = try purchase.complete(replacing: old, at: now)
        try retire(old)
        return effects
    }

    /// Sells an expired subscription again in the Play itself, where the app cannot state its account. One that another purchase has
    /// replaced goes on under that one's token (subscriptionsv2, `ReplacementCancellation`).
    private func resubscribe(to expired: RecurringPurchase) throws -> RecurringPurchase {
        let terms = expired.base.terms
        guard expired.state == .expired, expired.cancellation != .replacement, !terms.isPrepaid,
            terms.allowsResubscription || terms.isTest
        else {
            throw PlayError.invalidAction(
                "Subscription \(expired.number) has not expired, was replaced, or its plan allows no resubscription in the Play."
            )
        }
        var order = PlayPurchaseOrder(
            packageName: terms.packageName, productId: terms.productId, account: expired.account)
        (order.purchaseOptionId, order.regionCode, order.isTest) = (terms.basePlanId, terms.regionCode, terms.isTest)
        guard try subscriptions.current(of: terms.productId, in: terms.packageName, by: expired.account) == nil else {
            throw PlayError.invalidAction("\"\(expired.account)\" has the subscription \"\(terms.productId)\" already.")
        }
        let addOns = try expired.addOns.filter { !$0.isRemoved }.map { item in
            var wish = PlayAddOnOrder(productId: item.terms.productId)
            wish.basePlanId = item.terms.basePlanId
            return try addOn(wish, of: order, replacing: nil)
        }
        var purchase = RecurringPurchase(
            number: try nextNumber(), token: newToken(), account: expired.account,
            terms: try self.terms(of: order, offerId: nil), orderId: newOrderId(), with: addOns, at: now)
        purchase.resubscribed = .init(
            token: expired.token, obfuscatedAccountId: terms.obfuscatedAccountId,
            obfuscatedProfileId: terms.obfuscatedProfileId)
        try subscriptions.keep(purchase)
        try notify(.purchased, about: purchase, at: now)
        return purchase
    }

    /// Writes a changed purchase, lists what was voided, and notifies the developer.
    func keep(_ purchase: inout RecurringPurchase, after effects: [RecurringPurchase.Effect], at time: Timestamp) throws
    {
        purchase.revision += 1
        try subscriptions.keep(purchase)
        for effect in effects {
            switch effect {
            case .notification(let type): try notify(type, about: purchase, at: time)
            case .voided(let voided):
                try refundReplaced(purchase, voided)
                try void(voided, of: purchase, at: time, isSubscription: true)
            }
        }
    }

    /// Notes the refund of a period that a deferred change has carried over in the purchase that has its order.
    private func refundReplaced(_ purchase: RecurringPurchase, _ voided: VoidedPurchase) throws {
        for (item, period) in purchase.lines(ofOrder: voided.orderId ?? "") where period.isCarriedOver {
            guard var owner = try subscriptions.purchase(order: period.orderId), owner.number != purchase.number
            else { continue }
            owner.noteRefund(of: period, for: item.terms.productId)
            try subscriptions.keep(owner)
        }
    }

    private func notify(
        _ type: SubscriptionNotificationType, about purchase: RecurringPurchase, at time: Timestamp
    ) throws {
        try notify(purchase.terms.packageName, of: purchase.account, at: time) {
            $0.subscriptionNotification = .init(
                version: DeveloperNotification.version, notificationType: type.rawValue, purchaseToken: purchase.token,
                // "The subscriptionId field isn't provided … for purchases of subscription with add-ons" (subscription-with-addons).
                subscriptionId: purchase.addOns.isEmpty ? purchase.terms.productId : nil)
        }
    }
}

/// The actions of the customer and of Google on a subscription.
package enum SubscriptionAction: String, Sendable, CaseIterable {
    /// A pending payment is made.
    case complete
    /// Ends the renewals, or a pending payment.
    case cancel
    case restore
    /// The customer agrees to a price increase.
    case acceptPrice
    /// The customer consents to the price after an offer, in a region that requires it.
    case acceptStepUp
    /// The customer renews an expired subscription in the Play itself.
    case resubscribe
    /// The customer's payments are declined from now on.
    case declinePayments
    /// The customer's payments succeed again, and what is owed is paid.
    case acceptPayments
    /// A pause begins with the next renewal.
    case pause
    case resume
    case refund
    case chargeback
}
