import Foundation
import Proofs
import TestSupport

/// Google Play in its own words: the answers of `purchases.subscriptionsv2`, `purchases.productsv2` and `orders`, and real-time
/// developer notifications (androidpublisher v3; developer.android.com/google/play/billing).
actor GoogleTableStore: TableStore {
    nonisolated let service: TableService
    private var purchases: [Purchase] = []
    private var lastNumber = 0

    init(_ service: TableService) { self.service = service }

    private var play: ScriptedPlay { service.play }
    private var now: Timestamp { service.now() }

    /// One item of a purchase.
    struct Line: Sendable {
        var product: String
        var basePlan = "p1m"
        var offer: String?
        /// The phase of the price: `basePrice`, `freeTrial`, `introductoryPrice` or `prorationPeriod`.
        var phase = "basePrice"
        /// The price of a whole period, in milliunits.
        var recurringPrice: Int64
        /// The dates of the last period. An item that is not owned yet has no end.
        var begins: Timestamp
        var ends: Timestamp?
        var orders: [String] = []
        var isRenewing = true
        var isPrepaid = false
        /// Members besides those above, such as `deferredItemReplacement`.
        var others: [(String, JSONValue)] = []
    }

    /// A purchase token.
    struct Purchase: Sendable {
        let user: String
        var token: String
        var began: Timestamp
        var account: String?
        var linked: String?
        var lines: [Line] = []
        var state = "ACTIVE"
        var others: [(String, JSONValue)] = []
        /// The product of a purchase that is no subscription, and its units.
        var product: OneTime?
        var quantity: Int64 = 1
        var refundable: Int64 = 1
        /// False for a payment that is pending, or was never made.
        var isPaid = true
        /// The plan that a deferred replacement begins.
        var next: Plan?
        var isAcknowledged = true
    }

    nonisolated func revenueCatProduct(_ plan: Plan) -> String {
        // "For Google Play products set up in RevenueCat after February 2023, this identifier has the format
        // <subscription_id>:<base_plan_id>" (RevenueCat, Event Types and Fields).
        plan.rawValue.replacing("garden.", with: "").replacing(".monthly", with: "") + ":p1m"
    }

    // MARK: Answers

    private func makeToken() -> String {
        lastNumber += 1
        return "scripted-purchase-token-\(lastNumber).AO-J1Oz"
    }

    private func makeOrder() -> String {
        lastNumber += 1
        return "GPA.3345-1111-2222-\(10000 + lastNumber)"
    }

    static func money(_ milliunits: Int64) -> JSONValue {
        let (units, rest) = milliunits.quotientAndRemainder(dividingBy: 1000)
        return json(
            ("currencyCode", "USD"), ("units", .string(String(units))),
            ("nanos", rest == 0 ? nil : .integer(rest * 1_000_000)))
    }

    private func answer(_ line: Line) -> JSONValue {
        var offer = json(("basePlanId", .string(line.basePlan)))
        if let name = line.offer { offer = offer.changing(("offerId", .string(name))) }
        let renewing = json(
            ("autoRenewEnabled", line.isRenewing ? .bool(true) : nil),
            ("recurringPrice", Self.money(line.recurringPrice)))
        var item = json(
            ("productId", .string(line.product)), ("offerDetails", offer),
            ("expiryTime", line.ends.map { .date($0) }),
            ("latestSuccessfulOrderId", line.ends == nil ? nil : line.orders.last.map { .string($0) }),
            ("autoRenewingPlan", line.isPrepaid ? nil : renewing),
            ("prepaidPlan", line.isPrepaid ? json(("allowExtendAfterTime", .date(line.begins))) : nil),
            ("offerPhase", json((line.phase, json()))))
        for other in line.others { item = item.changing(other) }
        return item
    }

    private func answer(_ purchase: Purchase) -> JSONValue {
        let acknowledged = "ACKNOWLEDGEMENT_STATE_\(purchase.isAcknowledged ? "ACKNOWLEDGED" : "PENDING")"
        var answer = json(
            ("kind", "androidpublisher#subscriptionPurchaseV2"),
            ("subscriptionState", .string("SUBSCRIPTION_STATE_\(purchase.state)")),
            ("startTime", purchase.state.hasPrefix("PENDING") ? nil : .date(purchase.began)),
            ("regionCode", "US"), ("lineItems", .array(purchase.lines.map(answer))),
            ("acknowledgementState", .string(acknowledged)), ("etag", "e"),
            ("externalAccountIdentifiers", purchase.account.map { json(("obfuscatedExternalAccountId", .string($0))) }),
            ("linkedPurchaseToken", purchase.linked.map { .string($0) }))
        for other in purchase.others { answer = answer.changing(other) }
        return answer
    }

    private func productAnswer(_ purchase: Purchase, _ product: OneTime) -> JSONValue {
        let details = json(
            ("purchaseOptionId", "buy"), ("quantity", .integer(purchase.quantity)),
            ("refundableQuantity", .integer(purchase.refundable)),
            ("consumptionState", "CONSUMPTION_STATE_YET_TO_BE_CONSUMED"))
        let line = json(("productId", .string(product.rawValue)), ("productOfferDetails", details))
        var answer = json(
            ("kind", "androidpublisher#productPurchaseV2"), ("productLineItem", .array([line])),
            ("purchaseStateContext", json(("purchaseState", .string(purchase.state)))), ("regionCode", "US"),
            ("acknowledgementState", "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED"),
            ("orderId", purchase.isPaid ? purchase.lines.first?.orders.last.map { .string($0) } : nil),
            ("purchaseCompletionTime", purchase.isPaid ? .date(purchase.began) : nil),
            ("obfuscatedExternalAccountId", purchase.account.map { .string($0) }))
        for other in purchase.others { answer = answer.changing(other) }
        return answer
    }

    /// States a purchase as it is.
    private func publish(_ sold: Sold) {
        let purchase = purchases[sold.number]
        if let product = purchase.product {
            play.set(product: purchase.token, productAnswer(purchase, product))
        } else {
            play.set(subscription: purchase.token, answer(purchase))
        }
    }

    /// States an order of one or several items.
    private func publish(
        order: String, of token: String, _ lines: [(line: Line, paid: Int64)], at moment: Timestamp
    ) {
        let items = lines.map { line, paid in
            let phase = line.phase == "basePrice" ? "baseDetails" : "\(line.phase)Details"
            let details = json(
                ("basePlanId", .string(line.basePlan)), ("offerId", line.offer.map { .string($0) }),
                ("servicePeriodStartTime", .date(line.begins)),
                ("servicePeriodEndTime", line.ends.map { .date($0) }), ("offerPhaseDetails", json((phase, json()))))
            return json(
                ("productId", .string(line.product)), ("listingPrice", Self.money(line.recurringPrice)),
                ("total", Self.money(paid)), ("tax", Self.money(0)),
                line.ends == nil
                    ? ("oneTimePurchaseDetails", json(("quantity", .integer(1)), ("purchaseOptionId", "buy")))
                    : ("subscriptionDetails", details))
        }
        play.set(
            order: order,
            json(
                ("orderId", .string(order)), ("purchaseToken", .string(token)), ("createTime", .date(moment)),
                ("lastEventTime", .date(moment)), ("state", "PROCESSED"),
                ("total", Self.money(lines.map(\.paid).reduce(0, +))), ("tax", Self.money(0)),
                ("lineItems", .array(items)),
                ("orderHistory", json(("processedEvent", json(("eventTime", .date(moment))))))))
    }

    /// States that an order was paid back, in whole or in part.
    private func refund(order: String, _ amount: Int64, isWhole: Bool) {
        let moment = JSONValue.date(now)
        let details = json(("total", Self.money(amount)), ("tax", Self.money(0)))
        play.change(order: order) { stated in
            let history = stated["orderHistory"] ?? .null
            let event =
                isWhole
                ? ("refundEvent", json(("eventTime", moment), ("refundReason", "OTHER"), ("refundDetails", details)))
                : (
                    "partialRefundEvents",
                    .array([
                        json(
                            ("createTime", moment), ("processTime", moment), ("state", "PROCESSED_SUCCESSFULLY"),
                            ("refundDetails", details))
                    ])
                )
            return stated.changing(
                ("state", .string(isWhole ? "REFUNDED" : "PARTIALLY_REFUNDED")), ("lastEventTime", moment),
                ("orderHistory", history.changing(event)))
        }
    }

    private func void(_ order: String, of token: String, quantity: Int64? = nil) {
        play.add(
            voided: json(
                ("kind", "androidpublisher#voidedPurchase"), ("purchaseToken", .string(token)),
                ("orderId", .string(order)), ("purchaseTimeMillis", .string(String(now.millisecondsSince1970))),
                ("voidedTimeMillis", .string(String(now.millisecondsSince1970))), ("voidedSource", .integer(1)),
                ("voidedReason", .integer(0)), ("voidedQuantity", quantity.map { .integer($0) })))
    }

    // MARK: Notifications

    private func notification(_ member: String, _ content: JSONValue) -> JSONValue {
        json(
            ("version", "1.0"), ("packageName", .string(ScriptedPlay.packageName)),
            ("eventTimeMillis", .string(String(now.millisecondsSince1970))), (member, content))
    }

    private func subscriptionNotification(_ type: Int64, _ token: String) -> JSONValue {
        notification(
            "subscriptionNotification",
            json(("version", "1.0"), ("notificationType", .integer(type)), ("purchaseToken", .string(token))))
    }

    /// Notifies of the purchase as it is.
    func notify(_ type: Int64, _ sold: Sold) async throws {
        publish(sold)
        try await service.notify(google: subscriptionNotification(type, purchases[sold.number].token))
    }

    private func notifyVoided(_ order: String, _ token: String, productType: Int64, refundType: Int64) async throws {
        try await service.notify(
            google: notification(
                "voidedPurchaseNotification",
                json(
                    ("purchaseToken", .string(token)), ("orderId", .string(order)),
                    ("productType", .integer(productType)), ("refundType", .integer(refundType)))))
    }

    /// Presents the token of a purchase, as the app does.
    @discardableResult
    func present(_ sold: Sold) async throws -> TableService.Answer {
        let purchase = purchases[sold.number]
        return try await service.redeem(json(("purchaseToken", .string(purchase.token))), for: purchase.user)
    }

    func present(_ sold: Sold, by user: String) async throws {
        _ = try await service.redeem(json(("purchaseToken", .string(purchases[sold.number].token))), for: user)
        try await service.settle()
    }

    private func add(_ purchase: Purchase) -> Sold {
        purchases.append(purchase)
        return Sold(number: purchases.count - 1)
    }

    /// Changes a purchase. The change is stated with the next notification.
    func change(_ sold: Sold, _ change: @Sendable (inout Purchase) throws -> Void) rethrows {
        try change(&purchases[sold.number])
    }

    func purchase(_ sold: Sold) -> Purchase { purchases[sold.number] }

    /// States the purchase as it is, without a notification.
    func state(_ sold: Sold) { publish(sold) }

    // MARK: Subscriptions

    func subscribe(_ user: String, to plan: Plan, _ terms: Terms) async throws -> Sold {
        try await subscribe(user, to: plan, terms) { _ in }
    }

    /// - Parameter change: Changes the item before it is stated.
    func subscribe(
        _ user: String, to plan: Plan, _ terms: Terms = .full, withAccount: Bool = true, hasOrder: Bool = true,
        _ change: @Sendable (inout Line) throws -> Void
    ) async throws -> Sold {
        let begin = now
        var line = Line(
            product: plan.rawValue, recurringPrice: plan.price, begins: begin, ends: try Day.month(after: begin))
        var paid = plan.price
        switch terms {
        case .full: break
        case .trial: (line.offer, line.phase, line.ends, paid) = ("trial", "freeTrial", begin.adding(days: 7), 0)
        case .introductory: (line.offer, line.phase, paid) = ("intro", "introductoryPrice", 2000)
        }
        try change(&line)
        let token = makeToken()
        if hasOrder {
            line.orders = [makeOrder()]
            publish(order: line.orders[0], of: token, [(line, paid)], at: begin)
        }
        let sold = add(
            Purchase(
                user: user, token: token, began: begin,
                account: withAccount ? try await service.accountToken(of: user) : nil, lines: [line]))
        publish(sold)
        _ = try await present(sold).value
        try await notify(4, sold)
        return sold
    }

    func renew(_ sold: Sold) async throws { try await renew(sold, hoursEarly: 0) }

    func renew(_ sold: Sold, hoursEarly: Int64) async throws {
        guard let ends = purchases[sold.number].lines.compactMap(\.ends).max() else { return }
        service.advance(to: ends.adding(seconds: hoursEarly == 0 ? 60 : -hoursEarly * 3600))
        try begin(sold, from: ends)
        try await notify(2, sold)
    }

    /// Adds a period of each item that renews, with the next order.
    private func begin(_ sold: Sold, from moment: Timestamp) throws {
        var purchase = purchases[sold.number]
        (purchase.state, purchase.others) = ("ACTIVE", [])
        if let next = purchase.next {
            // The old item stays with its end in the past, the new one has a period now.
            purchase.next = nil
            purchase.lines = purchase.lines.map { line in
                var line = line
                line.others.removeAll { $0.0 == "deferredItemReplacement" }
                guard line.product == next.rawValue else { return line }
                line.ends = moment
                return line
            }
            for index in purchase.lines.indices where purchase.lines[index].product == next.rawValue {
                purchase.lines[index].orders = [makeOrder()]
                try advance(&purchase.lines[index], from: moment)
                publish(
                    order: purchase.lines[index].orders[0], of: purchase.token,
                    [(purchase.lines[index], next.price)], at: now)
            }
        } else {
            let renewing = purchase.lines.indices.filter { purchase.lines[$0].isRenewing }
            guard let last = renewing.compactMap({ purchase.lines[$0].orders.last }).max() else { return }
            let order = Self.next(after: last)
            for index in renewing {
                purchase.lines[index].orders.append(order)
                try advance(&purchase.lines[index], from: moment)
            }
            publish(
                order: order, of: purchase.token,
                renewing.map { (purchase.lines[$0], purchase.lines[$0].recurringPrice) }, at: now)
        }
        purchases[sold.number] = purchase
    }

    private func advance(_ line: inout Line, from moment: Timestamp) throws {
        (line.begins, line.ends) = (moment, try Day.month(after: moment))
        (line.phase, line.offer) = ("basePrice", nil)
    }

    /// The order of the next renewal: `GPA.…`, `GPA.…..0`, `GPA.…..1`.
    private static func next(after order: String) -> String {
        guard let range = order.range(of: "..") else { return order + "..0" }
        return String(order[..<range.upperBound]) + String((Int(order[range.upperBound...]) ?? 0) + 1)
    }

    func turnOff(_ sold: Sold) async throws {
        try await cancel(sold, "userInitiatedCancellation", json(("cancelTime", .date(now))))
    }

    /// Cancels a subscription that is paid until its end.
    func cancel(_ sold: Sold, _ context: String, _ content: JSONValue = json()) async throws {
        change(sold) { purchase in
            purchase.state = "CANCELED"
            purchase.others = [("canceledStateContext", json((context, content)))]
            for index in purchase.lines.indices { purchase.lines[index].isRenewing = false }
        }
        try await notify(3, sold)
    }

    func turnOn(_ sold: Sold) async throws {
        change(sold) { purchase in
            (purchase.state, purchase.others) = ("ACTIVE", [])
            for index in purchase.lines.indices { purchase.lines[index].isRenewing = true }
        }
        try await notify(7, sold)
    }

    func expire(_ sold: Sold, _ reason: EndReason) async throws {
        guard let ends = purchases[sold.number].lines.compactMap(\.ends).max() else { return }
        service.advance(to: ends.adding(days: reason == .billing ? 60 : 0).adding(seconds: 60))
        let moment = now
        change(sold) { purchase in
            purchase.state = "EXPIRED"
            let context =
                switch reason {
                case .customer: ("userInitiatedCancellation", json(("cancelTime", .date(moment.adding(days: -7)))))
                case .billing, .priceIncrease: ("systemInitiatedCancellation", json())
                }
            purchase.others = [("canceledStateContext", json(context))]
            for index in purchase.lines.indices { purchase.lines[index].isRenewing = false }
            if reason == .priceIncrease {
                Self.raisePrice(&purchase, "OUTSTANDING", at: ends)
            }
        }
        // "you instead receive an RTDN with type SUBSCRIPTION_CANCELED … immediately after … SUBSCRIPTION_EXPIRED"
        if reason != .customer {
            publish(sold)
            try await service.push(subscriptionNotification(3, purchases[sold.number].token))
        }
        try await notify(13, sold)
    }

    /// States a price increase that needs consent.
    private static func raisePrice(_ purchase: inout Purchase, _ state: String, at moment: Timestamp) {
        for index in purchase.lines.indices {
            let line = purchase.lines[index]
            let details = json(
                ("newPrice", money(line.recurringPrice + 2000)), ("priceChangeMode", "PRICE_INCREASE"),
                ("priceChangeState", .string(state)), ("expectedNewPriceChargeTime", .date(moment)))
            let plan = json(
                ("autoRenewEnabled", line.isRenewing ? .bool(true) : nil),
                ("recurringPrice", money(line.recurringPrice)), ("priceChangeDetails", details))
            purchase.lines[index].others = [("autoRenewingPlan", plan)]
        }
    }

    /// The customer accepts a higher price, which the next renewal charges.
    func accept(_ price: Int64, at sold: Sold) async throws {
        change(sold) { purchase in
            Self.raisePrice(&purchase, "CONFIRMED", at: purchase.lines.first?.ends ?? purchase.began)
        }
        try await notify(19, sold)
        change(sold) { purchase in
            for index in purchase.lines.indices {
                (purchase.lines[index].recurringPrice, purchase.lines[index].others) = (price, [])
            }
        }
    }

    /// Cancels because the customer has not consented to a higher price.
    func cancelForPrice(_ sold: Sold) async throws {
        change(sold) { purchase in
            let ends = purchase.lines.first?.ends ?? purchase.began
            purchase.state = "CANCELED"
            purchase.others = [("canceledStateContext", json(("systemInitiatedCancellation", json())))]
            for index in purchase.lines.indices { purchase.lines[index].isRenewing = false }
            Self.raisePrice(&purchase, "OUTSTANDING", at: ends)
        }
        try await notify(3, sold)
    }

    func beginGrace(_ sold: Sold, days: Int64?) async throws {
        guard let ends = purchases[sold.number].lines.first?.ends else { return }
        service.advance(to: ends.adding(seconds: 60))
        change(sold) { purchase in
            purchase.state = "IN_GRACE_PERIOD"
            // "Google Play dynamically extends the expiryTime value": without days, the answer is older than the extension.
            for index in purchase.lines.indices { purchase.lines[index].ends = ends.adding(days: days ?? 0) }
        }
        try await notify(6, sold)
    }

    func beginRetry(_ sold: Sold) async throws {
        guard let line = purchases[sold.number].lines.first, let ends = line.ends else { return }
        service.advance(to: ends.adding(seconds: 60))
        change(sold) { $0.state = "ON_HOLD" }
        try await notify(5, sold)
    }

    func recover(_ sold: Sold) async throws {
        guard let line = purchases[sold.number].lines.first else { return }
        let isInGrace = purchases[sold.number].state == "IN_GRACE_PERIOD"
        // "When a subscription recovers during a grace period, the renewal date does not reset"; on hold, it does.
        try begin(sold, from: isInGrace ? try Day.month(after: line.begins) : now)
        try await notify(isInGrace ? 2 : 1, sold)
    }

    func upgrade(_ sold: Sold, to plan: Plan) async throws {
        try await replace(sold, with: plan, mode: "CHARGE_FULL_PRICE")
    }

    /// Replaces a purchase by a new token, now.
    ///
    /// - Parameters:
    ///   - paid: The amount of the first charge; nil for the whole price.
    ///   - ends: The end of the first period; nil for a month from now.
    ///   - user: Another customer who replaces it.
    ///   - isOldFirst: True if the end of the old token is notified first.
    ///   - isCharged: False if the last order stays that of the replaced item.
    func replace(
        _ sold: Sold, with plan: Plan, basePlan: String = "p1m", price: Int64? = nil, mode: String,
        paid: Int64? = nil, until ends: Timestamp? = nil, by user: String? = nil, isOldFirst: Bool = false,
        isCharged: Bool = true
    ) async throws {
        let (old, begin, mine) = (purchases[sold.number], now, user ?? purchases[sold.number].user)
        let replaced = json(
            ("productId", .string(old.lines.first?.product ?? "")),
            ("basePlanId", .string(old.lines.first?.basePlan ?? "")), ("replacementMode", .string(mode)))
        let token = makeToken()
        var line = Line(
            product: plan.rawValue, basePlan: basePlan, recurringPrice: price ?? plan.price, begins: begin,
            ends: try ends ?? Day.month(after: begin), orders: [makeOrder()], others: [("itemReplacement", replaced)])
        if paid != nil {
            line.phase = "prorationPeriod"
            line.others.append(
                ("offerPhase", json(("prorationPeriod", json(("originalOfferPhaseType", "BASE"))))))
        }
        if isCharged {
            publish(order: line.orders[0], of: token, [(line, paid ?? line.recurringPrice)], at: begin)
        } else {
            line.orders = old.lines.first?.orders ?? []
        }
        play.set(subscription: old.token, answer(Self.replaced(old, at: begin)))
        purchases[sold.number] = Purchase(
            user: mine, token: token, began: begin, account: try await service.accountToken(of: mine),
            linked: old.token, lines: [line])
        publish(sold)
        if isOldFirst { try await service.push(subscriptionNotification(13, old.token)) }
        try await service.push(subscriptionNotification(4, token))
        if !isOldFirst { try await service.push(subscriptionNotification(13, old.token)) }
        try await service.settle()
    }

    /// A token that another one has replaced: expired, by a replacement.
    private static func replaced(_ purchase: Purchase, at moment: Timestamp) -> Purchase {
        var old = purchase
        old.state = "EXPIRED"
        old.others = [("canceledStateContext", json(("replacementCancellation", json())))]
        for index in old.lines.indices {
            old.lines[index].isRenewing = false
            old.lines[index].ends = moment
        }
        return old
    }

    /// States that a purchase was replaced, before the new token is known.
    func stateReplaced(_ sold: Sold) async throws {
        let old = purchases[sold.number]
        play.set(subscription: old.token, answer(Self.replaced(old, at: now)))
        try await service.notify(google: subscriptionNotification(13, old.token))
    }

    func choose(_ plan: Plan, at sold: Sold) async throws { try await choose(plan, at: sold, isOldFirst: false) }

    /// - Parameter isOldFirst: True if the end of the old token is notified first.
    func choose(_ plan: Plan, at sold: Sold, isOldFirst: Bool) async throws {
        let (old, begin) = (purchases[sold.number], now)
        guard var line = old.lines.first else { return }
        // "two line items": the old one is not renewed and names the product, the new one has no expiryTime.
        line.isRenewing = false
        line.others = [("deferredItemReplacement", json(("productId", .string(plan.rawValue))))]
        let next = Line(product: plan.rawValue, recurringPrice: plan.price, begins: begin)
        play.set(subscription: old.token, answer(Self.replaced(old, at: begin)))
        purchases[sold.number] = Purchase(
            user: old.user, token: makeToken(), began: begin, account: old.account, linked: old.token,
            lines: [line, next], next: plan)
        publish(sold)
        let told = [(Int64(4), purchases[sold.number].token), (13, old.token)]
        for (type, token) in isOldFirst ? told.reversed() : told {
            try await service.push(subscriptionNotification(type, token))
        }
        try await service.settle()
    }

    func refund(_ sold: Sold, half: Bool) async throws {
        let purchase = purchases[sold.number]
        guard let line = purchase.lines.first, let order = line.orders.last else { return }
        refund(order: order, half ? line.recurringPrice / 2 : line.recurringPrice, isWhole: !half)
        void(order, of: purchase.token)
        try await revoke(sold)
        try await notifyVoided(order, purchase.token, productType: 1, refundType: 1)
    }

    /// Ends a subscription now (`subscriptionsv2.revoke`).
    func revoke(_ sold: Sold) async throws {
        let moment = now
        change(sold) { purchase in
            purchase.state = "EXPIRED"
            purchase.others = [("canceledStateContext", json(("developerInitiatedCancellation", json())))]
            for index in purchase.lines.indices {
                purchase.lines[index].isRenewing = false
                purchase.lines[index].ends = moment
            }
        }
        try await notify(12, sold)
    }

    func refundEarlier(_ sold: Sold) async throws {
        let purchase = purchases[sold.number]
        guard let line = purchase.lines.first, line.orders.count > 1 else { return }
        // The list of voided purchases names the order: "orderId … uniquely identifies … renewals" of one token.
        let order = line.orders[line.orders.count - 2]
        refund(order: order, line.recurringPrice, isWhole: true)
        void(order, of: purchase.token)
        try await notifyVoided(order, purchase.token, productType: 1, refundType: 1)
    }

    /// Pays the last charge back and leaves the goods (`orders.refund` without `revoke`). Such a refund is not among the voided purchases,
    /// and no notification tells of it.
    func payBack(_ sold: Sold) async throws {
        guard let line = purchases[sold.number].lines.first, let order = line.orders.last else { return }
        try await payBack(sold, order: order, line.recurringPrice)
    }

    /// Pays a charge back and leaves the subscription.
    ///
    /// - Parameter number: That of the charge, of which 0 is the first one.
    func payBack(_ sold: Sold, charge number: Int) async throws {
        let line = purchases[sold.number].lines[0]
        try await payBack(sold, order: line.orders[number], line.recurringPrice)
    }

    /// Google Play does not show an order any more.
    func forget(_ sold: Sold, charge number: Int) { play.forget(order: purchases[sold.number].lines[0].orders[number]) }

    /// Google Play does not know the token any more, as that of a consumed product. The order stays.
    func forgetToken(of sold: Sold) { play.fail(purchases[sold.number].token, (404, "purchaseTokenNotFound")) }

    /// Pays half of the last charge back and leaves the goods.
    func payHalfBack(_ sold: Sold) async throws {
        guard let line = purchases[sold.number].lines.first, let order = line.orders.last else { return }
        try await payBack(sold, order: order, line.recurringPrice / 2, isWhole: false)
    }

    private func payBack(_ sold: Sold, order: String, _ amount: Int64, isWhole: Bool = true) async throws {
        refund(order: order, amount, isWhole: isWhole)
        try await service.settle()
        // A day later the service asks about a purchase by itself.
        service.advance(to: now.adding(days: 1))
        try await service.settle()
    }

    func resubscribe(_ sold: Sold) async throws {
        let (old, begin) = (purchases[sold.number], now)
        guard var line = old.lines.first else { return }
        (line.begins, line.ends, line.isRenewing) = (begin, try Day.month(after: begin), true)
        (line.orders, line.others) = ([makeOrder()], [])
        let token = makeToken()
        publish(order: line.orders[0], of: token, [(line, line.recurringPrice)], at: begin)
        // "outOfAppPurchaseContext", no linkedPurchaseToken, and no identifiers of the account.
        let context = json(("expiredPurchaseToken", .string(old.token)))
        purchases[sold.number] = Purchase(
            user: old.user, token: token, began: begin, lines: [line],
            others: [("outOfAppPurchaseContext", context)], isAcknowledged: false)
        try await notify(4, sold)
    }

    // MARK: Other products

    func buy(_ product: OneTime, for user: String, quantity: Int64) async throws -> Sold {
        try await buy(product, for: user, quantity: quantity, state: "PURCHASED", withAccount: false)
    }

    /// - Parameter state: `PURCHASED` or `PENDING`.
    func buy(
        _ product: OneTime, for user: String, quantity: Int64 = 1, state: String, withAccount: Bool
    ) async throws -> Sold {
        let token = makeToken()
        let line = Line(
            product: product.rawValue, recurringPrice: product.price * quantity, begins: now, orders: [makeOrder()])
        let sold = add(
            Purchase(
                user: user, token: token, began: now,
                account: withAccount ? try await service.accountToken(of: user) : nil, lines: [line], state: state,
                product: product, quantity: quantity, refundable: quantity, isPaid: state == "PURCHASED"))
        publish(sold)
        guard state == "PURCHASED" else {
            // The app has the token before it is paid.
            try await present(sold)
            try await service.settle()
            return sold
        }
        publish(order: line.orders[0], of: token, [(line, line.recurringPrice)], at: now)
        _ = try await present(sold).value
        try await notifyProduct(1, sold)
        return sold
    }

    /// Rents a product, which the customer pays later.
    func rent(_ product: OneTime, for period: String) async throws -> Sold {
        let rent = json(
            ("purchaseOptionId", "rent"), ("state", "ACTIVE"),
            ("rentOption", json(("rentalPeriod", .string(period)))))
        play.set(
            catalog: product.rawValue,
            json(("productId", .string(product.rawValue)), ("purchaseOptions", .array([rent]))))
        let sold = try await buy(product, for: "alice", state: "PENDING", withAccount: true)
        let details = json(
            ("purchaseOptionId", "rent"), ("quantity", .integer(1)), ("rentOfferDetails", json()))
        let line = json(("productId", .string(product.rawValue)), ("productOfferDetails", details))
        change(sold) { $0.others = [("productLineItem", .array([line]))] }
        try await pay(sold)
        return sold
    }

    func notifyProduct(_ type: Int64, _ sold: Sold) async throws {
        publish(sold)
        let purchase = purchases[sold.number]
        try await service.notify(
            google: notification(
                "oneTimeProductNotification",
                json(
                    ("version", "1.0"), ("notificationType", .integer(type)),
                    ("purchaseToken", .string(purchase.token)),
                    ("sku", purchase.product.map { .string($0.rawValue) }))))
    }

    /// The customer pays for a pending product.
    func pay(_ sold: Sold) async throws {
        let moment = now
        change(sold) { ($0.state, $0.began, $0.isPaid) = ("PURCHASED", moment, true) }
        let purchase = purchases[sold.number]
        if let line = purchase.lines.first {
            publish(order: line.orders[0], of: purchase.token, [(line, line.recurringPrice)], at: now)
        }
        try await notifyProduct(1, sold)
    }

    func refundProduct(_ sold: Sold) async throws {
        let purchase = purchases[sold.number]
        guard let line = purchase.lines.first, let order = line.orders.last else { return }
        refund(order: order, line.recurringPrice, isWhole: true)
        void(order, of: purchase.token)
        change(sold) { ($0.state, $0.refundable) = ("CANCELLED", 0) }
        publish(sold)
        try await notifyVoided(order, purchase.token, productType: 2, refundType: 1)
    }

    /// Pays some units back.
    func refundUnits(_ units: Int64, of sold: Sold) async throws {
        let purchase = purchases[sold.number]
        guard let order = purchase.lines.first?.orders.last, let product = purchase.product else { return }
        refund(order: order, product.price * units, isWhole: false)
        void(order, of: purchase.token, quantity: units)
        change(sold) { $0.refundable -= units }
        publish(sold)
        try await notifyVoided(order, purchase.token, productType: 2, refundType: 2)
    }

    /// Sells both plans under one token, with one order.
    func subscribeToBoth(_ user: String) async throws -> Sold {
        let (begin, token, order) = (now, makeToken(), makeOrder())
        let lines = try [Plan.basic, .premium].map { plan in
            Line(
                product: plan.rawValue, recurringPrice: plan.price, begins: begin, ends: try Day.month(after: begin),
                orders: [order])
        }
        publish(order: order, of: token, lines.map { ($0, $0.recurringPrice) }, at: begin)
        let sold = add(
            Purchase(
                user: user, token: token, began: begin, account: try await service.accountToken(of: user), lines: lines)
        )
        publish(sold)
        _ = try await present(sold).value
        try await notify(4, sold)
        return sold
    }

    /// Adds an item to a subscription (`ITEMS_CHANGED`), which is charged now until the end of the base's period.
    func addItem(_ plan: Plan, to sold: Sold, paid: Int64) async throws {
        let (purchase, begin) = (purchases[sold.number], now)
        let line = Line(
            product: plan.rawValue, phase: "prorationPeriod", recurringPrice: plan.price, begins: begin,
            ends: purchase.lines.first?.ends, orders: [makeOrder()],
            others: [("offerPhase", json(("prorationPeriod", json(("originalOfferPhaseType", "BASE")))))])
        publish(order: line.orders[0], of: purchase.token, [(line, paid)], at: begin)
        change(sold) { $0.lines.append(line) }
        try await notify(17, sold)
    }

    /// Pays an add-on back and takes it (`revoke` with `itemBasedRefund`): the item leaves the list.
    func refundItem(_ plan: Plan, of sold: Sold) async throws {
        let purchase = purchases[sold.number]
        guard let line = purchase.lines.first(where: { $0.product == plan.rawValue }), let order = line.orders.last
        else { return }
        let isAlone = !purchase.lines.contains { $0.product != plan.rawValue && $0.orders.contains(order) }
        refund(order: order, line.recurringPrice, isWhole: isAlone)
        change(sold) { $0.lines.removeAll { $0.product == plan.rawValue } }
        try await notify(17, sold)
    }

    /// The customer removes an add-on: it stays until its end (`deferredItemRemoval`).
    func removeItem(_ plan: Plan, of sold: Sold) async throws {
        change(sold) { purchase in
            for index in purchase.lines.indices where purchase.lines[index].product == plan.rawValue {
                purchase.lines[index].isRenewing = false
                purchase.lines[index].others = [("deferredItemRemoval", json())]
            }
        }
        try await notify(17, sold)
    }

    /// Pauses at the end of the period.
    func pause(_ sold: Sold, until resume: Timestamp) async throws {
        guard let ends = purchases[sold.number].lines.first?.ends else { return }
        service.advance(to: ends.adding(seconds: 60))
        change(sold) { purchase in
            purchase.state = "PAUSED"
            purchase.others = [("pausedStateContext", json(("autoResumeTime", .date(resume))))]
        }
        try await notify(10, sold)
    }

    /// Moves the next billing date (`subscriptionsv2.defer`).
    func extend(_ sold: Sold, days: Int64) async throws {
        change(sold) { purchase in
            for index in purchase.lines.indices {
                purchase.lines[index].ends = purchase.lines[index].ends?.adding(days: days)
            }
        }
        try await notify(9, sold)
    }

    /// Renews without a notification.
    func renewSilently(_ sold: Sold) async throws {
        guard let ends = purchases[sold.number].lines.first?.ends else { return }
        service.advance(to: ends.adding(seconds: 60))
        try begin(sold, from: ends)
        publish(sold)
        // The service asks five minutes after the end.
        service.advance(to: ends.adding(seconds: 600))
        try await service.settle()
    }

    /// Answers once with an error about the token of a purchase.
    func answerWrongly(_ sold: Sold, status: Int, reason: String) async throws {
        let token = purchases[sold.number].token
        play.fail(token, (status, reason))
        _ = try? await service.push(subscriptionNotification(2, token))
        play.fail(token, nil)
        try await service.settle()
    }

    /// Refuses the orders, as to a service account without "View financial data".
    func refuseOrders() { play.fail("/orders", (401, "permissionDenied")) }

    /// Lists the last charge as voided, by a chargeback. The answer still says that it is paid.
    func chargeBack(_ sold: Sold) async throws {
        let purchase = purchases[sold.number]
        guard let line = purchase.lines.first, let order = line.orders.last else { return }
        refund(order: order, line.recurringPrice, isWhole: true)
        void(order, of: purchase.token)
        try await notifyVoided(order, purchase.token, productType: 1, refundType: 1)
    }

    /// Presents a token that another one has replaced.
    func presentReplaced(_ sold: Sold) async throws {
        let purchase = purchases[sold.number]
        guard let linked = purchase.linked else { return }
        _ = try await service.redeem(json(("purchaseToken", .string(linked))), for: purchase.user)
        try await service.settle()
    }

    /// Buys a subscription whose payment is pending.
    func subscribePending(_ user: String, to plan: Plan) async throws -> Sold {
        let line = Line(product: plan.rawValue, recurringPrice: plan.price, begins: now)
        let sold = add(
            Purchase(
                user: user, token: makeToken(), began: now, account: try await service.accountToken(of: user),
                lines: [line], state: "PENDING", isAcknowledged: false))
        publish(sold)
        try await present(sold)
        try await service.settle()
        return sold
    }

    /// Extends a prepaid plan with a new token, which names the one before.
    func topUp(_ sold: Sold) async throws {
        let (old, begin) = (purchases[sold.number], now)
        guard var line = old.lines.first, let ends = line.ends else { return }
        (line.begins, line.ends, line.orders) = (ends, try Day.month(after: ends), [makeOrder()])
        let token = makeToken()
        publish(order: line.orders[0], of: token, [(line, line.recurringPrice)], at: begin)
        // "canceled_state_context: Not present for prepaid plans".
        var ended = Self.replaced(old, at: begin)
        ended.others = []
        play.set(subscription: old.token, answer(ended))
        purchases[sold.number] = Purchase(
            user: old.user, token: token, began: begin, account: old.account, linked: old.token, lines: [line])
        try await notify(4, sold)
    }
}
