import Proofs

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
        case .addSeats: nil
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
    ///
    /// - Parameter reason: The reason of the purchaser's refund.
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
