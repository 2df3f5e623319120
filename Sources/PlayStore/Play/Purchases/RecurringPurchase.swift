import Proofs

/// A purchase of a subscription, and the rules of its life. `SubscriptionItem` has those of its items, `RecurringTime` those of time,
/// `PlanChange` those of upgrades, downgrades, add-ons and top-ups, `PriceChange` those of prices. The rules take values and a moment, and
/// return what they bring about. The members of the base item are those of the purchase, too.
@dynamicMemberLookup
package struct RecurringPurchase: Codable, Hashable, Sendable {
    package enum State: String, Codable, Sendable, CaseIterable {
        /// The first payment is made later.
        case pending
        case active
        /// The payment of a renewal was declined, and the customer still has access.
        case inGracePeriod
        /// The same without access.
        case onHold
        case paused
        /// Paid until its expiry, and not renewed.
        case canceled
        case expired
        /// The first payment was never made.
        case pendingPurchaseCanceled
    }

    package enum PhaseKind: String, Codable, Sendable {
        case freeTrial
        case introductory
        case base
        /// The time that the value of a replaced plan gives.
        case proration
    }

    /// One period of an offer, before the price of the base plan.
    package struct Phase: Codable, Hashable, Sendable {
        package let kind: PhaseKind
        package let length: SubscriptionPeriod
        package let price: Money

        package init(kind: PhaseKind, length: SubscriptionPeriod, price: Money) {
            (self.kind, self.length, self.price) = (kind, length, price)
        }
    }

    /// The terms under which a subscription was bought.
    package struct Terms: Codable, Hashable, Sendable {
        package var packageName: String
        package var productId: String
        package var basePlanId: String
        package var title: String
        package var regionCode: String
        /// The price of a period without an offer.
        package var price: Money
        package var period: SubscriptionPeriod
        /// True for a plan that does not renew.
        package var isPrepaid = false
        /// False for a prepaid plan that no top-up extends.
        package var allowsExtension = true
        /// False for a plan to which nobody resubscribes in the Play.
        package var allowsResubscription = true
        /// True for a plan whose full price is charged when another plan of the subscription changes to it.
        package var chargesChangesAtOnce = false
        /// The commitment of a plan in installments; nil for another plan.
        package var commitment: Commitment?
        package var graceDays: Int64 = 0
        package var holdDays: Int64 = 60
        package var offerId: String?
        package var offerTags: [String] = []
        package var phases: [Phase] = []
        package var obfuscatedAccountId: String?
        package var obfuscatedProfileId: String?
        /// True for a license tester, whose periods last minutes.
        package var isTest = false
        /// The place of the first order; nil for a purchase in the app.
        package var salesChannel: Order.SalesChannel?
        /// The promotion code of the purchase; nil for none.
        package var promotion: SubscriptionPurchaseV2.SignupPromotion?

        package init(
            packageName: String, productId: String, basePlanId: String, title: String, regionCode: String, price: Money,
            period: SubscriptionPeriod
        ) {
            (self.packageName, self.productId, self.basePlanId) = (packageName, productId, basePlanId)
            (self.title, self.regionCode, self.price, self.period) = (title, regionCode, price, period)
        }
    }

    /// A paid period with its order.
    package struct Period: Codable, Hashable, Sendable {
        package let orderId: String
        package let start: Timestamp
        package let end: Timestamp
        package let kind: PhaseKind
        package let price: Money
        /// The price, and the value of the replaced plan that became time of this period.
        package let value: Money
        /// The phase of the new plan that a proration period has taken in; nil if it is the value of the old plan alone.
        package let original: PhaseKind?
        /// True for the rest of a replaced purchase's period, whose order it has.
        package var isCarriedOver = false
        /// The amount that was paid back; nil if nothing was.
        package var refunded: Money?
        package var refundTime: Timestamp?
        package var isChargeback = false
    }

    package enum Cancellation: Codable, Hashable, Sendable {
        case user(Timestamp)
        /// The payments failed.
        case system
        case developer
        /// Another purchase replaced it.
        case replacement
    }

    /// An effect of a rule besides the new state.
    package enum Effect: Equatable, Sendable {
        case notification(SubscriptionNotificationType)
        case voided(VoidedPurchase)
    }

    /// The number in the local Play's list.
    package let number: Int64
    package let token: String
    package let account: String
    /// The order of the first own period. Those of renewals follow from it.
    let orderId: String
    package internal(set) var base: Item
    /// The items besides the base item.
    package internal(set) var addOns: [Item] = []
    /// The items that have left, whose orders stay.
    var formerItems: [Item] = []
    /// The purchase that this one replaced, or would have replaced.
    package let linkedToken: String?
    /// The moment of the purchase. A pending one gets another with its payment.
    package internal(set) var startTime: Timestamp
    package internal(set) var state = State.pending
    /// The moment of the end, which a hold or a pause puts off beyond the expiry; nil before it.
    package internal(set) var endedAt: Timestamp?
    package internal(set) var isAcknowledged = false
    package internal(set) var cancellation: Cancellation?
    /// The reason that the customer gave for the cancellation; nil for none.
    package internal(set) var cancelSurvey: SubscriptionPurchaseV2.CancelSurveyResult?
    /// True while the customer's payment method declines.
    package internal(set) var declines = false
    /// The end of the hold, or of the pause.
    package internal(set) var resumeTime: Timestamp?
    /// The beginning of the hold or the pause, during which items that are still paid wait; nil outside of one.
    var suspendedAt: Timestamp?
    /// The length of a pause that begins with the next renewal.
    package internal(set) var plannedPause: SubscriptionPeriod?
    /// The replacement mode that a pending purchase was made with.
    var pendingMode: ReplacementMode?
    /// The customer's cancellation that waits for the last committed payment.
    package internal(set) var pendingCancellation: Cancellation?
    /// The last consent to a step-up of the price; nil for none.
    package internal(set) var stepUp: PriceStepUp?
    /// True for a customer who has consented to the first step-up when buying.
    var consentsAtPurchase = false
    /// The expired purchase that the customer has renewed in the Play itself; nil for a purchase in an app.
    package internal(set) var resubscribed: Resubscribed?
    /// The number of changes, of which the etag is made.
    package internal(set) var revision = 0

    /// Sells a subscription. The first period begins now, unless the payment is pending.
    ///
    /// - Parameters:
    ///   - old: The purchase that ends with the payment of this one.
    ///   - mode: The mode in which its plan is replaced; nil for a top-up and for one that is bought anew.
    ///   - addOns: The add-ons, which no pending purchase has.
    ///   - consentsToStepUp: True for a customer who consents to the price after the offer.
    package init(
        number: Int64, token: String, account: String, terms: Terms, orderId: String,
        replacing old: RecurringPurchase? = nil, _ mode: ReplacementMode? = nil, with addOns: [AddOn] = [],
        isPending: Bool = false, consentsToStepUp: Bool = false, at now: Timestamp
    ) {
        (self.number, self.token, self.account, self.orderId) = (number, token, account, orderId)
        (base, linkedToken, startTime) = (Item(terms, at: now), old?.token, now)
        consentsAtPurchase = consentsToStepUp
        if isPending { pendingMode = mode } else { begin(replacing: old, mode, with: addOns, at: now) }
    }

    package subscript<Value>(dynamicMember path: KeyPath<Item, Value>) -> Value { base[keyPath: path] }

    /// The days for which a token is answered after the expiry.
    private static let daysAfterExpiry: Int64 = 60

    package var isEnded: Bool { [.expired, .pendingPurchaseCanceled].contains(state) }
    package var renews: Bool { !base.terms.isPrepaid && cancellation == nil && !isEnded }

    /// The order of the next charge: the first order, and then it with `..0`, `..1` and so on. Items that renew together share it.
    var nextOrderId: String {
        let own = (items + formerItems).flatMap(\.periods).filter { !$0.isCarriedOver }
        let count = Set(own.map(\.orderId)).count
        return count == 0 ? orderId : "\(orderId)..\(count - 1)"
    }

    /// The moment of a period's payment. A top-up is paid before its period begins.
    func paymentTime(of period: Period) -> Timestamp {
        period.orderId == base.periods.first?.orderId ? min(startTime, period.start) : period.start
    }

    /// The moment until which the purchase has to be acknowledged, which only a first period needs; nil otherwise.
    ///
    /// A prepaid plan of less than a week has half of its period.
    package var acknowledgementDeadline: Timestamp? {
        guard !isAcknowledged, !isEnded, let first = base.periods.first else { return nil }
        if base.terms.isTest { return startTime.adding(seconds: OneTimePurchase.testAcknowledgementSeconds) }
        let length = first.end.millisecondsSince1970 - first.start.millisecondsSince1970
        if base.terms.isPrepaid, length < 7 * 86_400_000 { return startTime.adding(milliseconds: length / 2) }
        return startTime.adding(days: OneTimePurchase.acknowledgementDays)
    }

    /// True if the API has forgotten the token: "if it has been more than 60 days since expiry"
    /// (`OutOfAppPurchaseContext.expiredPurchaseToken`). A subscription on hold has not expired yet.
    package func isForgotten(at now: Timestamp) -> Bool {
        isEnded && now > (endedAt ?? base.expiryTime).adding(days: Self.daysAfterExpiry)
    }

    /// Acknowledges the purchase.
    ///
    /// - Throws: `PublisherError`, `invalidPurchaseState`, if it is acknowledged already, is pending, or has ended.
    package mutating func acknowledge(_ request: SubscriptionRequests.Acknowledge) throws(PublisherError) {
        guard !isAcknowledged, !isEnded, state != .pending else { throw .invalidPurchaseState }
        isAcknowledged = true
        let (account, profile) = (base.terms.obfuscatedAccountId, base.terms.obfuscatedProfileId)
        base.terms.obfuscatedAccountId = account ?? request.externalAccountIds?.obfuscatedAccountId
        base.terms.obfuscatedProfileId = profile ?? request.externalAccountIds?.obfuscatedProfileId
    }

    /// Stops the renewals. A subscription that is canceled already stays so.
    ///
    /// The customer pays all committed installments first, the developer may stop them.
    ///
    /// - Throws: `PublisherError`, `invalidPurchaseState`, for a prepaid plan, and for one that has ended.
    package mutating func cancel(_ cancellation: Cancellation, at now: Timestamp) throws(PublisherError) -> [Effect] {
        guard !base.terms.isPrepaid, !isEnded else { throw .invalidPurchaseState }
        guard self.cancellation == nil else { return [] }
        if case .user = cancellation, base.remainingCommittedPayments > 0 {
            guard pendingCancellation == nil else { return [] }
            pendingCancellation = cancellation
            return [.notification(.cancellationScheduled)]
        }
        (self.cancellation, pendingCancellation) = (cancellation, nil)
        plannedPause = nil
        // On hold and in a pause, nothing is paid any more but the time of items that wait.
        let isPaid = [.active, .inGracePeriod].contains(state) || endSuspension(at: now)
        (state, endedAt) = isPaid ? (.canceled, nil) : (.expired, now)
        return [.notification(.canceled)] + (isPaid ? [] : [.notification(.expired)])
    }

    /// Restores a subscription that its customer has canceled.
    ///
    /// - Throws: `PlayError`, `invalidAction`.
    package mutating func restore() throws(PlayError) -> [Effect] {
        guard pendingCancellation == nil else {
            (pendingCancellation, cancelSurvey) = (nil, nil)
            return [.notification(.restarted)]
        }
        guard state == .canceled, case .user? = cancellation else {
            throw .invalidAction(
                "Only a subscription that its customer has canceled, and that is still paid, is restored.")
        }
        (state, cancellation, cancelSurvey) = (.active, nil, nil)
        return [.notification(.restarted)]
    }

    /// Ends the access at once, and pays back the latest charge of each item or its unused part.
    ///
    /// - Throws: `PublisherError`, `invalidPurchaseState`, if it has ended.
    package mutating func revoke(
        isProrated: Bool, source: VoidedPurchase.Source, reason: VoidedPurchase.Reason, at now: Timestamp
    ) throws(PublisherError) -> [Effect] {
        guard !isEnded, !base.periods.isEmpty else { throw .invalidPurchaseState }
        let effects = refundLatest(of: items, isProrated: isProrated, source: source, reason: reason, at: now)
        if cancellation == nil, !base.terms.isPrepaid { cancellation = source == .developer ? .developer : .system }
        changeItems { $0.expiryTime = min(now, $0.expiryTime) }
        (state, endedAt) = (.expired, now)
        return [.notification(.revoked)] + effects
    }

    /// Ends the access to some products at once, and pays their latest charges back. The others go on: "If there are still active items
    /// remaining …, only the item will be revoked, and fully refunded without interrupting the subscription status"
    /// (subscription-with-addons, "Revoke individual item").
    ///
    /// - Throws: `PublisherError`, `invalidPurchaseState`, if it has ended, and if some but not all items go while a payment is declined.
    package mutating func revoke(
        products: [String], source: VoidedPurchase.Source, reason: VoidedPurchase.Reason, at now: Timestamp
    ) throws(PublisherError) -> [Effect] {
        let left = items.filter { !products.contains($0.terms.productId) }
        guard let first = left.first(where: { !$0.isRemoved && $0.expiryTime > now }) else {
            return try revoke(isProrated: false, source: source, reason: reason, at: now)
        }
        guard [.active, .canceled].contains(state) else { throw .invalidPurchaseState }
        let revoked = items.filter { products.contains($0.terms.productId) }
        let effects = refundLatest(of: revoked, source: source, reason: reason, at: now)
        formerItems += items.filter { products.contains($0.terms.productId) }
        (base, addOns) = (first, left.filter { $0.terms.productId != first.terms.productId })
        return [.notification(.itemsChanged)] + effects
    }

    private mutating func refundLatest(
        of items: [Item], isProrated: Bool = false, source: VoidedPurchase.Source, reason: VoidedPurchase.Reason,
        at now: Timestamp
    ) -> [Effect] {
        let products = items.map(\.terms.productId)
        var latest: [Period] = []
        changeItems { item in
            guard products.contains(item.terms.productId), let last = item.periods.last else { return }
            item.refund(order: last.orderId, isChargeback: reason == .chargeback, at: now) {
                isProrated ? $0.unusedPart(of: $0.price, at: now) : $0.price
            }
            if !latest.contains(where: { $0.orderId == last.orderId }) { latest.append(last) }
        }
        return latest.map { .voided(voided($0, source: source, reason: reason, at: now)) }
    }

    /// Pays an order back, and leaves the access.
    ///
    /// - Returns: The record of the voided purchase, which only a revocation lists; nil without such an order.
    mutating func refund(
        order orderId: String, source: VoidedPurchase.Source, reason: VoidedPurchase.Reason, at now: Timestamp
    ) -> VoidedPurchase? {
        guard let period = lines(ofOrder: orderId).first?.period else { return nil }
        let isChargeback = reason == .chargeback
        changeItems { $0.refund(order: orderId, isChargeback: isChargeback, at: now) }
        for index in formerItems.indices {
            formerItems[index].refund(order: orderId, isChargeback: isChargeback, at: now)
        }
        return voided(period, source: source, reason: reason, at: now)
    }

    /// The periods that an order has paid, with their items.
    func lines(ofOrder orderId: String) -> [(item: Item, period: Period)] {
        (items + formerItems).flatMap { item in
            item.periods.filter { $0.orderId == orderId }.map { (item: item, period: $0) }
        }
    }

    private func voided(
        _ period: Period, source: VoidedPurchase.Source, reason: VoidedPurchase.Reason, at now: Timestamp
    ) -> VoidedPurchase {
        VoidedPurchase(
            kind: VoidedPurchase.kind, purchaseToken: token, orderId: period.orderId,
            purchaseTimeMillis: Int64Text(value: paymentTime(of: period).millisecondsSince1970),
            voidedTimeMillis: Int64Text(value: now.millisecondsSince1970), voidedSource: source.rawValue,
            voidedReason: reason.rawValue)
    }

    /// Notes the refund of a period that another purchase has carried over.
    mutating func noteRefund(of carried: Period, for productId: String) {
        guard let time = carried.refundTime, let amount = carried.refunded else { return }
        func note(_ item: inout Item) {
            guard item.terms.productId == productId else { return }
            item.refund(order: carried.orderId, isChargeback: carried.isChargeback, at: time) { _ in amount }
        }
        changeItems(note)
        for index in formerItems.indices { note(&formerItems[index]) }
    }

    /// Moves the expiry, and with it the next renewal.
    ///
    /// - Throws: `PublisherError`, `invalidPurchaseState`, unless it is active and renews.
    package mutating func deferRenewal(bySeconds seconds: Int64) throws(PublisherError) -> [Effect] {
        guard state == .active, renews else { throw .invalidPurchaseState }
        // "All items in the subscription are deferred by the same duration" (subscription-with-addons, "Defer billing").
        changeItems { $0.expiryTime = $0.expiryTime.adding(seconds: seconds) }
        if let stepUp, stepUp.state != .completed { self.stepUp?.deadline = stepUp.deadline.adding(seconds: seconds) }
        return [.notification(.deferred)]
    }

    /// Ends the purchase because another one replaces it.
    mutating func replace(at now: Timestamp) -> [Effect] {
        (state, cancellation, endedAt) = (.expired, .replacement, now)
        changeItems { $0.expiryTime = min(now, $0.expiryTime) }
        return [.notification(.expired)]
    }
}

extension RecurringPurchase.Period {
    /// The share of an amount for the time after a moment.
    func unusedPart(of amount: Money, at now: Timestamp) -> Money {
        let length = Double(end.millisecondsSince1970 - start.millisecondsSince1970)
        let left = Double(max(0, end.millisecondsSince1970 - now.millisecondsSince1970))
        return amount.share(length > 0 ? min(1, left / length) : 0)
    }
}

/// Plans that are paid in installments: the customer commits to a number of payments.
extension RecurringPurchase {
    package struct Commitment: Codable, Hashable, Sendable {
        /// The payments to which the customer commits.
        package let payments: Int
        /// True if another commitment follows; false if the plan then renews like another.
        package let isRenewed: Bool

        package init(payments: Int, isRenewed: Bool) {
            (self.payments, self.isRenewed) = (payments, isRenewed)
        }
    }

    /// The commitment as the API states it; nil for another plan.
    var installmentDetails: SubscriptionPurchaseV2.InstallmentDetails? {
        guard let commitment = base.terms.commitment else { return nil }
        return .init(
            initialCommittedPaymentsCount: Int32(commitment.payments),
            subsequentCommittedPaymentsCount: commitment.isRenewed ? Int32(commitment.payments) : nil,
            remainingCommittedPaymentsCount: Int32(base.remainingCommittedPayments),
            pendingCancellation: pendingCancellation == nil ? nil : .init())
    }
}
