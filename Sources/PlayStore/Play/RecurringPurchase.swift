import Proofs

/// A purchase of a subscription, and the rules of its life (`RecurringTime` has those of time). The rules take values and a moment,
/// and return what they bring about.
package struct RecurringPurchase: Codable, Hashable, Sendable {
    package enum State: String, Codable, Sendable {
        case active
        /// The payment of a renewal was declined, and the customer still has access.
        case inGracePeriod
        /// The same without access.
        case onHold
        case paused
        /// Paid until its expiry, and not renewed.
        case canceled
        case expired
    }

    package enum PhaseKind: String, Codable, Sendable {
        case freeTrial
        case introductory
        case base
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
        package var graceDays: Int64 = 0
        package var holdDays: Int64 = 60
        package var offerId: String?
        package var offerTags: [String] = []
        package var phases: [Phase] = []
        package var obfuscatedAccountId: String?
        package var obfuscatedProfileId: String?
        /// True for a license tester, whose periods last minutes.
        package var isTest = false

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
    package internal(set) var terms: Terms
    /// The purchase that this one replaced.
    package let linkedToken: String?
    package internal(set) var state = State.active
    package internal(set) var expiryTime: Timestamp
    package internal(set) var periods: [Period] = []
    package internal(set) var isAcknowledged = false
    package internal(set) var cancellation: Cancellation?
    /// True while the customer's payment method declines.
    package internal(set) var declines = false
    /// The end of the hold, or of the pause.
    package internal(set) var resumeTime: Timestamp?
    /// The length of a pause that begins with the next renewal.
    package internal(set) var plannedPause: SubscriptionPeriod?
    /// The number of changes, of which the etag is made.
    package internal(set) var revision = 0

    /// Sells a subscription. The first period begins now.
    package init(
        number: Int64, token: String, account: String, terms: Terms, orderId: String, linkedToken: String? = nil,
        at now: Timestamp
    ) {
        (self.number, self.token, self.account) = (number, token, account)
        (self.terms, self.linkedToken, expiryTime) = (terms, linkedToken, now)
        addPeriod(from: now, orderId: orderId)
    }
}

extension RecurringPurchase {
    /// The days in which a purchase has to be acknowledged.
    private static let acknowledgementDays: Int64 = 3
    /// The seconds in which a license tester has to.
    private static let testAcknowledgementSeconds: Int64 = 5 * 60
    /// The days for which a token is answered after the expiry.
    private static let daysAfterExpiry: Int64 = 60

    package var startTime: Timestamp { periods.first?.start ?? expiryTime }
    package var isEnded: Bool { state == .expired }
    package var renews: Bool { !terms.isPrepaid && cancellation == nil && !isEnded }

    /// The number of an order's renewal: the first order's, and from the second period on `..0`, `..1` and so on.
    private func orderId(ofPeriod index: Int, base: String) -> String { index == 0 ? base : "\(base)..\(index - 1)" }

    mutating func addPeriod(from start: Timestamp, orderId: String? = nil) {
        let index = periods.count
        let phase = terms.phases.indices.contains(index) ? terms.phases[index] : nil
        let end = Self.end(of: phase?.length ?? terms.period, from: start, terms: terms, kind: phase?.kind ?? .base)
        periods.append(
            Period(
                orderId: self.orderId(ofPeriod: index, base: orderId ?? periods[0].orderId), start: start, end: end,
                kind: phase?.kind ?? .base, price: phase?.price ?? terms.price))
        (state, expiryTime) = (.active, end)
    }

    /// The moment until which the purchase has to be acknowledged, which only a first period needs; nil otherwise.
    ///
    /// A prepaid plan of less than a week has half of its period.
    package var acknowledgementDeadline: Timestamp? {
        guard !isAcknowledged, !isEnded, let first = periods.first else { return nil }
        if terms.isTest { return first.start.adding(seconds: Self.testAcknowledgementSeconds) }
        let length = first.end.millisecondsSince1970 - first.start.millisecondsSince1970
        if terms.isPrepaid, length < 7 * 86_400_000 { return first.start.adding(milliseconds: length / 2) }
        return first.start.adding(days: Self.acknowledgementDays)
    }

    /// True if the API has forgotten the token.
    func isForgotten(at now: Timestamp) -> Bool { isEnded && now > expiryTime.adding(days: Self.daysAfterExpiry) }

    /// Acknowledges the purchase.
    ///
    /// - Throws: `PublisherError`, `invalidPurchaseState`, if it is acknowledged already, or has ended.
    package mutating func acknowledge(_ request: SubscriptionRequests.Acknowledge) throws(PublisherError) {
        guard !isAcknowledged, !isEnded else { throw .invalidPurchaseState }
        isAcknowledged = true
        terms.obfuscatedAccountId = terms.obfuscatedAccountId ?? request.externalAccountIds?.obfuscatedAccountId
        terms.obfuscatedProfileId = terms.obfuscatedProfileId ?? request.externalAccountIds?.obfuscatedProfileId
    }

    /// Stops the renewals. A subscription that is canceled already stays so.
    ///
    /// - Throws: `PublisherError`, `invalidPurchaseState`, for a prepaid plan, and for one that has ended.
    package mutating func cancel(_ cancellation: Cancellation, at now: Timestamp) throws(PublisherError) -> [Effect] {
        guard !terms.isPrepaid, !isEnded else { throw .invalidPurchaseState }
        guard self.cancellation == nil else { return [] }
        self.cancellation = cancellation
        plannedPause = nil
        // On hold and in a pause, nothing is paid any more.
        let isPaid = [.active, .inGracePeriod].contains(state)
        state = isPaid ? .canceled : .expired
        return [.notification(.canceled)] + (isPaid ? [] : [.notification(.expired)])
    }

    /// Restores a subscription that its customer has canceled.
    ///
    /// - Throws: `PlayError`, `invalidAction`.
    package mutating func restore() throws(PlayError) -> [Effect] {
        guard state == .canceled, case .user? = cancellation else {
            throw .invalidAction(
                "Only a subscription that its customer has canceled, and that is still paid, is restored.")
        }
        (state, cancellation) = (.active, nil)
        return [.notification(.restarted)]
    }

    /// Ends the access at once, and pays back the latest charge or its unused part.
    ///
    /// - Throws: `PublisherError`, `invalidPurchaseState`, if it has ended.
    package mutating func revoke(
        isProrated: Bool, source: VoidedPurchase.Source, reason: VoidedPurchase.Reason, at now: Timestamp
    ) throws(PublisherError) -> [Effect] {
        guard !isEnded, let last = periods.last else { throw .invalidPurchaseState }
        let amount = isProrated ? last.unusedPart(at: now) : last.price
        let voided = refund(period: periods.count - 1, amount, source: source, reason: reason, at: now)
        if cancellation == nil, !terms.isPrepaid { cancellation = source == .developer ? .developer : .system }
        (state, expiryTime) = (.expired, min(now, expiryTime))
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
            purchaseTimeMillis: Int64Text(periods[index].start.millisecondsSince1970),
            voidedTimeMillis: Int64Text(now.millisecondsSince1970), voidedSource: source.rawValue,
            voidedReason: reason.rawValue)
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
        (state, cancellation, expiryTime) = (.expired, .replacement, min(now, expiryTime))
        return [.notification(.expired)]
    }
}

extension RecurringPurchase.Period {
    /// The share of the price for the time after a moment.
    func unusedPart(at now: Timestamp) -> Money {
        let length = Double(end.millisecondsSince1970 - start.millisecondsSince1970)
        let left = Double(max(0, end.millisecondsSince1970 - now.millisecondsSince1970))
        let share = length > 0 ? min(1, left / length) : 0
        // Cents, because the smallest unit of no currency is smaller than a thousandth.
        let thousandths = (Double(price.billionths ?? 0) / 1_000_000 * share).rounded(.down)
        return Money(currencyCode: price.currencyCode, billionths: Int64(thousandths) * 1_000_000)
    }
}
