import Proofs

/// A purchase of a subscription, and the rules of its life. `RecurringTime` has those of time, `PlanChange` those of upgrades, downgrades
/// and top-ups, `PriceChange` those of prices. The rules take values and a moment, and return what
/// they bring about.
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
    package internal(set) var terms: Terms
    /// The purchase that this one replaced, or would have replaced.
    package let linkedToken: String?
    /// The moment of the purchase. A pending one gets another with its payment.
    package internal(set) var startTime: Timestamp
    package internal(set) var state = State.pending
    package internal(set) var expiryTime: Timestamp
    /// The moment of the end, which a hold or a pause puts off beyond the expiry; nil before it.
    package internal(set) var endedAt: Timestamp?
    package internal(set) var periods: [Period] = []
    package internal(set) var isAcknowledged = false
    package internal(set) var cancellation: Cancellation?
    /// The reason that the customer gave for the cancellation; nil for none.
    package internal(set) var cancelSurvey: SubscriptionPurchaseV2.CancelSurveyResult?
    /// True while the customer's payment method declines.
    package internal(set) var declines = false
    /// The end of the hold, or of the pause.
    package internal(set) var resumeTime: Timestamp?
    /// The length of a pause that begins with the next renewal.
    package internal(set) var plannedPause: SubscriptionPeriod?
    /// The replacement mode that a pending purchase was made with.
    var pendingMode: ReplacementMode?
    /// The plan that this one replaced, as an app asked for it; nil if none.
    package internal(set) var replacement: Replacement?
    /// The plan that begins with the next renewal.
    package internal(set) var plannedTerms: Terms?
    /// The number of phases of the offer that have begun.
    var begunPhases = 0
    /// The last price change since the purchase.
    package internal(set) var priceChange: PriceChange?
    /// The moment since which the customer has the price.
    package internal(set) var priceTime: Timestamp
    /// The customer's cancellation that waits for the last committed payment.
    package internal(set) var pendingCancellation: Cancellation?
    /// The expired purchase that the customer has renewed in the Play itself; nil for a purchase in an app.
    package internal(set) var resubscribed: Resubscribed?
    /// The number of changes, of which the etag is made.
    package internal(set) var revision = 0

    /// Sells a subscription. The first period begins now, unless the payment is pending.
    ///
    /// - Parameters:
    ///   - old: The purchase that ends with the payment of this one.
    ///   - mode: The mode in which its plan is replaced; nil for a top-up and for one that is bought anew.
    package init(
        number: Int64, token: String, account: String, terms: Terms, orderId: String,
        replacing old: RecurringPurchase? = nil, _ mode: ReplacementMode? = nil, isPending: Bool = false,
        at now: Timestamp
    ) {
        (self.number, self.token, self.account, self.orderId) = (number, token, account, orderId)
        (self.terms, linkedToken) = (terms, old?.token)
        (expiryTime, startTime, priceTime) = (now, now, now)
        if isPending { pendingMode = mode } else { begin(replacing: old, mode, at: now) }
    }

    /// The days for which a token is answered after the expiry.
    private static let daysAfterExpiry: Int64 = 60

    package var isEnded: Bool { [.expired, .pendingPurchaseCanceled].contains(state) }
    package var renews: Bool { !terms.isPrepaid && cancellation == nil && !isEnded }

    /// The order of the next own period: the first order, and then it with `..0`, `..1` and so on.
    var nextOrderId: String {
        let index = periods.count { !$0.isCarriedOver }
        return index == 0 ? orderId : "\(orderId)..\(index - 1)"
    }

    /// The phase of the offer that the next period is; nil for the price of the base plan.
    var nextPhase: Phase? { terms.phases.indices.contains(begunPhases) ? terms.phases[begunPhases] : nil }

    /// Begins the next period at the price of its phase.
    mutating func addPeriod(from start: Timestamp) {
        let phase = nextPhase
        if phase != nil { begunPhases += 1 }
        let (kind, price) = (phase?.kind ?? .base, phase?.price ?? terms.price)
        add(
            Period(
                orderId: nextOrderId, start: start,
                end: Self.end(of: phase?.length ?? terms.period, from: start, terms: terms, kind: kind), kind: kind,
                price: price, value: price, original: nil))
    }

    /// The moment of a period's payment. A top-up is paid before its period begins.
    func paymentTime(of period: Period) -> Timestamp {
        period.orderId == periods.first?.orderId ? min(startTime, period.start) : period.start
    }

    mutating func add(_ period: Period) {
        periods.append(period)
        (state, expiryTime) = (.active, period.end)
    }

    /// The moment until which the purchase has to be acknowledged, which only a first period needs; nil otherwise.
    ///
    /// A prepaid plan of less than a week has half of its period.
    package var acknowledgementDeadline: Timestamp? {
        guard !isAcknowledged, !isEnded, let first = periods.first else { return nil }
        if terms.isTest { return startTime.adding(seconds: OneTimePurchase.testAcknowledgementSeconds) }
        let length = first.end.millisecondsSince1970 - first.start.millisecondsSince1970
        if terms.isPrepaid, length < 7 * 86_400_000 { return startTime.adding(milliseconds: length / 2) }
        return startTime.adding(days: OneTimePurchase.acknowledgementDays)
    }

    /// True if the API has forgotten the token: "if it has been more than 60 days since expiry"
    /// (`OutOfAppPurchaseContext.expiredPurchaseToken`). A subscription on hold has not expired yet.
    package func isForgotten(at now: Timestamp) -> Bool {
        isEnded && now > (endedAt ?? expiryTime).adding(days: Self.daysAfterExpiry)
    }

    /// Acknowledges the purchase.
    ///
    /// - Throws: `PublisherError`, `invalidPurchaseState`, if it is acknowledged already, is pending, or has ended.
    package mutating func acknowledge(_ request: SubscriptionRequests.Acknowledge) throws(PublisherError) {
        guard !isAcknowledged, !isEnded, state != .pending else { throw .invalidPurchaseState }
        isAcknowledged = true
        terms.obfuscatedAccountId = terms.obfuscatedAccountId ?? request.externalAccountIds?.obfuscatedAccountId
        terms.obfuscatedProfileId = terms.obfuscatedProfileId ?? request.externalAccountIds?.obfuscatedProfileId
    }

    /// Stops the renewals. A subscription that is canceled already stays so.
    ///
    /// The customer pays all committed installments first, the developer may stop them.
    ///
    /// - Throws: `PublisherError`, `invalidPurchaseState`, for a prepaid plan, and for one that has ended.
    package mutating func cancel(_ cancellation: Cancellation, at now: Timestamp) throws(PublisherError) -> [Effect] {
        guard !terms.isPrepaid, !isEnded else { throw .invalidPurchaseState }
        guard self.cancellation == nil else { return [] }
        if case .user = cancellation, remainingCommittedPayments > 0 {
            guard pendingCancellation == nil else { return [] }
            pendingCancellation = cancellation
            return [.notification(.cancellationScheduled)]
        }
        (self.cancellation, pendingCancellation) = (cancellation, nil)
        plannedPause = nil
        // On hold and in a pause, nothing is paid any more.
        let isPaid = [.active, .inGracePeriod].contains(state)
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

    /// Ends the access at once, and pays back the latest charge or its unused part.
    ///
    /// - Throws: `PublisherError`, `invalidPurchaseState`, if it has ended.
    package mutating func revoke(
        isProrated: Bool, source: VoidedPurchase.Source, reason: VoidedPurchase.Reason, at now: Timestamp
    ) throws(PublisherError) -> [Effect] {
        guard !isEnded, let last = periods.last else { throw .invalidPurchaseState }
        let amount = isProrated ? last.unusedPart(of: last.price, at: now) : last.price
        let voided = refund(period: periods.count - 1, amount, source: source, reason: reason, at: now)
        if cancellation == nil, !terms.isPrepaid { cancellation = source == .developer ? .developer : .system }
        (state, expiryTime, endedAt) = (.expired, min(now, expiryTime), now)
        return [.notification(.revoked), .voided(voided)]
    }

    /// Pays back an amount of a period's price.
    ///
    /// - Returns: The record of the voided purchase, which only a revocation lists.
    mutating func refund(
        period index: Int, _ amount: Money, source: VoidedPurchase.Source, reason: VoidedPurchase.Reason,
        at now: Timestamp
    ) -> VoidedPurchase {
        periods[index].refunded = amount
        periods[index].refundTime = now
        periods[index].isChargeback = reason == .chargeback
        return VoidedPurchase(
            kind: VoidedPurchase.kind, purchaseToken: token, orderId: periods[index].orderId,
            purchaseTimeMillis: Int64Text(value: paymentTime(of: periods[index]).millisecondsSince1970),
            voidedTimeMillis: Int64Text(value: now.millisecondsSince1970), voidedSource: source.rawValue,
            voidedReason: reason.rawValue)
    }

    /// Notes the refund of a period that another purchase has carried over.
    mutating func noteRefund(of carried: Period) {
        guard let index = periods.firstIndex(where: { $0.orderId == carried.orderId }) else { return }
        (periods[index].refunded, periods[index].refundTime) = (carried.refunded, carried.refundTime)
        periods[index].isChargeback = carried.isChargeback
    }

    /// Moves the expiry, and with it the next renewal.
    ///
    /// - Throws: `PublisherError`, `invalidPurchaseState`, unless it is active and renews.
    package mutating func deferRenewal(bySeconds seconds: Int64) throws(PublisherError) -> [Effect] {
        guard state == .active, renews else { throw .invalidPurchaseState }
        expiryTime = expiryTime.adding(seconds: seconds)
        return [.notification(.deferred)]
    }

    /// Ends the purchase because another one replaces it.
    mutating func replace(at now: Timestamp) -> [Effect] {
        (state, cancellation, expiryTime, endedAt) = (.expired, .replacement, min(now, expiryTime), now)
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

    /// The committed payments that are not made yet; 0 without a commitment.
    package var remainingCommittedPayments: Int {
        guard let commitment = terms.commitment, commitment.payments > 0 else { return 0 }
        // A trial is no payment, and neither is the time of a replaced plan.
        let paid = periods.count { ($0.price.billionths ?? 0) > 0 && !$0.isCarriedOver }
        guard paid > commitment.payments else { return commitment.payments - paid }
        return commitment.isRenewed ? commitment.payments - 1 - (paid - 1) % commitment.payments : 0
    }

    /// The commitment as the API states it; nil for another plan.
    var installmentDetails: SubscriptionPurchaseV2.InstallmentDetails? {
        guard let commitment = terms.commitment else { return nil }
        return .init(
            initialCommittedPaymentsCount: Int32(commitment.payments),
            subsequentCommittedPaymentsCount: commitment.isRenewed ? Int32(commitment.payments) : nil,
            remainingCommittedPaymentsCount: Int32(remainingCommittedPayments),
            pendingCancellation: pendingCancellation == nil ? nil : .init())
    }
}
