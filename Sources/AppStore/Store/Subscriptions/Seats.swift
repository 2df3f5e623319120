import Catalog
import Proofs

/// The seats of a paid period of a subscription, or those that were added to it (App Store Server API, `TransactionMultiSeatInfo`).
package struct Seats: Hashable, Sendable, Codable {
    /// The possible numbers of seats of a subscription. Apple documents no limit.
    package static let quantities = 1...1000

    package let invitationManagement: InvitationManagement
    /// The seats at each price, the first seats first. No tier is empty.
    package let priceTiers: [MultiSeatPriceTier]
    /// The number of refunded seats. The transaction is valid for the others.
    package internal(set) var revokedQuantity = 0

    /// The price of all seats, in milliunits of the currency.
    var amount: Int64 { priceTiers.reduce(0) { $0 + $1.price * $1.quantity } }

    /// The average price of a seat, rounded down, in milliunits of the currency.
    var averagePrice: Int64 { amount / max(1, priceTiers.reduce(0) { $0 + $1.quantity }) }

    /// The seats at the prices of a part of the period, each rounded down.
    fileprivate func prorated(_ part: Int64, of whole: Int64) -> Seats {
        let tiers = priceTiers.map { tier in
            let price = max(1, whole).dividingFullWidth(tier.price.multipliedFullWidth(by: min(part, whole))).quotient
            return MultiSeatPriceTier(price: price, quantity: tier.quantity)
        }
        return Seats(invitationManagement: invitationManagement, priceTiers: tiers)
    }
}

extension Product {
    /// Some seats of the subscription; nil for a subscription of one seat without price tiers, which states no seats.
    ///
    /// - Parameters:
    ///   - present: The number of seats that the customer has already. They fill the first price tiers.
    ///   - price: The price of each seat; nil for the catalog's price tiers.
    func seats(_ quantity: Int, after present: Int = 0, at price: Price?) -> Seats? {
        guard let multiSeat = subscription?.multiSeat, multiSeat.isEnabled,
            present + quantity > 1 || !multiSeat.priceTiers.isEmpty
        else { return nil }
        var bands = [(first: 1, price: (price ?? self.price).milliunits)]
        if price == nil { bands += multiSeat.priceTiers.map { ($0.minimumQuantity, $0.price.milliunits) } }
        var tiers: [MultiSeatPriceTier] = []
        for (index, band) in bands.enumerated() {
            let last = index + 1 < bands.count ? bands[index + 1].first - 1 : Int.max
            let count = min(last, present + quantity) - max(band.first - 1, present)
            if count > 0 { tiers.append(MultiSeatPriceTier(price: band.price, quantity: Int64(count))) }
        }
        return Seats(invitationManagement: multiSeat.invitationManagement, priceTiers: tiers)
    }
}

extension Transaction {
    /// The amount charged: the price of all seats, or of the whole quantity of another product; 0 for a member of a family or with a seat.
    package var amount: Price {
        guard ownership == .purchased else { return Price(milliunits: 0, currency: price.currency) }
        return seats.map { Price(milliunits: $0.amount, currency: price.currency) } ?? price
    }

    /// The quantity without the seats that were refunded.
    package var remainingQuantity: Int { quantity - (seats?.revokedQuantity ?? 0) }
}

/// The number of seats, which the customer decides. More seats begin at once, and fewer at the next renewal (App Store Server API,
/// `renewalQuantity`).
extension CustomerSubscription {
    /// The number of seats of the next period of a product.
    func nextQuantity(of product: Product) -> Int {
        product.subscription?.multiSeat.isEnabled == true ? renewalQuantity : 1
    }

    /// Changes the number of seats.
    ///
    /// - Parameter total: The number of seats after the change. If it is greater than the present number, the others are charged now.
    package mutating func changeSeats(
        to total: Int,
        _ terms: SubscriptionTerms
    ) throws(StoreError) -> [SubscriptionEffect] {
        guard Seats.quantities.contains(total) else {
            let (least, most) = (Seats.quantities.lowerBound, Seats.quantities.upperBound)
            throw .invalidAction("A subscription has \(least) to \(most) seats, not \(total).")
        }
        guard state == .subscribed, isAutoRenewing else { throw invalid("does not renew, so its seats cannot change") }
        guard commitment == nil else {
            throw invalid("is billed monthly under a commitment, with which the store sells no seats")
        }
        guard let product = product(productIdentifier, terms), product.subscription?.multiSeat.isEnabled == true else {
            throw invalid("has one seat, because its product is not sold with seats")
        }
        if total > quantity { return addSeats(upTo: total, of: product, terms) }
        guard total != renewalQuantity else { return [] }
        let subtype: Subtype = total > renewalQuantity ? .increaseQuantity : .decreaseQuantity
        renewalQuantity = total
        return [.notify(.didChangeRenewalPref, subtype)]
    }

    /// Adds seats for the rest of the period, at its prices.
    mutating func addSeats(upTo total: Int, of product: Product, _ terms: SubscriptionTerms) -> [SubscriptionEffect] {
        let added = total - quantity
        let price = offer.map { $0.offer.price ?? Price(milliunits: 0, currency: terms.currency) } ?? agreedPrice
        let rest = expiresDate.millisecondsSince1970 - terms.now.millisecondsSince1970
        let length = expiresDate.millisecondsSince1970 - periodStartDate.millisecondsSince1970
        guard let seats = product.seats(added, after: quantity, at: price)?.prorated(max(0, rest), of: length) else {
            return []
        }
        (quantity, renewalQuantity) = (total, total)
        let charge = SubscriptionCharge(
            productIdentifier: productIdentifier, quantity: added, seats: seats,
            price: Price(milliunits: seats.averagePrice, currency: terms.currency), offer: offer?.offer,
            reason: .purchase, startDate: terms.now, expiresDate: expiresDate,
            billingPlanType: product.subscription?.billingPlans.isEmpty == false ? .upFront : nil, commitment: nil)
        return [.addSeats(charge), .notify(.didChangeRenewalPref, .increaseQuantity)]
    }

    /// Changes the number of seats after a refund, or after its reversal. The refunded seats do not renew.
    mutating func setSeats(_ remaining: Int) {
        guard remaining > 0 else { return }
        renewalQuantity = max(1, renewalQuantity + remaining - quantity)
        quantity = remaining
    }
}

extension Books {
    /// Records seats that were added to the present period. From now on, each transaction of the period states that there are several.
    func addSeats(_ charge: SubscriptionCharge, to subscription: CustomerSubscription) throws {
        try changePeriod(of: subscription) { $0.additionalReason = .seatAddition }
        let present = try transactions.latest(original: subscription.originalTransactionIdentifier)
        var added = try transaction(for: charge, of: subscription)
        added.webOrderLineItemIdentifier = present?.webOrderLineItemIdentifier
        added.additionalReason = .seatAddition
        try transactions.add(added)
    }

    /// Changes the number of seats as the customer does. The payment queue gets the transaction of added seats.
    func changeSeats(of transactionIdentifier: String, to total: Int) throws {
        var subscription = try purchasedSubscription(with: transactionIdentifier)
        try throwSimulatedError(.manageSubscriptionsSheet)
        let quantity = subscription.quantity
        let effects = try subscription.changeSeats(to: total, terms)
        try record(subscription, effects)
        if total > quantity,
            let added = try transactions.latest(original: subscription.originalTransactionIdentifier)
        {
            try payments.add(added, .purchased)
        }
    }
}

extension Seats {
    /// The seats of a signed transaction.
    var statement: StatementFields {
        [
            "invitationManagement": invitationManagement.rawValue, "priceTiers": priceTiers,
            "revokedSeatQuantity": revokedQuantity > 0 ? revokedQuantity : nil,
        ]
    }

    /// The seats of signed renewal information (App Store Server API, `RenewalMultiSeatInfo`).
    var renewalStatement: StatementFields { ["renewalPriceTiers": priceTiers] }
}

extension MultiSeatPriceTier: StatementValue {
    var json: JSONValue { (["price": price, "quantity": quantity] as StatementFields).json }
}

/// A member's seat in the subscription of a purchaser, by Apple's invitation.
///
/// Each member has an own transaction for each period (`ASSIGNED`), and a subscription that follows the purchaser's until the seat ends.
extension CustomerSubscription {
    /// The seat of a member at the state of this subscription.
    ///
    /// - Parameters:
    ///   - original: The member's own original transaction.
    ///   - start: The date on which the member got the seat.
    func seat(original: String, account: String, since start: Timestamp) -> CustomerSubscription {
        var seat = followed(by: account, as: .assigned, originalTransactionIdentifier: original)
        seat.startDate = start
        return seat
    }
}

extension SubscriptionEffect {
    /// The effect on a member's seat; nil if it concerns the purchaser alone.
    fileprivate var onSeat: SubscriptionEffect? {
        switch self {
        case .charge, .markUpgraded, .setExpiresDate: self
        case .addSeats, .refundRest: nil
        case .notify(.didChangeRenewalPref, .upgrade), .notify(.offerRedeemed, .upgrade):
            .notify(.didChangeRenewalPref, .upgrade)
        case .notify(let type, _):
            switch type {
            case .didRenew, .didFailToRenew, .gracePeriodExpired, .expired, .renewalExtended: self
            default: nil
            }
        }
    }

    fileprivate var isRenewal: Bool { if case .charge(let charge) = self { charge.reason == .renewal } else { false } }
}

extension Books {
    /// True if a member can accept Apple's invitation to a seat.
    func hasFreeSeat(in subscription: CustomerSubscription) throws -> Bool {
        try paidSeats(of: subscription) != nil
            && subscriptions.seats(of: subscription.originalTransactionIdentifier).count < subscription.quantity
    }

    /// The transaction of the present period that states its seats; nil if Apple invites nobody to them.
    private func paidSeats(of subscription: CustomerSubscription) throws -> Transaction? {
        let original = subscription.originalTransactionIdentifier
        // Most subscriptions have one seat, and many periods.
        guard subscription.isEntitled, subscription.ownership == .purchased,
            try transactions.latest(original: original)?.seats?.invitationManagement == .apple
        else { return nil }
        return try presentPeriod(of: subscription).first { $0.seats != nil && $0.revocation == nil }
    }

    /// Gives a seat to a member who accepts Apple's invitation. The member's transaction repeats the purchaser's seats and prices, and is in
    /// the member's payment queue.
    func acceptInvitation(to transactionIdentifier: String, by member: String) throws {
        try Store.check(account: member)
        let purchase = try purchasedSubscription(with: transactionIdentifier)
        guard let paid = try paidSeats(of: purchase) else {
            throw purchase.invalid("has no seats to which Apple invites now")
        }
        guard try hasFreeSeat(in: purchase) else {
            throw purchase.invalid("has no free seat: members have all \(purchase.quantity)")
        }
        let known = try subscriptions.seat(of: member, group: purchase.groupIdentifier)
        guard member != purchase.account, known?.hasEnded != false else {
            throw StoreError.invalidAction(
                "\"\(member.prefix(100))\" has the subscription, or a seat in the same group, already. Name another account."
            )
        }
        let seat = purchase.seat(
            original: known?.originalTransactionIdentifier ?? newTransactionIdentifier(), account: member, since: now)
        var seats = paid.seats
        seats?.revokedQuantity = 0
        let charge = SubscriptionCharge(
            productIdentifier: paid.productIdentifier, quantity: paid.quantity, seats: seats, price: paid.price,
            offer: paid.offer, reason: .purchase, startDate: now, expiresDate: purchase.expiresDate,
            billingPlanType: paid.billingPlanType, commitment: nil)
        try begin(seat, charge, isFirst: known == nil)
    }

    /// Revokes a seat: the purchaser has removed the member, the member has left, or a refund has taken the seat.
    func revokeSeat(of seat: CustomerSubscription, for reason: RevocationReason = .refundedForOtherReason) throws {
        guard seat.ownership == .assigned, !seat.hasEnded,
            let assigned = try transactions.latest(original: seat.originalTransactionIdentifier)
        else { throw seat.invalid("is no seat that a member has now") }
        try decideRefund(of: assigned.transactionIdentifier) { $0.revokeSeat(for: reason, at: now) }
    }

    /// Lets the members' seats follow a change of the purchaser's subscription. If it has fewer seats than members, the latest members
    /// lose theirs: by a renewal, theirs is not renewed; otherwise, it is revoked. All of it has the time of the purchaser.
    func followSeats(
        of purchase: CustomerSubscription,
        _ effects: [SubscriptionEffect] = [],
        for reason: RevocationReason = .refundedForOtherReason
    ) throws {
        let original = purchase.originalTransactionIdentifier
        let members = try subscriptions.seats(of: original)
        guard !members.isEmpty else { return }
        let isGroup = try purchase.state != .revoked && transactions.latest(original: original)?.seats != nil
        let seats = isGroup ? purchase.quantity : 0
        let books = try of(purchase.account)
        for member in members.prefix(seats) {
            let seat = purchase.seat(
                original: member.originalTransactionIdentifier, account: member.account, since: member.startDate)
            try books.record(seat, effects.compactMap(\.onSeat))
        }
        for var member in members.dropFirst(seats) {
            if effects.contains(where: \.isRenewal) {
                let end = member.expire(.customerCancelled, .voluntary)
                try books.record(member, end)
            } else {
                try books.revokeSeat(of: member, for: reason)
            }
        }
    }
}
