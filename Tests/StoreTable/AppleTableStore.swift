import Foundation
import Proofs
import TestSupport

/// The App Store in its own words: signed transactions, renewal information and notifications (App Store Server API 1.23, App Store
/// Server Notifications V2).
actor AppleTableStore: TableStore {
    nonisolated let service: TableService
    private var purchases: [Purchase] = []
    private var lastIdentifier = 2_000_000_000_000_000

    init(_ service: TableService) { self.service = service }

    /// A purchase with its original transaction.
    private struct Purchase {
        let user: String
        let original: String
        let since: Timestamp
        var plan: Plan?
        /// The plan of the next renewal.
        var next: Plan?
        var isRenewing = true
        var graceEnd: Timestamp?
        var transactions: [JSONValue]
        var ends: Timestamp
    }

    nonisolated func revenueCatProduct(_ plan: Plan) -> String {
        plan.rawValue.replacing("garden.", with: "").replacing(".monthly", with: "")
    }

    private var now: Timestamp { service.now() }

    private func makeIdentifier() -> String {
        lastIdentifier += 1
        return String(lastIdentifier)
    }

    static func sign(_ payload: JSONValue) throws -> String {
        let chain = try TestChains.ellipticCurve.get()
        return try SignedJSON.sign(payload, with: chain.leaf.key, chain: chain.certificates)
    }

    // MARK: Statements

    /// A transaction, signed now.
    private func transaction(
        _ product: String, _ type: String, original: String?, since: Timestamp?, from begin: Timestamp,
        until end: Timestamp? = nil, price: Int64, quantity: Int64 = 1, reason: String = "PURCHASE", token: String?,
        _ others: [(String, JSONValue)] = []
    ) -> JSONValue {
        let identifier = makeIdentifier()
        let isSubscription = type.hasPrefix("Auto")
        var object = json(
            ("transactionId", .string(identifier)), ("originalTransactionId", .string(original ?? identifier)),
            ("bundleId", .string(TestGarden.bundleIdentifier)), ("productId", .string(product)),
            ("purchaseDate", .milliseconds(begin)), ("originalPurchaseDate", .milliseconds(since ?? begin)),
            ("expiresDate", end.map { .milliseconds($0) }), ("quantity", .integer(quantity)), ("type", .string(type)),
            ("inAppOwnershipType", "PURCHASED"), ("signedDate", .milliseconds(now)), ("environment", "Production"),
            ("transactionReason", .string(reason)), ("storefront", "USA"), ("storefrontId", "143441"),
            ("price", .integer(price)), ("currency", "USD"), ("appTransactionId", "704000000000000001"),
            ("subscriptionGroupIdentifier", isSubscription ? "6A0DE104" : nil),
            ("webOrderLineItemId", isSubscription ? .string("9\(identifier)") : nil),
            ("appAccountToken", token.map { .string($0) }))
        for other in others { object = object.changing(other) }
        return object
    }

    private func period(
        of purchase: Purchase, _ plan: Plan, from begin: Timestamp, reason: String = "RENEWAL"
    ) async throws -> JSONValue {
        transaction(
            plan.rawValue, "Auto-Renewable Subscription", original: purchase.original, since: purchase.since,
            from: begin, until: try Day.month(after: begin), price: plan.price, reason: reason,
            token: try await service.accountToken(of: purchase.user))
    }

    /// The renewal information of a purchase, signed now.
    private func renewal(
        of purchase: Purchase, intent: Int64? = nil, isRetried: Bool? = nil, priceIncreaseStatus: Int64? = nil
    ) -> JSONValue {
        let product = purchase.transactions.last?["productId"] ?? .null
        return json(
            ("originalTransactionId", .string(purchase.original)), ("productId", product),
            ("autoRenewProductId", purchase.next.map { .string($0.rawValue) } ?? product),
            ("autoRenewStatus", .integer(purchase.isRenewing ? 1 : 0)),
            ("expirationIntent", intent.map { .integer($0) }), ("isInBillingRetryPeriod", isRetried.map { .bool($0) }),
            ("gracePeriodExpiresDate", purchase.graceEnd.map { .milliseconds($0) }),
            ("priceIncreaseStatus", priceIncreaseStatus.map { .integer($0) }),
            ("renewalDate", .milliseconds(purchase.ends)),
            ("recentSubscriptionStartDate", .milliseconds(purchase.since)),
            ("environment", "Production"), ("signedDate", .milliseconds(now)))
    }

    /// Sends a notification about a transaction.
    func notify(
        _ type: String, _ subtype: String? = nil, _ transaction: JSONValue?, _ renewal: JSONValue? = nil
    ) async throws {
        let data = json(
            ("bundleId", .string(TestGarden.bundleIdentifier)), ("bundleVersion", "1"), ("appAppleId", .integer(1)),
            ("environment", "Production"),
            ("signedTransactionInfo", try transaction.map { .string(try Self.sign($0)) }),
            ("signedRenewalInfo", try renewal.map { .string(try Self.sign($0)) }))
        let payload = json(
            ("notificationType", .string(type)), ("subtype", subtype.map { .string($0) }),
            ("notificationUUID", .string(UUID().uuidString.lowercased())), ("version", "2.0"),
            ("signedDate", .milliseconds(now)), ("data", data))
        try await service.notify(apple: try Self.sign(payload))
    }

    private func notify(_ type: String, _ subtype: String? = nil, of sold: Sold, _ renewal: JSONValue? = nil)
        async throws
    {
        let purchase = purchases[sold.number]
        try await notify(type, subtype, signedNow(purchase.transactions.last), renewal ?? self.renewal(of: purchase))
    }

    /// A statement of now about a transaction.
    private func signedNow(_ transaction: JSONValue?) -> JSONValue? {
        transaction?.changing(("signedDate", .milliseconds(now)))
    }

    func redeem(_ transaction: JSONValue, for user: String) async throws {
        _ = try await service.redeem(json(("signedTransaction", .string(try Self.sign(transaction)))), for: user).value
    }

    private func add(_ purchase: Purchase) -> Sold {
        purchases.append(purchase)
        return Sold(number: purchases.count - 1)
    }

    /// The last transaction of a purchase.
    func last(of sold: Sold) -> JSONValue { purchases[sold.number].transactions.last ?? .null }

    // MARK: Subscriptions

    func subscribe(_ user: String, to plan: Plan, _ terms: Terms) async throws -> Sold {
        let begin = now
        var (end, price, offer) = (try Day.month(after: begin), plan.price, [(String, JSONValue)]())
        switch terms {
        case .full: break
        case .trial:
            (end, price) = (begin.adding(days: 7), 0)
            offer = [
                ("offerType", .integer(1)), ("offerDiscountType", "FREE_TRIAL"), ("offerPeriod", "P1W"),
            ]
        case .introductory:
            price = 2000
            offer = [
                ("offerType", .integer(1)), ("offerDiscountType", "PAY_AS_YOU_GO"), ("offerPeriod", "P1M"),
            ]
        }
        let bought = transaction(
            plan.rawValue, "Auto-Renewable Subscription", original: nil, since: nil, from: begin, until: end,
            price: price, token: try await service.accountToken(of: user), offer)
        let sold = add(
            Purchase(
                user: user, original: bought["transactionId"]?.text ?? "", since: begin, plan: plan,
                transactions: [bought], ends: end))
        try await redeem(bought, for: user)
        try await notify("SUBSCRIBED", "INITIAL_BUY", of: sold)
        return sold
    }

    func renew(_ sold: Sold) async throws { try await renew(sold, hoursEarly: 0) }

    func renew(_ sold: Sold, hoursEarly: Int64) async throws {
        let ends = purchases[sold.number].ends
        service.advance(to: ends.adding(seconds: hoursEarly == 0 ? 60 : -hoursEarly * 3600))
        try await begin(sold, from: ends)
        try await notify("DID_RENEW", of: sold)
    }

    /// Adds a period of the plan that renews.
    private func begin(_ sold: Sold, from moment: Timestamp) async throws {
        let purchase = purchases[sold.number]
        guard let plan = purchase.next ?? purchase.plan else { return }
        let renewed = try await period(of: purchase, plan, from: moment)
        purchases[sold.number].transactions.append(renewed)
        (purchases[sold.number].plan, purchases[sold.number].next) = (plan, nil)
        (purchases[sold.number].graceEnd, purchases[sold.number].ends) = (nil, try Day.month(after: moment))
    }

    func turnOff(_ sold: Sold) async throws {
        purchases[sold.number].isRenewing = false
        try await notify("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", of: sold)
    }

    /// Turns renewal off now. The service hears of it a minute after the end of the period.
    func turnOffHeardLate(_ sold: Sold) async throws {
        purchases[sold.number].isRenewing = false
        let signed = signedNow(last(of: sold))
        let stated = renewal(of: purchases[sold.number])
        service.advance(to: purchases[sold.number].ends.adding(seconds: 60))
        try await notify("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", signed, stated)
    }

    /// Ends a grace period now. The renewal information is signed a second before the notification.
    func endGrace(_ sold: Sold) async throws {
        purchases[sold.number].graceEnd = nil
        let stated = renewal(of: purchases[sold.number], intent: 2, isRetried: true)
            .changing(("signedDate", .milliseconds(now.adding(seconds: -1))))
        try await notify("GRACE_PERIOD_EXPIRED", of: sold, stated)
    }

    /// Turns renewal off in a grace period, which ends it. The transaction beside the renewal information is signed earlier.
    func turnOffInGrace(_ sold: Sold) async throws {
        (purchases[sold.number].isRenewing, purchases[sold.number].graceEnd) = (false, nil)
        try await notify(
            "EXPIRED", "VOLUNTARY", last(of: sold),
            renewal(of: purchases[sold.number], intent: 1, isRetried: false))
    }

    func turnOn(_ sold: Sold) async throws {
        purchases[sold.number].isRenewing = true
        try await notify("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED", of: sold)
    }

    func expire(_ sold: Sold, _ reason: EndReason) async throws {
        let (subtype, intent): (String, Int64) =
            switch reason {
            case .customer: ("VOLUNTARY", 1)
            case .billing: ("BILLING_RETRY", 2)
            case .priceIncrease: ("PRICE_INCREASE", 3)
            }
        try await expire(sold, subtype, intent: intent)
    }

    /// - Parameter intent: The `expirationIntent`.
    func expire(_ sold: Sold, _ subtype: String?, intent: Int64) async throws {
        let retryDays: Int64 = intent == 2 ? 60 : 0
        service.advance(to: purchases[sold.number].ends.adding(days: retryDays).adding(seconds: 60))
        (purchases[sold.number].isRenewing, purchases[sold.number].graceEnd) = (false, nil)
        let purchase = purchases[sold.number]
        try await notify(
            "EXPIRED", subtype, of: sold,
            renewal(of: purchase, intent: intent, isRetried: false, priceIncreaseStatus: intent == 3 ? 0 : nil))
    }

    func beginGrace(_ sold: Sold, days: Int64?) async throws {
        let ends = purchases[sold.number].ends
        service.advance(to: ends.adding(seconds: 60))
        purchases[sold.number].graceEnd = days.map { ends.adding(days: $0) }
        let purchase = purchases[sold.number]
        try await notify("DID_FAIL_TO_RENEW", "GRACE_PERIOD", of: sold, renewal(of: purchase, isRetried: true))
    }

    func beginRetry(_ sold: Sold) async throws {
        let purchase = purchases[sold.number]
        service.advance(to: (purchase.graceEnd ?? purchase.ends).adding(seconds: 60))
        let type = purchase.graceEnd == nil ? "DID_FAIL_TO_RENEW" : "GRACE_PERIOD_EXPIRED"
        try await notify(type, nil, of: sold, renewal(of: purchase, intent: 2, isRetried: true))
    }

    func recover(_ sold: Sold) async throws {
        let purchase = purchases[sold.number]
        // "If the billing issue is resolved during the grace period, there is no interruption to the paid days"; after it, the
        // renewal date changes to the date of the recovery.
        let isInGrace = purchase.graceEnd.map { now < $0 } ?? false
        try await begin(sold, from: isInGrace ? purchase.ends : now)
        try await notify("DID_RENEW", "BILLING_RECOVERY", of: sold)
    }

    func upgrade(_ sold: Sold, to plan: Plan) async throws {
        let purchase = purchases[sold.number]
        let upgraded = try await period(of: purchase, plan, from: now, reason: "PURCHASE")
        purchases[sold.number].transactions.append(upgraded)
        (purchases[sold.number].plan, purchases[sold.number].ends) = (plan, try Day.month(after: now))
        purchases[sold.number].graceEnd = nil
        try await notify("DID_CHANGE_RENEWAL_PREF", "UPGRADE", of: sold)
        guard let old = signedNow(purchase.transactions.last) else { return }
        try await redeem(old.changing(("isUpgraded", .bool(true))), for: purchase.user)
    }

    /// Extends the running period (Extend a Subscription Renewal Date).
    func extend(_ sold: Sold, days: Int64) async throws {
        let end = purchases[sold.number].ends.adding(days: days)
        purchases[sold.number].ends = end
        let index = purchases[sold.number].transactions.count - 1
        purchases[sold.number].transactions[index] = last(of: sold).changing(("expiresDate", .milliseconds(end)))
        try await notify("RENEWAL_EXTENDED", of: sold)
    }

    func choose(_ plan: Plan, at sold: Sold) async throws {
        purchases[sold.number].next = plan
        try await notify("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE", of: sold)
    }

    func refund(_ sold: Sold, half: Bool) async throws { try await refund(sold, transactionFromEnd: 0, half: half) }

    func refundEarlier(_ sold: Sold) async throws { try await refund(sold, transactionFromEnd: 1, half: false) }

    private func refund(_ sold: Sold, transactionFromEnd position: Int, half: Bool) async throws {
        try await refund(sold, transactionFromEnd: position, percentage: half ? 50000 : 100_000)
    }

    /// - Parameter percentage: The part in thousandths of a percent (`revocationPercentage`).
    func refund(_ sold: Sold, transactionFromEnd position: Int = 0, percentage: Int64) async throws {
        let purchase = purchases[sold.number]
        let index = purchase.transactions.count - 1 - position
        let refunded = purchase.transactions[index].changing(
            ("signedDate", .milliseconds(now)), ("revocationDate", .milliseconds(now)),
            ("revocationReason", .integer(0)),
            ("revocationType", .string(percentage < 100_000 ? "REFUND_PRORATED" : "REFUND_FULL")),
            ("revocationPercentage", .integer(percentage)))
        purchases[sold.number].transactions[index] = refunded
        try await notify("REFUND", nil, refunded, purchase.plan == nil ? nil : renewal(of: purchases[sold.number]))
    }

    /// Takes the last refund back.
    func reverseRefund(_ sold: Sold) async throws {
        let purchase = purchases[sold.number]
        let restored = last(of: sold).changing(
            ("signedDate", .milliseconds(now)), ("revocationDate", .null), ("revocationReason", .null),
            ("revocationType", .null), ("revocationPercentage", .null))
        purchases[sold.number].transactions[purchase.transactions.count - 1] = restored
        try await notify("REFUND_REVERSED", nil, restored, purchase.plan == nil ? nil : renewal(of: purchase))
    }

    func resubscribe(_ sold: Sold) async throws {
        purchases[sold.number].isRenewing = true
        try await begin(sold, from: now)
        try await notify("SUBSCRIBED", "RESUBSCRIBE", of: sold)
    }

    // MARK: Other products

    func buy(_ product: OneTime, for user: String, quantity: Int64) async throws -> Sold {
        let type =
            switch product {
            case .gate: "Non-Consumable"
            case .seeds: "Consumable"
            case .season: "Non-Renewing Subscription"
            }
        // The price of a consumable is that of the whole quantity (JWSTransactionDecodedPayload, price).
        let bought = transaction(
            product.rawValue, type, original: nil, since: nil, from: now, price: product.price * quantity,
            quantity: quantity, token: nil)
        let sold = add(
            Purchase(
                user: user, original: bought["transactionId"]?.text ?? "", since: now, transactions: [bought],
                ends: now))
        try await redeem(bought, for: user)
        try await service.settle()
        return sold
    }

    func refundProduct(_ sold: Sold) async throws { try await refund(sold, transactionFromEnd: 0, half: false) }

    func present(_ sold: Sold, by user: String) async throws {
        guard let transaction = signedNow(purchases[sold.number].transactions.last) else { return }
        _ = try await service.redeem(json(("signedTransaction", .string(try Self.sign(transaction)))), for: user)
        try await service.settle()
    }

    /// Gives a member of the family, or of a team with seats, the purchaser's subscription.
    ///
    /// - Parameter ownership: `FAMILY_SHARED` or `ASSIGNED`.
    func share(_ plan: Plan, with user: String, as ownership: String) async throws -> Sold {
        let begin = now
        let shared = transaction(
            plan.rawValue, "Auto-Renewable Subscription", original: nil, since: nil, from: begin,
            until: try Day.month(after: begin), price: plan.price, token: nil,
            [("inAppOwnershipType", .string(ownership))])
        let sold = add(
            Purchase(
                user: user, original: shared["transactionId"]?.text ?? "", since: begin, plan: plan,
                transactions: [shared], ends: try Day.month(after: begin)))
        try await redeem(shared, for: user)
        try await service.settle()
        return sold
    }

    /// Takes a shared purchase from a member (`REVOKE`).
    func revokeShare(_ sold: Sold) async throws {
        let revoked = last(of: sold).changing(
            ("signedDate", .milliseconds(now)), ("revocationDate", .milliseconds(now)),
            ("revocationReason", .integer(0)), ("revocationType", "FAMILY_REVOKE"))
        try await notify("REVOKE", nil, revoked, renewal(of: purchases[sold.number]))
    }

    /// States the last period under another identifier: the same purchase event, beginning and end.
    func repeatUnderAnotherIdentifier(_ sold: Sold) async throws {
        let again = last(of: sold).changing(
            ("transactionId", .string(makeIdentifier())), ("signedDate", .milliseconds(now)))
        try await redeem(again, for: purchases[sold.number].user)
        try await notify("SUBSCRIBED", "INITIAL_BUY", again, renewal(of: purchases[sold.number]))
    }

    /// Upgrades now. Half of the old period is paid back, which the old transaction states as a revocation.
    func upgradeWithRefund(_ sold: Sold, to plan: Plan) async throws {
        try await upgrade(sold, to: plan)
        let purchase = purchases[sold.number]
        let old = purchase.transactions[purchase.transactions.count - 2].changing(
            ("signedDate", .milliseconds(now)), ("isUpgraded", .bool(true)), ("revocationDate", .milliseconds(now)),
            ("revocationReason", .integer(0)), ("revocationType", "REFUND_PRORATED"),
            ("revocationPercentage", .integer(50000)))
        try await notify("REFUND", nil, old, renewal(of: purchase))
    }

    /// States the upgrade of the last period before the period that replaces it.
    ///
    /// - Parameter isPaidBack: True if half of it is paid back.
    func stateUpgraded(_ sold: Sold, isPaidBack: Bool = false) async throws {
        let purchase = purchases[sold.number]
        guard let stated = signedNow(purchase.transactions.last)?.changing(("isUpgraded", .bool(true))) else { return }
        guard isPaidBack else { return try await redeem(stated, for: purchase.user) }
        let old = stated.changing(
            ("revocationDate", .milliseconds(now)), ("revocationReason", .integer(0)),
            ("revocationType", "REFUND_PRORATED"), ("revocationPercentage", .integer(50000)))
        try await notify("REFUND", nil, old, renewal(of: purchase))
    }

    /// Pays one seat back: the transaction is valid for the others, and has no revocation date.
    func refundSeat(_ sold: Sold) async throws {
        let seats = json(("invitationManagement", "APPLE"), ("revokedSeatQuantity", .integer(1)))
        let stated = last(of: sold).changing(("signedDate", .milliseconds(now)), ("multiSeatInfo", seats))
        try await notify("REFUND", "SEATS", stated, renewal(of: purchases[sold.number]))
    }

    /// Asks for consent to a higher price.
    func askForConsent(_ sold: Sold) async throws {
        try await notify(
            "PRICE_INCREASE", "PENDING", of: sold, renewal(of: purchases[sold.number], priceIncreaseStatus: 0))
    }

    /// Sells seats of a subscription. The price is that of one seat.
    func sellSeats(_ seats: Int64, of plan: Plan, to user: String) async throws -> Sold {
        let begin = now
        let bought = transaction(
            plan.rawValue, "Auto-Renewable Subscription", original: nil, since: nil, from: begin,
            until: try Day.month(after: begin), price: plan.price, quantity: seats,
            token: try await service.accountToken(of: user))
        let sold = add(
            Purchase(
                user: user, original: bought["transactionId"]?.text ?? "", since: begin, plan: plan,
                transactions: [bought], ends: try Day.month(after: begin)))
        try await redeem(bought, for: user)
        try await notify("SUBSCRIBED", "INITIAL_BUY", of: sold)
        return sold
    }
}
