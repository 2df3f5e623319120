import Catalog
import Proofs

/// Family Sharing (StoreKit, "Supporting Family Sharing in your app"): each family member gets a transaction of their own, free of charge.
extension Transaction {
    /// - Parameter subscription: The subscription that the purchase belongs to; nil for any other product.
    /// - Throws: `StoreError`, `invalidAction`, if an account cannot get the purchase as a member of the family.
    package func checkShareable(
        with account: String,
        product: Product?,
        subscription: CustomerSubscription? = nil
    ) throws(StoreError) {
        try checkNotRevoked()
        let lasts =
            switch type {
            case .nonConsumable: true
            case .autoRenewableSubscription: subscription?.isEntitled == true
            case .consumable, .nonRenewingSubscription: false
            }
        guard lasts, product?.isFamilyShareable == true, ownership == .purchased, account != self.account else {
            throw .invalidAction(
                "Transaction \(transactionIdentifier) cannot be shared: only non-consumables and active subscriptions that "
                    + "the catalog makes shareable can be, with another account.")
        }
    }

    /// The transaction of a family member for a non-consumable: an original purchase of their own, free of charge.
    package func shared(with account: String, transactionIdentifier: String, orderIdentifier: String) -> Transaction {
        var transaction = repeated(transactionIdentifier: transactionIdentifier, at: purchaseDate)
        transaction.originalTransactionIdentifier = transactionIdentifier
        transaction.orderIdentifier = orderIdentifier
        transaction.account = account
        transaction.ownership = .familyShared
        (transaction.appAccountToken, transaction.expiresDate) = (nil, nil)
        return transaction
    }

    /// The period of a subscription for a family member who gets it now, or what is left of it.
    fileprivate func period(of subscription: CustomerSubscription, from now: Timestamp) -> SubscriptionCharge {
        SubscriptionCharge(
            productIdentifier: productIdentifier, quantity: 1, seats: nil, price: price, offer: offer,
            reason: .purchase,
            // In the grace period, the paid period is over.
            startDate: now < subscription.expiresDate ? now : purchaseDate, expiresDate: subscription.expiresDate,
            billingPlanType: billingPlanType, commitment: commitment
        ).forFamilyMember
    }
}

extension CustomerSubscription {
    /// The subscription of a family member as it follows this one. The seats are the purchaser's alone.
    package func shared(with account: String, originalTransactionIdentifier: String) -> CustomerSubscription {
        var shared = followed(
            by: account, as: .familyShared, originalTransactionIdentifier: originalTransactionIdentifier)
        (shared.quantity, shared.renewalQuantity) = (1, 1)
        return shared
    }
}

extension SubscriptionCharge {
    /// The same period for a family member, who pays nothing and has no seats.
    fileprivate var forFamilyMember: SubscriptionCharge {
        SubscriptionCharge(
            productIdentifier: productIdentifier, quantity: 1, seats: nil,
            price: Price(milliunits: 0, currency: price.currency), offer: offer, reason: reason, startDate: startDate,
            expiresDate: expiresDate, billingPlanType: billingPlanType, commitment: commitment)
    }
}

extension SubscriptionEffect {
    /// The effect for a family member; nil for one that concerns the purchaser alone: prices and seats.
    package var forFamilyMember: SubscriptionEffect? {
        switch self {
        case .charge(let charge): .charge(charge.forFamilyMember)
        case .markUpgraded, .setExpiresDate: self
        case .addSeats, .refundRest, .notify(.priceIncrease, _), .notify(_, .increaseQuantity),
            .notify(_, .decreaseQuantity):
            nil
        case .notify: self
        }
    }

    fileprivate var isCharge: Bool { if case .charge = self { true } else { false } }
}

/// The beginning of the sharing.
extension Books {
    /// True if an account can get a purchase as a member of the family.
    func isShareable(_ purchase: Transaction, with account: String) throws -> Bool {
        do { try checkShareable(purchase, with: account) } catch StoreError.invalidAction { return false }
        return true
    }

    private func checkShareable(_ purchase: Transaction, with account: String) throws {
        let subscription = try subscriptionOrNone(of: purchase)
        let product =
            subscription.map { $0.product($0.productIdentifier, terms) }
            ?? configuration.product(purchase.productIdentifier)
        try purchase.checkShareable(with: account, product: product, subscription: subscription)
    }

    /// Shares a purchase with another member of the customer's family, whether or not the store knows their family.
    func share(_ transactionIdentifier: String, with account: String) throws {
        try Store.check(account: account)
        let purchase = try sale(transactionIdentifier)
        try checkShareable(purchase, with: account)
        guard try !isShared(purchase, with: account) else {
            throw StoreError.invalidAction(
                "Transaction \(transactionIdentifier) is shared with \"\(account.prefix(100))\" already.")
        }
        try share(purchase, with: account)
    }

    /// Shares a new purchase with the other members of the customer's family.
    func shareWithFamily(_ purchase: Transaction) throws {
        guard try isShareable(purchase, with: "") else { return }
        for account in try relatives(of: purchase.account) { try share(purchase, with: account) }
    }

    /// Shares everything that an account owns with a family member.
    func shareAll(of purchaser: String, with member: String) throws {
        let purchases = try transactions.transactions(of: purchaser).filter {
            $0.transactionIdentifier == $0.originalTransactionIdentifier
                && ($0.type == .nonConsumable || $0.type == .autoRenewableSubscription)
        }
        for first in purchases {
            let present = try transactions.latest(original: first.originalTransactionIdentifier) ?? first
            if try isShareable(present, with: member), try !isShared(present, with: member) {
                try share(present, with: member)
            } else if let earlier = try subscription(sharing: first.transactionIdentifier, with: member),
                let last = try transactions.latest(original: earlier.originalTransactionIdentifier),
                try !transactions.isLinked(original: last.originalTransactionIdentifier)
            {
                // The member gets a subscription that is not active when it becomes so.
                try transactions.link(last.transactionIdentifier, to: present.transactionIdentifier)
            }
        }
    }

    private func subscription(sharing original: String, with member: String) throws -> CustomerSubscription? {
        try subscriptions.subscriptions(sharing: original, as: .familyShared).first { $0.account == member }
    }

    private func isShared(_ purchase: Transaction, with account: String) throws -> Bool {
        let original = purchase.originalTransactionIdentifier
        if purchase.type == .autoRenewableSubscription {
            return try subscription(sharing: original, with: account).map(isFollowing) ?? false
        }
        let purchased = try transactions.transactions(original: original).map(\.transactionIdentifier)
        return try transactions.transactions(sharing: purchased).contains {
            $0.account == account && $0.revocation == nil
        }
    }

    /// Gives a family member a transaction of their own, and notifies the developer, at the time of the purchaser.
    private func share(_ purchase: Transaction, with account: String) throws {
        guard let purchased = try subscriptionOrNone(of: purchase) else {
            let shared = purchase.shared(
                with: account, transactionIdentifier: newTransactionIdentifier(), orderIdentifier: newOrderIdentifier())
            try transactions.add(shared, sharing: purchase.transactionIdentifier)
            try payments.add(shared, .purchased)
            try of(purchase.account).notify(.oneTimeCharge, nil, of: shared)
            return
        }
        let original = purchased.originalTransactionIdentifier
        let present = try transactions.latest(original: original) ?? purchase
        let known = try subscriptions.subscriptions(of: account)
        let earlier = known.first {
            $0.sharedOriginalTransactionIdentifier == original && $0.ownership == .familyShared
        }
        let isFirst = !known.contains { $0.groupIdentifier == purchased.groupIdentifier }
        let shared = purchased.shared(
            with: account,
            originalTransactionIdentifier: earlier?.originalTransactionIdentifier ?? newTransactionIdentifier())
        let books = try of(purchase.account)
        try books.begin(shared, present.period(of: purchased, from: books.now), isFirst: isFirst)
    }
}

/// The events of the purchaser, which family members follow, and the end of the sharing.
extension Books {
    /// True if a member's subscription follows the purchaser's.
    private func isFollowing(_ member: CustomerSubscription) throws -> Bool {
        try member.state != .revoked && transactions.isLinked(original: member.originalTransactionIdentifier)
    }

    /// Lets the subscriptions of family members follow an event of the purchaser's. A period of a product that is not shareable takes
    /// the subscription from them, and one of a shareable product gives it to those who do not have it.
    func followInFamily(_ purchased: CustomerSubscription, _ effects: [SubscriptionEffect]) throws {
        let original = purchased.originalTransactionIdentifier
        let isCharged = effects.contains(where: \.isCharge)
        let isShareable = purchased.product(purchased.productIdentifier, terms)?.isFamilyShareable == true
        let books = try of(purchased.account)
        // The accounts that get the next shareable period anew.
        var others = try relatives(of: purchased.account)
        for member in try subscriptions.subscriptions(sharing: original, as: .familyShared) {
            let isLinked = try transactions.isLinked(original: member.originalTransactionIdentifier)
            guard isLinked, !member.hasEnded else {
                // Sharing that ended begins again with the next membership. One that expired begins with the purchaser's.
                if !isLinked {
                    others.removeAll { $0 == member.account }
                } else if member.state != .revoked, !others.contains(member.account) {
                    others.append(member.account)
                }
                continue
            }
            others.removeAll { $0 == member.account }
            if isCharged, !isShareable {
                try books.revokeLatest(original: member.originalTransactionIdentifier)
            } else {
                try books.record(
                    purchased.shared(
                        with: member.account, originalTransactionIdentifier: member.originalTransactionIdentifier),
                    effects.compactMap(\.forFamilyMember))
            }
        }
        guard isCharged, isShareable, let present = try transactions.latest(original: original) else { return }
        for account in others { try share(present, with: account) }
    }

    /// Lets family members follow the refund of a purchaser's transaction, or its reversal.
    ///
    /// - Parameters:
    ///   - before: The transaction before the change.
    func followRefundInFamily(from before: Transaction, to after: Transaction) throws {
        guard (before.revocation == nil) != (after.revocation == nil) else { return }
        // The seats that were added to the period, or the repetitions of a non-consumable, belong to it.
        let period = try transactions.transactions(original: before.originalTransactionIdentifier).filter {
            $0.webOrderLineItemIdentifier == before.webOrderLineItemIdentifier
        }
        let refundDates = (period + [before]).compactMap { $0.revocation?.date }
        let linked = try transactions.transactions(sharing: period.map(\.transactionIdentifier))
        for shared in linked where shared.ownership == .familyShared {
            // It may have changed with another transaction of the member.
            let member = try sale(shared.transactionIdentifier)
            if let refund = after.revocation, member.revocation == nil,
                period.allSatisfy({ $0.revocation != nil })
            {
                try decideRefund(of: member.transactionIdentifier) {
                    try $0.revokeFamilySharing(for: refund.reason, at: refund.date)
                }
            } else if before.revocation != nil, let revocation = member.revocation,
                revocation.type == .familyRevoke, refundDates.contains(revocation.date)
            {
                try decideRefund(of: member.transactionIdentifier) { $0.resumeFamilySharing(at: now) }
            }
        }
    }

    private func revokeLatest(original: String) throws {
        guard let latest = try transactions.latest(original: original), latest.revocation == nil else { return }
        try decideRefund(of: latest.transactionIdentifier) { try $0.revokeFamilySharing(at: now) }
    }

    /// Ends the sharing of a purchase with a family member, until the member joins again or gets it by `TransactionAction.share`.
    ///
    /// - Parameter transactionIdentifier: Any transaction of the member's. That of the present period is revoked.
    func endSharing(_ transactionIdentifier: String) throws {
        let member = try sale(transactionIdentifier)
        let original = member.originalTransactionIdentifier
        let isActive = try subscriptionOrNone(of: member)?.hasEnded == false
        let present = isActive ? try transactions.latest(original: original) ?? member : member
        try decideRefund(of: present.transactionIdentifier) { try $0.revokeFamilySharing(at: now) }
        try transactions.unlink(original: original)
    }

    /// Takes from a family member what a purchaser shares.
    func endSharing(of purchaser: String, with member: String) throws {
        let books = try of(purchaser)
        for original in try transactions.originals(of: member, sharedBy: purchaser) {
            // A seat is no part of the family's sharing.
            guard try transactions.latest(original: original)?.ownership == .familyShared else { continue }
            // A subscription that has expired has nothing to be taken.
            if try subscriptions.subscription(original: original)?.hasEnded != true {
                try books.revokeLatest(original: original)
            }
            try transactions.unlink(original: original)
        }
    }
}
