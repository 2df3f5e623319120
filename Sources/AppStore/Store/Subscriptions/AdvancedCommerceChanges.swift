import Catalog
import HTTPSupport
import Proofs

/// Changes of a subscription that the developer's server described: by a request in the app, by the Advanced Commerce API, and by the
/// customer's consent to higher prices of items.
extension CustomerSubscription {
    /// The content of the next period; nil for a product of the store.
    var renewalCharge: AdvancedCommerceCharge? { advancedCommerceRenewal ?? advancedCommerceCharge }

    /// Changes the content of the next period. A product of the store has none.
    mutating func changeRenewalContent(_ change: (inout AdvancedCommerceCharge) -> Void) {
        guard var next = renewalCharge else { return }
        for index in next.items.indices { next.items[index].paid = nil }
        change(&next)
        advancedCommerceRenewal = next
    }

    /// Begins the content of the next period, unless it is a product of the store. Prices that are scheduled for a later one stay so.
    mutating func beginRenewalContent() {
        guard var present = renewalCharge else { return }
        var next = present
        for index in present.items.indices {
            (present.items[index].paid, present.items[index].priceIncrease) = (nil, nil)
            if next.items[index].priceIncrease?.status != .scheduled { next.items[index].priceIncrease = nil }
            next.items[index].paid = nil
            next.items[index].endPeriodOfOffer()
        }
        (advancedCommerceCharge, advancedCommerceRenewal) = (present, next == present ? nil : next)
    }

    /// Tells the customer of the scheduled prices. As in Apple's sandbox, the first renewal after the request still has the old ones
    /// (Advanced Commerce API, "Handling subscription price changes").
    mutating func announceItemPrices() -> [SubscriptionEffect] {
        guard let next = advancedCommerceRenewal,
            next.items.contains(where: { $0.priceIncrease?.status == .scheduled })
        else { return [] }
        changeRenewalContent { next in
            for index in next.items.indices {
                guard var increase = next.items[index].priceIncrease, increase.status == .scheduled else { continue }
                increase.status = increase.needsConsent ? .pending : .accepted
                (next.items[index].price, next.items[index].priceIncrease) = (increase.price, increase)
            }
        }
        guard let announced = renewalCharge else { return [] }
        let isPending = announced.items.contains { $0.priceIncrease?.status == .pending }
        priceIncrease = PriceIncrease(price: announced.price, isAccepted: !isPending)
        return [.notify(.priceIncrease, isPending ? .pending : .accepted)]
    }

    mutating func acceptItemPrices() {
        guard advancedCommerceRenewal != nil else { return }
        changeRenewalContent { next in
            for index in next.items.indices where next.items[index].priceIncrease?.status == .pending {
                next.items[index].priceIncrease?.status = .accepted
            }
        }
    }

    /// Ends the items to whose price the customer has not consented, and those that depend on them.
    ///
    /// - Returns: False if no item is left, or if the subscription has none.
    @discardableResult
    mutating func dropUnacceptedItems() -> Bool {
        let refused = (renewalCharge?.items ?? []).filter { $0.priceIncrease?.status == .pending }
        let ended = Set(refused.map(\.sku)).union(refused.flatMap { $0.priceIncrease?.dependentSKUs ?? [] })
        guard !ended.isEmpty, renewalCharge?.items.contains(where: { !ended.contains($0.sku) }) ?? false else {
            return false
        }
        changeRenewalContent { $0.items.removeAll { ended.contains($0.sku) } }
        priceIncrease = nil
        return true
    }

    /// The part of an amount for the rest of the present period.
    private func prorated(_ amount: Int64, _ terms: SubscriptionTerms) -> Int64 {
        amount.prorated(from: terms.now, in: periodStartDate, until: expiresDate)
    }

    /// Changes the items, the period and the descriptors, as the customer has agreed to in the app.
    ///
    /// Items that begin at once are charged for the rest of the period if the billing cycle stays, else for a whole new period, and the
    /// items that they replace are paid back for the rest (Advanced Commerce API, `SubscriptionModifyInAppRequest`, `refundReason` MODIFY_ITEMS_REFUND).
    ///
    /// - Parameters:
    ///   - charge: The request.
    ///   - generic: The generic product of the catalog.
    /// - Throws: `PaymentFailure` if the subscription does not have the items, or is not active.
    mutating func modify(
        _ change: AdvancedCommerceChange.Modification,
        by charge: AdvancedCommerceCharge,
        _ generic: Product,
        _ terms: SubscriptionTerms
    ) throws(PaymentFailure) -> [SubscriptionEffect] {
        let failure = PaymentFailure(error: .paymentInvalid)
        guard state == .subscribed, var present = advancedCommerceCharge, var next = renewalCharge,
            case let standard = present.items.map(\.sku) + next.items.map(\.sku),
            Set(standard).isDisjoint(with: change.added.map(\.sku))
        else { throw failure }
        let isReset = !change.retainsBillingCycle
        func remove(_ sku: String, from content: inout AdvancedCommerceCharge) throws(PaymentFailure) {
            guard let index = content.items.firstIndex(where: { $0.sku == sku }) else { throw failure }
            content.items.remove(at: index)
        }
        func put(_ item: AdvancedCommerceChange.Item, for sku: String, in content: inout AdvancedCommerceCharge)
            throws(PaymentFailure)
        {
            guard let index = content.items.firstIndex(where: { $0.sku == sku }),
                // Apple: PriceChangeNotSupportedThroughModifyItems.
                item.sku != sku || item.price == content.items[index].price || change.period != nil
            else { throw failure }
            content.items[index] = item
        }
        for index in present.items.indices { present.items[index].paid = 0 }
        for sku in change.removed {
            try remove(sku, from: &next)
            if isReset { try remove(sku, from: &present) }
        }
        for replacement in change.replaced {
            try put(replacement.item, for: replacement.currentSKU, in: &next)
            guard replacement.isImmediate else { continue }
            var item = replacement.item
            item.paid = item.paid ?? prorated(item.price, terms)
            try put(item, for: replacement.currentSKU, in: &present)
        }
        for item in change.added {
            var added = item
            added.paid = item.paid ?? prorated(item.price, terms)
            present.items.append(added)
            next.items.append(item)
        }
        // Apple: MissingUpdatedItemsWithPeriodChange, RemovalAllNotAllowed.
        let updated = Set(change.added.map(\.sku) + change.replaced.map(\.item.sku))
        guard change.period == nil || next.items.allSatisfy({ updated.contains($0.sku) }), !next.items.isEmpty,
            [present, next].allSatisfy(\.isForSale)
        else { throw failure }
        next.terms?.describe(by: change)
        if change.describesAtOnce { present.terms?.describe(by: change) }
        if let period = change.period {
            next.terms?.period = period
            if isReset { present.terms?.period = period }
        }
        present.requestReferenceIdentifier = charge.requestReferenceIdentifier
        next.requestReferenceIdentifier = charge.requestReferenceIdentifier
        if let taxCode = change.taxCode { (present.taxCode, next.taxCode) = (taxCode, taxCode) }
        (advancedCommerceCharge, advancedCommerceRenewal) = (present, next)
        changeRenewalContent { _ in }
        if !next.items.contains(where: { $0.priceIncrease.map { $0.status != .scheduled } ?? false }) {
            priceIncrease = nil
        }
        // A modification subscribes again ("Handling subscription price changes").
        (isAutoRenewing, hasDeclinedPriceIncrease) = (true, false)
        if isReset { return try beginAnew(generic, terms) }
        let replaced = change.replaced.filter(\.isImmediate).map(\.currentSKU)
        guard !change.added.isEmpty || !replaced.isEmpty, let paid = advancedCommerceCharge?.price else {
            // The present transaction keeps the amounts that it has charged.
            for index in present.items.indices { advancedCommerceCharge?.items[index].paid = nil }
            return [.notify(.didChangeRenewalPref, .downgrade)]
        }
        return [
            .refundRest(ofItems: replaced), .markUpgraded,
            .charge(
                SubscriptionCharge(
                    productIdentifier: productIdentifier, quantity: 1, seats: nil, price: paid, offer: nil,
                    reason: .purchase, startDate: terms.now, expiresDate: expiresDate, billingPlanType: nil,
                    commitment: nil)),
            .notify(.didChangeRenewalPref, .upgrade),
        ]
    }

    /// Begins another period with the content of the next one.
    private mutating func beginAnew(
        _ generic: Product,
        _ terms: SubscriptionTerms
    ) throws(PaymentFailure) -> [SubscriptionEffect] {
        // A price that was not applied yet belongs to the former billing cycle ("Handling subscription price changes").
        changeRenewalContent { next in
            for index in next.items.indices { next.items[index].priceIncrease = nil }
        }
        priceIncrease = nil
        beginRenewalContent()
        guard let product = advancedCommerceCharge?.describing(generic), let subscription = product.subscription else {
            throw PaymentFailure(error: .paymentInvalid)
        }
        dayOfMonth = terms.now.dayOfMonth
        let charge = begin(
            product, subscription, seats: 1, billed: .upFront, offer: nil, reason: .purchase, at: terms.now, terms)
        return [
            .refundRest(ofItems: nil), .markUpgraded, .charge(charge), .notify(.didChangeRenewalPref, .upgrade),
        ]
    }

    /// The same subscription as one that the developer's server describes. Apple names no prices of items: the first one has the whole.
    ///
    /// - Parameters:
    ///   - charge: The content, without prices and periods.
    ///   - identifier: The new original transaction.
    /// - Returns: Nil for one that is billed otherwise: with seats, under a commitment or an offer, or after a failed charge.
    func migrated(
        to product: String,
        in group: String,
        as charge: (present: AdvancedCommerceCharge, next: AdvancedCommerceCharge?),
        under identifier: String,
        _ terms: SubscriptionTerms
    ) -> CustomerSubscription? {
        guard state == .subscribed, ownership == .purchased, commitment == nil, quantity == 1, renewalQuantity == 1,
            offer?.periodsLeft ?? 0 == 0, nextOffer == nil, autoRenewBillingPlanType == .upFront,
            let present = terms.product(productIdentifier), let next = terms.product(nextProductIdentifier)
        else { return nil }
        func content(_ content: AdvancedCommerceCharge, _ product: Product) -> AdvancedCommerceCharge {
            var content = content
            if let period = product.subscription?.period { content.terms?.period = period }
            let agreed = product.productIdentifier == productIdentifier ? agreedPrice : nil
            for index in content.items.indices.prefix(1) {
                content.items[index].price = (agreed ?? product.price).milliunits
            }
            return content
        }
        var migrated = self
        (migrated.originalTransactionIdentifier, migrated.groupIdentifier) = (identifier, group)
        migrated.previousOriginalTransactionIdentifier = originalTransactionIdentifier
        (migrated.productIdentifier, migrated.autoRenewProductIdentifier) = (product, product)
        (migrated.agreedPrice, migrated.agreedStorefront, migrated.offer) = (nil, nil, nil)
        var described = content(charge.present, present)
        migrated.advancedCommerceRenewal = content(charge.next ?? charge.present, next)
        // The former transaction has charged the period.
        for index in described.items.indices { described.items[index].paid = 0 }
        migrated.advancedCommerceCharge = described
        return migrated
    }

    /// Ends items of the present and the next period.
    ///
    /// - Returns: False, without a change, if no item would be left.
    mutating func drop(_ skus: [String]) -> Bool {
        guard let present = advancedCommerceCharge, let next = renewalCharge,
            next.items.contains(where: { !skus.contains($0.sku) }),
            present.items.contains(where: { !skus.contains($0.sku) })
        else { return false }
        advancedCommerceCharge?.items.removeAll { skus.contains($0.sku) }
        if advancedCommerceRenewal != nil { changeRenewalContent { $0.items.removeAll { skus.contains($0.sku) } } }
        return true
    }

    /// Turns automatic renewal on again (Advanced Commerce API, `SubscriptionReactivateInAppRequest`).
    ///
    /// - Parameter skus: The items that renew; nil for all.
    mutating func reactivate(_ skus: [String]?) throws(PaymentFailure) -> [SubscriptionEffect] {
        guard state == .subscribed, !isAutoRenewing, let present = advancedCommerceCharge, let next = renewalCharge
        else {
            throw PaymentFailure(error: .paymentInvalid)
        }
        if let skus {
            let known = next.items + present.items.filter { item in !next.items.contains { $0.sku == item.sku } }
            let renewing = known.filter { skus.contains($0.sku) }
            guard !renewing.isEmpty, renewing.count == skus.count else { throw PaymentFailure(error: .paymentInvalid) }
            changeRenewalContent { $0.items = renewing }
        }
        isAutoRenewing = true
        hasDeclinedPriceIncrease = false
        return [.notify(.didChangeRenewalStatus, .autoRenewEnabled)]
    }
}

extension AdvancedCommerceCharge {
    /// The prices of an item and of all items, in milliunits. The prices of a StoreKit configuration are in this range, too.
    static let prices: ClosedRange<Int64> = 0...999_999_999_999

    /// True if the items are different, and cost no more together than the store can charge.
    var isForSale: Bool {
        var total: Int64 = 0
        for item in items where Self.prices.contains(total) { total += item.price }
        return Self.prices.contains(total) && Set(items.map(\.sku)).count == items.count
    }
}

extension AdvancedCommerceCharge {
    /// The content of the period after the first one; nil if it is the same.
    var second: AdvancedCommerceCharge? {
        var next = self
        for index in next.items.indices { next.items[index].endPeriodOfOffer() }
        return next == self ? nil : next
    }
}

extension AdvancedCommerceCharge.Item {
    /// Counts a period of the offer, which ends with its last one.
    fileprivate mutating func endPeriodOfOffer() {
        guard var current = offer else { return }
        current.periodsLeft -= 1
        offer = current.periodsLeft > 0 ? current : nil
    }
}

extension AdvancedCommerceCharge.Terms {
    fileprivate mutating func describe(by change: AdvancedCommerceChange.Modification) {
        displayName = change.displayName ?? displayName
        description = change.description ?? description
    }
}

extension Int64 {
    /// The part of an amount for the rest of a period, rounded down.
    func prorated(from now: Timestamp, in start: Timestamp, until end: Timestamp) -> Int64 {
        let length = end.millisecondsSince1970 - start.millisecondsSince1970
        let rest = Swift.min(Swift.max(0, end.millisecondsSince1970 - now.millisecondsSince1970), length)
        return length > 0 ? length.dividingFullWidth(multipliedFullWidth(by: rest)).quotient : 0
    }
}

extension Books {
    /// Changes the customer's subscription as a request in the app describes.
    ///
    /// - Returns: The latest transaction of the subscription.
    /// - Throws: `PaymentFailure` for another customer's subscription, and for a change that it does not allow.
    func change(by change: AdvancedCommerceChange, _ payment: Payment, account: String) throws -> Transaction {
        guard let charge = payment.advancedCommerceCharge,
            let named = try transactions.transaction(change.transactionIdentifier), named.account == account,
            var subscription = try subscriptionOrNone(of: named),
            subscription.productIdentifier == payment.productIdentifier,
            let generic = configuration.product(payment.productIdentifier)
        else { throw PaymentFailure(error: .paymentInvalid) }
        let effects =
            switch change.kind {
            case .modification(let modification):
                try subscription.modify(modification, by: charge, generic, try terms(of: account))
            case .reactivation(let skus): try subscription.reactivate(skus)
            }
        subscription.appAccountToken = payment.appAccountToken ?? subscription.appAccountToken
        try record(subscription, effects)
        guard let latest = try transactions.latest(original: subscription.originalTransactionIdentifier) else {
            throw StoreError.saleNotFound(change.transactionIdentifier)
        }
        return latest
    }

    /// Pays back the rest of what the transactions of the present period have charged for items that end now.
    func refundRest(of subscription: CustomerSubscription, items skus: [String]?) throws {
        let now = try now(of: subscription.account)
        for var transaction in try transactions.transactions(original: subscription.originalTransactionIdentifier) {
            guard transaction.revocation == nil, let end = transaction.expiresDate, end > now,
                var charge = transaction.advancedCommerceCharge
            else { continue }
            for index in charge.items.indices where charge.items[index].revokedAt == nil {
                guard skus?.contains(charge.items[index].sku) ?? true else { continue }
                let amount = charge.items[index].refundable.prorated(
                    from: now, in: transaction.purchaseDate, until: end)
                charge.items[index].revokedAt = now
                guard amount > 0 else { continue }
                charge.items[index].refund(amount, for: "MODIFY_ITEMS_REFUND", as: .prorated, at: now)
            }
            transaction.advancedCommerceCharge = charge
            try transactions.update(transaction)
        }
    }
}

/// The extent of a refund (Advanced Commerce API, `refundType`).
package enum AdvancedCommerceRefundType: String, Hashable, Sendable, Codable {
    case full = "FULL"
    case prorated = "PRORATED"
    case custom = "CUSTOM"
}

/// A refund that the developer's server requests (Advanced Commerce API, `RequestRefundRequest` and `SubscriptionRevokeRequest`).
package struct AdvancedCommerceRefundRequest: Hashable, Sendable, Codable {
    struct Item: Hashable, Sendable, Codable {
        let sku: String
        let type: AdvancedCommerceRefundType
        /// In milliunits; nil unless the type is custom.
        let amount: Int64?
        let reason: String
        let isRevoked: Bool
    }

    /// Nil for all items of the subscription, which ends.
    let items: [Item]?
    /// The type of all items of a subscription that ends.
    let type: AdvancedCommerceRefundType
    let reason: String

    var endsSubscription: Bool { items == nil }
}

extension Transaction {
    /// True for a transaction of a subscription that has paid for a time after a moment.
    func isPaid(after moment: Timestamp) -> Bool { revocation == nil && expiresDate.map { $0 > moment } ?? false }

    /// The transaction after a refund. If no item is left, it is revoked.
    func refunding(_ request: AdvancedCommerceRefundRequest, at now: Timestamp) -> Transaction {
        var refunded = self
        refunded.advancedCommerceRefund = nil
        guard var charge = advancedCommerceCharge else { return refunded }
        for index in charge.items.indices where charge.items[index].revokedAt == nil {
            let item = charge.items[index]
            let named = request.items.map { $0.first { $0.sku == item.sku } } ?? nil
            guard named != nil || request.endsSubscription else { continue }
            let type = named?.type ?? request.type
            let amount = named?.amount ?? item.refundableAmount(type, of: self, at: now)
            if amount > 0 {
                charge.items[index].refund(amount, for: named?.reason ?? request.reason, as: type, at: now)
            }
            if named?.isRevoked ?? true { charge.items[index].revokedAt = now }
        }
        refunded.advancedCommerceCharge = charge
        guard charge.items.allSatisfy({ $0.revokedAt != nil }) else { return refunded }
        let isFull = charge.items.allSatisfy { $0.refundable == 0 }
        let isIssue = ["FULFILLMENT_ISSUE", "UNSATISFIED_WITH_PURCHASE"].contains(request.reason)
        refunded.revoke(
            isFull ? .refundFull : .refundProrated, for: isIssue ? .refundedDueToIssue : .refundedForOtherReason,
            at: now)
        return refunded
    }
}

extension AdvancedCommerceCharge {
    /// Pays back what is left of each item.
    mutating func refundRest(for reason: RevocationReason, at now: Timestamp) {
        for index in items.indices where items[index].refundable > 0 {
            items[index].refund(
                items[index].refundable, for: reason == .refundedDueToIssue ? "FULFILLMENT_ISSUE" : "OTHER",
                as: .full, at: now)
        }
    }
}

extension AdvancedCommerceCharge.Item {
    /// The amount that the transaction has charged and not paid back.
    var refundable: Int64 { charged - (refunds ?? []).reduce(0) { $0 + $1.amount } }

    /// The amount that a refund of the type pays back.
    func refundableAmount(
        _ type: AdvancedCommerceRefundType, of transaction: Transaction, at now: Timestamp
    ) -> Int64 {
        guard type == .prorated, let end = transaction.expiresDate else { return refundable }
        return refundable.prorated(from: now, in: transaction.purchaseDate, until: end)
    }

    mutating func refund(
        _ amount: Int64, for reason: String, as type: AdvancedCommerceRefundType, at now: Timestamp
    ) {
        let refund = AdvancedCommerceCharge.Refund(amount: amount, date: now, reason: reason, type: type.rawValue)
        refunds = (refunds ?? []) + [refund]
    }
}
