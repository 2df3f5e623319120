import Foundation

/// The statement of an answer. The rules take values and a moment, and ask nobody.
extension GooglePlayAnswer {
    /// The days in which a purchase has to be acknowledged.
    private static let acknowledgementDays: Int64 = 3
    /// The same of a license tester, in seconds. Google's page states three minutes in its text, and five in its table.
    private static let testAcknowledgementSeconds: Int64 = 180
    /// A prepaid plan of less than so many days has half of its period.
    private static let shortPlanDays: Int64 = 7
    /// The time after a declined charge in which Google Play retries and the subscription stays active.
    private static let silentGraceDays: Int64 = 1
    /// The time for which a grace period goes on whose end Google Play has not moved on yet. The service asks each day.
    private static let undatedGraceDays: Int64 = 2
    /// The difference by which a period that ends before its order's end was taken back, in seconds.
    private static let revocationTolerance: Int64 = 60

    /// The statement at a moment, with what is known of the orders.
    package func statement(_ moment: Moment) -> GooglePlayStatement {
        let stated: [StatedPurchase]
        var placement = placement(moment)
        switch content {
        // A state that this version does not know grants nothing, and takes nothing: what is paid ends at its end.
        case _ where [.pending, .paymentCanceled, .unknown].contains(state): stated = []
        // The products of one purchase are acknowledged together. A pre-order "is in PENDING state before the release time"
        // (developer.android.com/google/play/billing/integrate).
        case .products where hasEndlessRental(placement): stated = []
        case .subscription(let items): stated = items.compactMap { self.stated($0, among: items, placement, moment) }
        case .products(let items, let orderId):
            stated = items.compactMap { self.stated($0, orderId, placement, moment) }
        }
        // Two claims to one transaction would contradict each other.
        var identifiers: Set<ByteKey> = []
        let purchases = stated.filter { identifiers.insert(ByteKey($0.purchase.transactionIdentifier)).inserted }
        for purchase in purchases.map(\.purchase) {
            placement.end(purchase.transactionIdentifier, of: purchase.productIdentifier, at: purchase.expiresDate)
        }
        return GooglePlayStatement(
            self, purchases, ending: endedLines(placement, moment), placement.lines,
            acknowledgeBy: acknowledgeBy(moment.askedAt), moment)
    }

    /// The moment at which Google refunds the purchase unless it is acknowledged; nil if nothing is to be acknowledged.
    private func acknowledgeBy(_ askedAt: Timestamp) -> Timestamp? {
        guard !isAcknowledged, !state.isFinal, state != .pending, state != .unknown else { return nil }
        let start = startTime ?? askedAt
        if isTest { return start.adding(seconds: Self.testAcknowledgementSeconds) }
        if case .subscription(let items) = content, let item = items.first, !item.isAutoRenewing,
            let end = item.expiryTime, start < end, end < start.adding(days: Self.shortPlanDays)
        {
            return start.adding(milliseconds: (end.millisecondsSince1970 - start.millisecondsSince1970) / 2)
        }
        return start.adding(days: Self.acknowledgementDays)
    }

    /// The facts that products of both kinds have.
    private func facts(
        _ productId: String, orderId: String?, _ order: GooglePlayOrder?, _ moment: Moment
    ) -> TransactionFacts {
        var facts = TransactionFacts()
        let price = order?.lineItem(productId)?.total
        facts[.price] = .init(price?.milliunits)
        facts[.currency] = .init(price?.currency)
        facts[.storefront] = .init(regionCode.flatMap(Storefront.init(shortCountryCode:))?.countryCode)
        facts[.signedDate] = .init(moment.askedAt)
        if let refund = order.flatMap({ refund(of: productId, $0, moment) }) { facts.state(refund) }
        facts[.orderId] = .init(orderId)
        facts[.obfuscatedAccountId] = .init(obfuscatedAccountId)
        facts[.obfuscatedProfileId] = .init(obfuscatedProfileId)
        facts[.salesChannel] = .init(order?.salesChannel)
        facts[.pointsDetails] = .init(order?.pointsDetails)
        facts[.refundReason] = .init(order?.refundReason)
        return facts
    }

    /// The money of an order that was paid back for a product, with or without its revocation.
    private func refund(of productId: String, _ order: GooglePlayOrder, _ moment: Moment) -> StatedRefund? {
        let left: [String] =
            switch content {
            case .subscription(let items):
                items.filter { !state.isFinal && $0.expiryTime.map { $0 > moment.askedAt } ?? false }.map(\.productId)
            case .products(let items, _): items.filter { $0.refundedQuantity == 0 }.map(\.productId)
            }
        // If the whole purchase is gone, that says nothing about its lines.
        let isWhole = left.isEmpty
        return order.refund(of: productId) { product in
            !isWhole && !left.contains { $0.hasSameBytes(as: product) }
        }
    }
}

/// One-time products.
extension GooglePlayAnswer {
    /// Each product is a purchase of its own, with its transaction as the original: the token's name, as for a signed purchase.
    private func stated(
        _ item: ProductLineItem, _ orderId: String?, _ placement: GooglePlayPlacement, _ moment: Moment
    ) -> StatedPurchase? {
        guard let place = placement[item.productId] else { return nil }
        let order = moment.order(orderId)
        var facts = facts(item.productId, orderId: orderId, order, moment)
        // A paid purchase without an order is that of a promotion code: "Receives the item … at no cost"
        // (developer.android.com/google/play/billing/promo), and "May not be set if there is no order associated with the purchase"
        // (ProductPurchaseV2, `orderId`).
        if orderId == nil, startTime != nil {
            facts[.offerType] = .integer(Int64(SubscriptionOffer.Kind.offerCode.rawValue))
            if let storefront = regionCode.flatMap(Storefront.init(shortCountryCode:)) {
                (facts[.price], facts[.currency]) = (.integer(0), .text(storefront.currency))
            }
        }
        facts[.offerIdentifier] = .init(item.offerId)
        facts[.offerTags] = .init(texts: item.offerTags)
        facts[.purchaseOptionId] = .init(item.purchaseOptionId)
        facts[.offerToken] = .init(item.offerToken)
        facts[.preorderReleaseTime] = .init(item.preorderReleaseTime)
        if item.isRental {
            facts[.isRental] = .init(true)
            // It has an end, and does not renew.
            facts[.type] = .text(ProductType.nonRenewingSubscription.rawValue)
            facts[.expiresDate] = .init(place.product.endsAt)
        }
        let isVoided = state == .voided
        return StatedPurchase(
            purchase: ProvenPurchase(
                transactionIdentifier: place.product.charge, originalTransactionIdentifier: place.original,
                productIdentifier: item.productId, quantity: item.quantity, purchaseDate: place.product.beginsAt,
                revocationDate: isVoided ? order?.refundedAt ?? moment.askedAt : nil,
                revocationReason: isVoided ? RevocationReason.refundedForOtherReason.rawValue : nil,
                expiresDate: place.product.endsAt, appAccountToken: UUID(accountToken: obfuscatedAccountId),
                facts: facts),
            chain: placement.chain(of: place), renewal: nil, isConsumed: item.isConsumed,
            refundedQuantity: item.refundedQuantity)
    }

    /// True for a paid purchase with a rental whose end nobody states. Without one, it would be granted for good.
    private func hasEndlessRental(_ placement: GooglePlayPlacement) -> Bool {
        guard state == .purchased, case .products(let items, _) = content else { return false }
        return items.contains { $0.isRental && placement[$0.productId]?.product.endsAt == nil }
    }

    /// The rented products of whose terms an answer needs to know: their ends are unknown, or the customer has begun to use them.
    package func rentedProducts(after moment: Moment) -> [String] {
        guard state == .purchased, case .products(let items, _) = content else { return [] }
        let placement = placement(moment)
        return items.filter { item in
            let end = placement[item.productId]?.product.endsAt
            return item.isRental && end.map { item.isConsumed && $0 > moment.askedAt } ?? true
        }.map(\.productId)
    }
}

/// Subscriptions. Each period is a transaction, and its identifier is its order.
extension GooglePlayAnswer {
    /// - Returns: Nil for a product that is not owned yet.
    private func stated(
        _ item: SubscriptionLineItem, among items: [SubscriptionLineItem], _ placement: GooglePlayPlacement,
        _ moment: Moment
    ) -> StatedPurchase? {
        guard let expiryTime = item.expiryTime, let place = placement[item], !place.isSuperseded else {
            return nil
        }
        let (order, known) = (moment.order(item.orderId), place.known)
        let period = order?.lineItem(item.productId)
        let paidUntil = known?.expiresDate ?? period?.periodEnd
        let isReplacedItem = item.isReplaced(among: items)
        let isPaid =
            state == .inGracePeriod && !isDeclined(item, among: items, paidUntil: paidUntil, moment.askedAt)
        let ends =
            isPaid
            ? (paid: expiryTime, grace: nil)
            : ends(expiryTime, paidUntil: paidUntil, renews: continues(item) && !isReplacedItem, moment.askedAt)
        var renewal = renewal(of: item, among: items, expiryTime, grace: ends.grace)
        if isPaid { renewal[.isInBillingRetryPeriod] = .init(false) }
        let refund = refund(of: order, period, endedAt: expiryTime)
        // A period that is taken back grants nothing, and keeps the time that it had: that of the order, which is a snapshot, or until the later
        // moment to which the next charge was deferred (API reference, `purchases.subscriptionsv2.defer`).
        let had = [period?.periodEnd, paidUntil].compactMap(\.self).max()
        let paid = refund == nil ? ends.paid : had ?? ends.paid
        let isRenewal = place.product.isRenewal
        let phase = item.phase ?? period?.phase ?? (isPromotion(item, place) ? .freeTrial : nil)
        var facts = facts(item.productId, orderId: place.product.orderId, order, moment)
        // "Receives the item or subscription trial at no cost" (developer.android.com/google/play/billing/promo). A promotion has no order.
        let isFree = phase == .freeTrial || isPromotion(item, place) || isChargedLater(item, place, order)
        if facts[.price] == nil, isFree, item.recurringPrice != nil {
            facts[.price] = .integer(0)
        }
        facts[.type] = .text(ProductType.autoRenewableSubscription.rawValue)
        facts[.transactionReason] = .text((isRenewal ? TransactionReason.renewal : .purchase).rawValue)
        facts[.basePlanId] = .init(item.basePlanId)
        facts[.offerTags] = .init(texts: item.offerTags)
        facts[.isPrepaid] = .init(item.isPrepaid ? true : nil)
        // Without the right to see orders, the plan's price alone tells the currency.
        let currency = period?.total?.currency ?? item.recurringPrice?.currency
        facts[.currency] = .init(currency)
        if item.recurringPrice?.currency == currency {
            facts[.recurringPrice] = .init(item.recurringPrice?.milliunits)
        }
        facts[.promotionCode] = .init(isRenewal ? nil : item.promotionCode)
        facts[.hasOneTimeCode] = .init(item.hasOneTimeCode && !isRenewal ? true : nil)
        facts[.originalPurchaseDate] = .init(startTime)
        let isContinued = placement.isContinued(place, after: purchaseToken)
        let end =
            keptEnd(known?.expiresDate, paidUntil: paidUntil, expiryTime, isContinued: isContinued) ?? paid
        facts[.expiresDate] = .init(fundedEnd(period, endedAt: end) ?? end)
        facts[.replacementMode] = .init(item.replaced?.mode)
        facts[.revocationType] = .init(
            refund.map { ($0 == .full ? RevocationType.refundFull : .refundProrated).rawValue })
        switch phase {
        case .freeTrial: facts[.offerDiscountType] = .text(OfferDiscountType.freeTrial.rawValue)
        case .introductory: facts[.offerDiscountType] = .text(OfferDiscountType.payAsYouGo.rawValue)
        case .proration: facts[.isProrated] = .init(true)
        case .base, nil: break
        }
        if phase == .freeTrial || phase == .introductory {
            let kind: SubscriptionOffer.Kind = item.hasPromotionCode ? .offerCode : .introductory
            facts[.offerType] = .integer(Int64(kind.rawValue))
            facts[.offerIdentifier] = .init(item.offerId)
        }
        return StatedPurchase(
            purchase: ProvenPurchase(
                transactionIdentifier: place.product.charge, originalTransactionIdentifier: place.original,
                productIdentifier: item.productId, quantity: 1, purchaseDate: place.product.beginsAt,
                revocationDate: refund.map { _ in order?.refundedAt ?? expiryTime },
                revocationReason: refund.map { _ in RevocationReason.refundedForOtherReason.rawValue },
                expiresDate: end,
                appAccountToken: UUID(accountToken: obfuscatedAccountId), facts: facts),
            chain: placement.chain(of: place),
            // The item that has taken its place says what comes next, and so does the token that continues the line.
            renewal: isReplacedItem || isContinued
                ? nil
                : StatedRenewal(
                    statedAt: moment.askedAt, proofDigest: digest, facts: renewal),
            isConsumed: false, refundedQuantity: 0, keepsEnd: isReplaced && state == .expired && known == nil)
    }

    /// The end of the period that the order funds, if Google Play has cut it short: "a snapshot of the billing/service period end time at the
    /// moment the order was processed, and should be used only for accounting" (orders, `servicePeriodEndTime`). Nil for another period.
    private func fundedEnd(_ period: GooglePlayOrder.LineItem?, endedAt end: Timestamp) -> Timestamp? {
        guard state == .expired, let funded = period?.periodEnd, end.adding(seconds: Self.revocationTolerance) < funded
        else { return nil }
        return funded
    }

    /// True for the first charge of a promotion code, which has no order.
    private func isPromotion(_ item: SubscriptionLineItem, _ place: GooglePlayPlacement.Place) -> Bool {
        item.hasPromotionCode && place.product.orderId == nil && !place.product.isRenewal
    }

    /// True for a charge whose order is that of the product which it replaces, as its own price is charged at the renewal
    /// (developer.android.com/google/play/billing/subscriptions, "Replacement modes", `WITHOUT_PRORATION`).
    private func isChargedLater(
        _ item: SubscriptionLineItem, _ place: GooglePlayPlacement.Place, _ order: GooglePlayOrder?
    ) -> Bool {
        guard let identifier = item.orderId, !place.product.line.hasSameBytes(as: item.productId) else { return false }
        return order?.isOfOthers(than: item.productId)
            ?? place.product.charge.hasSameBytes(as: GooglePlayLines.original(of: item.productId, in: identifier))
    }

    /// The end of the paid time and that of a grace period. A state without access ends no later than the answer.
    ///
    /// - Parameters:
    ///   - paidUntil: The end of the period that is paid, as far as it is known. Google Play moves `expiryTime` on in a grace
    ///     period, and leaves it there.
    ///   - renews: False for an item that is not charged again.
    private func ends(
        _ expiryTime: Timestamp, paidUntil: Timestamp?, renews: Bool, _ askedAt: Timestamp
    ) -> (paid: Timestamp, grace: Timestamp?) {
        switch state {
        case .active:
            // Only a plan that renews has a charge that is retried (lifecycle/subscriptions, "Silent grace period").
            let silentGrace = expiryTime.adding(days: Self.silentGraceDays)
            let isSilent = renews && expiryTime <= askedAt && askedAt < silentGrace
            return (expiryTime, isSilent ? silentGrace : nil)
        case .canceled: return (expiryTime, nil)
        case .inGracePeriod:
            // Google Play moves the end on until the grace period is over (lifecycle/subscriptions, "Grace period").
            let grace = expiryTime > askedAt ? expiryTime : askedAt.adding(days: Self.undatedGraceDays)
            return (min(paidUntil ?? askedAt, expiryTime, askedAt), grace)
        case .pending, .paymentCanceled, .purchased, .onHold, .paused, .expired, .voided, .unknown:
            return (min(paidUntil ?? expiryTime, expiryTime, askedAt), nil)
        }
    }

    /// The refund with which Google Play has taken the last period back, or the grace period after it; nil for a period that stands, or has
    /// ended in time. A refund alone leaves the subscription. One that revokes it, too, ends it at once (lifecycle/subscriptions,
    /// "Revocations").
    private func refund(
        of order: GooglePlayOrder?, _ period: GooglePlayOrder.LineItem?, endedAt expiryTime: Timestamp
    ) -> GooglePlayOrder.Refund? {
        guard state == .expired, cancellation != .replacement, let refund = order?.refund else { return nil }
        if let end = period?.periodEnd {
            let tolerance = Self.revocationTolerance
            let isCut = expiryTime.adding(seconds: tolerance) < end
            let isCutInGrace =
                end.adding(seconds: tolerance) < expiryTime
                && order?.refundedAt.map { abs($0.secondsSince1970 - expiryTime.secondsSince1970) <= tolerance }
                    ?? false
            return isCut || isCutInGrace ? refund : nil
        }
        return refund == .full ? .full : nil
    }

    /// True if another period follows the one that runs: of the same product, or of the one that replaces it at the renewal. The replaced
    /// item has `autoRenewEnabled` false (API reference, `DeferredItemReplacement`).
    private func continues(_ item: SubscriptionLineItem) -> Bool {
        guard !item.isRemoved else { return false }
        return (item.renews || item.nextProductId != nil) && state != .canceled && !state.isFinal && state != .unknown
    }

    /// The next step of an item. A fact that Apple states, too, has Apple's name.
    ///
    /// Sources: developer.android.com/google/play/billing/lifecycle/subscriptions, and
    /// developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2.
    private func renewal(
        of item: SubscriptionLineItem, among items: [SubscriptionLineItem], _ expiryTime: Timestamp, grace: Timestamp?
    ) -> RenewalFacts {
        let isRetried = state == .inGracePeriod || state == .onHold
        let renews = continues(item)
        // The product of a deferred replacement is not owned yet, and has no end.
        let next = item.nextProductId.flatMap { product in
            items.first { $0.expiryTime == nil && $0.productId.hasSameBytes(as: product) }
        }
        var facts = RenewalFacts()
        facts[.subscriptionState] = .text(statedState)
        // Removing a product is the customer's choice, and no cancellation of the subscription.
        facts[.canceledBy] = .init((item.isRemoved ? .user : cancellation)?.rawValue)
        facts[.productId] = .text(item.productId)
        facts[.autoRenewProductId] = .init(item.isAutoRenewing ? item.nextProductId ?? item.productId : nil)
        // A state that this version does not know, and an item without a plan, say nothing about the renewal.
        if state != .unknown, item.isAutoRenewing || item.isPrepaid {
            facts[.autoRenewStatus] = .integer(Int64((renews ? AutoRenewStatus.on : .off).rawValue))
        }
        facts[.isInBillingRetryPeriod] = .init(isRetried)
        facts[.gracePeriodExpiresDate] = .init(grace)
        facts[.expirationIntent] = .init(expirationIntent(of: item, expiryTime).map { Int64($0.rawValue) })
        facts[.recentSubscriptionStartDate] = .init(startTime)
        facts[.autoResumeTime] = .init(state == .paused ? resumeTime : nil)
        facts[.priceChangeState] = .init(item.priceChange?.state)
        facts[.consentDeadlineTime] = .init(item.priceChange?.consentDeadline)
        facts[.cancelTime] = .init(cancelTime)
        facts[.cancelSurveyReason] = .init(cancelSurveyReason)
        facts[.pendingOrderId] = .init(pendingOrderId)
        facts[.installmentDetails] = .init(item.installments)
        facts[.allowExtendAfterTime] = .init(item.extensibleAfter)
        if item.isCommitmentCanceled {
            let off = Int64(AutoRenewStatus.off.rawValue)
            facts[.commitmentInfo] = .text(
                JSONValue.object(["commitmentAutoRenewStatus": .integer(off)]).compactText)
        }
        guard renews else { return facts }
        facts[.autoRenewBasePlanId] = .init((next ?? item).basePlanId)
        let date = state == .paused ? resumeTime : expiryTime
        facts[.renewalDate] = .init(date)
        // The price of a replaced product says nothing about the one that replaces it.
        var price = item.nextProductId == nil ? item.recurringPrice : next?.recurringPrice
        if let change = item.priceChange, change.isPending, item.nextProductId == nil {
            facts[.priceIncreaseStatus] = .init(change.answer.map { Int64($0.rawValue) })
            // The price after an introductory one may come later than the next renewal.
            if (change.chargedAt ?? change.consentDeadline).map({ $0 <= expiryTime.adding(days: Self.silentGraceDays) })
                ?? true
            {
                price = change.price ?? price
            }
        }
        facts[.renewalPrice] = .init(price?.milliunits)
        facts[.currency] = .init(price?.currency)
        return facts
    }

    /// The reason for the end in Apple's numbers; nil for a subscription that has not ended. Google Play has no word of its own for the
    /// consent that lacks: it cancels, so the reason is stated from then on.
    private func expirationIntent(of item: SubscriptionLineItem, _ expiryTime: Timestamp) -> ExpirationIntent? {
        guard state == .expired || state == .canceled else { return nil }
        if cancellation == .system, item.priceChange?.lacksConsent(at: expiryTime) == true {
            return .customerDidNotConsentToPriceIncrease
        }
        guard state == .expired else { return nil }
        return switch cancellation {
        case .user: .customerCancelled
        case .system: .billingError
        case .developer, .replacement: .other
        case nil: nil
        }
    }
}

/// The charges that an answer ends besides those that it states.
extension GooglePlayAnswer {
    /// The lines whose other charges end with the answer: those in a state without access, which counts at once for an early renewal, too,
    /// and those that are gone.
    private func endedLines(_ placement: GooglePlayPlacement, _ moment: Moment) -> [GooglePlayStatement.EndedLine] {
        guard case .subscription(let items) = content else { return [] }
        var ended: [GooglePlayStatement.EndedLine] = []
        if !hasAccess, state != .unknown, !isReplaced {
            ended = items.compactMap { item in
                guard let place = placement[item], place.isNews, let expiryTime = item.expiryTime else {
                    return nil
                }
                return .init(
                    original: place.original, charge: place.product.charge, isStated: true,
                    endsAt: min(expiryTime, moment.askedAt))
            }
        }
        return ended + goneProducts(moment).map { self.ended($0, moment) }
    }

    private func ended(_ gone: GooglePlayLines.Product, _ moment: Moment) -> GooglePlayStatement.EndedLine {
        let end = gone.endsAt ?? moment.askedAt
        let order = moment.order(gone.orderId)
        // The customer removes an item at its end. An earlier end is that of a revocation, at the first answer without the item.
        let isRemoved = end <= moment.askedAt && gone.lapsedAt != end
        let refund = isRemoved ? nil : order?.refund
        var renewal = RenewalFacts()
        renewal[.productId] = .text(gone.productId)
        renewal[.autoRenewStatus] = .integer(Int64(AutoRenewStatus.off.rawValue))
        renewal[.isInBillingRetryPeriod] = .init(false)
        renewal[.canceledBy] = .text((isRemoved ? Canceler.user : .developer).rawValue)
        renewal[.expirationIntent] = .integer(
            Int64((isRemoved ? ExpirationIntent.customerCancelled : .other).rawValue))
        var facts = facts(gone.productId, orderId: gone.orderId, order, moment)
        // One item is taken back with all that was paid for it.
        facts[.revocationType] = .init(refund.map { _ in RevocationType.refundFull.rawValue })
        let name = moment.names.name(of: moment.originalToken ?? purchaseToken)
        return .init(
            original: GooglePlayLines.original(of: gone.line, in: name), charge: gone.charge, isStated: false,
            endsAt: min(end, moment.askedAt),
            revokedAt: refund.map { _ in order?.refundedAt ?? moment.askedAt }, facts: facts,
            renewal: StatedRenewal(statedAt: moment.askedAt, proofDigest: digest, facts: renewal))
    }
}

extension Storefront {
    /// - Returns: Nil if no storefront of `all` has the country.
    fileprivate init?(shortCountryCode: String) {
        guard let known = Self.all.first(where: { $0.shortCountryCode.hasSameBytes(as: shortCountryCode) }) else {
            return nil
        }
        self = known
    }
}
