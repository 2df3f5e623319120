import Proofs

/// The customer's side of subscriptions.
extension PlayBooks {
    /// Sells a subscription. The order's purchase option is the base plan.
    ///
    /// - Parameter offerId: An offer of the base plan; nil for its price alone.
    /// - Throws: `PlayError` for an unknown plan or offer, and for a subscription that the account has.
    package func subscribe(_ order: PlayPurchaseOrder, offerId: String? = nil) throws -> RecurringPurchase {
        try check(order)
        guard order.quantity == 1 else { throw PlayError.quantityOutOfRange(order.quantity, maximum: 1) }
        guard !order.isPending else {
            throw PlayError.invalidAction("The local Play sells subscriptions without pending payments.")
        }
        let terms = try terms(of: order, offerId: offerId)
        var linked = try subscriptions.latest(of: order.productId, in: order.packageName, by: order.account)
        if linked?.isEnded == true { linked = nil }
        guard linked == nil || linked?.state == .canceled || linked?.terms.isPrepaid == true else {
            throw PlayError.invalidAction("\"\(order.account)\" has the subscription \"\(order.productId)\" already.")
        }
        // The old purchase ends with the sale of the new one.
        if var linked { try keep(&linked, after: linked.replace(at: now), at: now) }
        let purchase = RecurringPurchase(
            number: try purchases.nextNumber(), token: newToken(), account: order.account, terms: terms,
            orderId: newOrderId(), linkedToken: linked?.token, at: now)
        try subscriptions.insert(purchase)
        try notify(.purchased, about: purchase, at: now)
        return purchase
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
        (terms.graceDays, terms.holdDays) = (plan.graceDays, plan.holdDays)
        (terms.offerTags, terms.isTest) = ((plan.offerTags ?? []).compactMap(\.tag), order.isTest)
        terms.obfuscatedAccountId = order.obfuscatedAccountId
        terms.obfuscatedProfileId = order.obfuscatedProfileId
        guard let offerId else { return terms }
        guard let offer = try subscriptionOffer(offerId, of: planId, productId: order.productId, in: order.packageName),
            offer.state == .active, let phases = offer.periods(in: region, of: price)
        else { throw PlayError.productNotFound("\(order.productId) \(planId) \(offerId)") }
        guard try subscriptions.latest(of: order.productId, in: order.packageName, by: order.account) == nil else {
            throw PlayError.invalidAction(
                "\"\(order.account)\" has had \"\(order.productId)\" before, and gets no offer.")
        }
        (terms.offerId, terms.phases) = (offerId, phases)
        terms.offerTags += (offer.offerTags ?? []).compactMap(\.tag)
        return terms
    }

    /// The subscriptions of all accounts or of one, newest first.
    package func subscriptions(of account: String?, limit: Int = 1000) throws -> [RecurringPurchase] {
        try subscriptions.purchases(of: account, limit: limit)
    }

    /// The subscription of a number in the list.
    ///
    /// - Throws: `PlayError`, `purchaseNotFound`.
    package func subscription(_ number: Int64) throws -> RecurringPurchase {
        guard let purchase = try subscriptions.purchase(number: number) else {
            throw PlayError.purchaseNotFound(String(number))
        }
        return purchase
    }

    /// Performs an action of the customer or of Google on a subscription.
    ///
    /// - Throws: `PlayError`, also for an action that the API would refuse.
    package func perform(_ action: SubscriptionAction, on number: Int64) throws -> RecurringPurchase {
        var purchase = try subscription(number)
        do {
            let effects: [RecurringPurchase.Effect] =
                switch action {
                case .cancel: try purchase.cancel(.user(now), at: now)
                case .restore: try purchase.restore()
                case .declinePayments: purchase.setDeclines(true, at: now)
                case .acceptPayments: purchase.setDeclines(false, at: now)
                case .pause: try purchase.planPause(.oneMonth)
                case .resume: try purchase.endPause(at: now)
                case .refund: try purchase.revoke(isProrated: false, source: .user, reason: .other, at: now)
                case .chargeback: try purchase.revoke(isProrated: false, source: .google, reason: .chargeback, at: now)
                }
            try keep(&purchase, after: effects, at: now)
        } catch is PublisherError {
            throw PlayError.invalidAction(
                "Subscription \(number) is \(purchase.state.rawValue), or does not renew, so \(action.rawValue) is not possible."
            )
        }
        return purchase
    }

    /// Writes a changed purchase, lists what was voided, and notifies the developer.
    func keep(_ purchase: inout RecurringPurchase, after effects: [RecurringPurchase.Effect], at time: Timestamp) throws
    {
        purchase.revision += 1
        try subscriptions.update(purchase)
        for effect in effects {
            switch effect {
            case .notification(let type): try notify(type, about: purchase, at: time)
            case .voided(let voided):
                try purchases.add(voided, of: purchase.terms.packageName, at: time, isSubscription: true)
                try notify(purchase.terms.packageName, at: time) {
                    $0.voidedPurchaseNotification = .init(voided, isSubscription: true)
                }
            }
        }
    }

    private func notify(
        _ type: SubscriptionNotificationType, about purchase: RecurringPurchase, at time: Timestamp
    ) throws {
        try notify(purchase.terms.packageName, at: time) {
            $0.subscriptionNotification = .init(
                version: DeveloperNotification.version, notificationType: type.rawValue, purchaseToken: purchase.token,
                subscriptionId: purchase.terms.productId)
        }
    }
}

/// The actions of the customer and of Google on a subscription.
package enum SubscriptionAction: String, Sendable, CaseIterable {
    case cancel
    case restore
    /// The customer's payments are declined from now on.
    case declinePayments
    /// The customer's payments succeed again, and what is owed is paid.
    case acceptPayments
    /// A pause of a month begins with the next renewal.
    case pause
    case resume
    case refund
    case chargeback
}
