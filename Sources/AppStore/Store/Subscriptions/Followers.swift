import GRDB
import HTTPSupport
import Proofs

/// A member's transactions and subscription, which follow those of a purchaser: by family sharing, or in a seat by Apple's invitation.
///
/// They have identifiers of their own, and are linked to the purchaser's. A member's subscription has no due date: each event is the
/// purchaser's.
extension CustomerSubscription {
    /// The subscription of a member at the state of this one. An announced price and the account token are the
    /// purchaser's alone.
    func followed(
        by account: String,
        as ownership: InAppOwnershipType,
        originalTransactionIdentifier: String
    ) -> CustomerSubscription {
        var member = self
        (member.ownership, member.sharedOriginalTransactionIdentifier) = (ownership, self.originalTransactionIdentifier)
        (member.account, member.originalTransactionIdentifier) = (account, originalTransactionIdentifier)
        (member.priceIncrease, member.appAccountToken) = (nil, nil)
        return member
    }
}

extension Transaction {
    /// - Throws: `StoreError`, `invalidAction`, for a member's transaction, for which another account has paid.
    func checkPurchased() throws(StoreError) {
        let reason: String
        switch ownership {
        case .purchased: return
        case .familyShared: reason = "was shared by the family"
        case .assigned: reason = "is a seat, for which another account has paid"
        }
        throw .invalidAction("Transaction \(transactionIdentifier) \(reason). Name the purchaser's transaction.")
    }
}

/// The links from members' transactions to those of the purchaser. The end of the sharing with a family member removes them.
extension TransactionRecords {
    /// The members' transactions that are linked to a purchaser's.
    func transactions(sharing identifiers: [String]) throws -> [Transaction] {
        try database.records(
            "SELECT record FROM app_store_transaction WHERE shared_transaction_id IN \(identifiers) ORDER BY rowid")
    }

    /// The members' original transactions that are linked to a purchase.
    func originals(sharing original: String) throws -> [String] {
        try originals(sharing: "original_transaction_id = \(original)", among: "true")
    }

    /// A member's original transactions that are linked to a purchaser's.
    func originals(of member: String, sharedBy purchaser: String) throws -> [String] {
        try originals(sharing: "account = \(purchaser)", among: "account = \(member)")
    }

    private func originals(sharing purchased: SQL, among shared: SQL) throws -> [String] {
        try SQLRequest<String>(
            """
            SELECT original_transaction_id FROM app_store_transaction
            WHERE shared_transaction_id IN (SELECT transaction_id FROM app_store_transaction WHERE \(purchased))
                AND \(shared)
            GROUP BY original_transaction_id ORDER BY min(rowid)
            """
        ).fetchAll(database)
    }

    /// The account of the purchaser's transaction that a member's is linked to; nil if there is none.
    fileprivate func purchaser(sharing identifier: String) throws -> String? {
        try SQLRequest<String>(
            """
            SELECT account FROM app_store_transaction WHERE transaction_id = (
                SELECT shared_transaction_id FROM app_store_transaction WHERE transaction_id = \(identifier))
            """
        ).fetchOne(database)
    }

    func isLinked(original identifier: String) throws -> Bool {
        try SQLRequest<Bool>(
            """
            SELECT EXISTS (SELECT * FROM app_store_transaction
                WHERE original_transaction_id = \(identifier) AND shared_transaction_id IS NOT NULL)
            """
        ).fetchOne(database) ?? false
    }

    func link(_ transactionIdentifier: String, to shared: String) throws {
        try database.execute(
            literal: """
                UPDATE app_store_transaction SET shared_transaction_id = \(shared)
                WHERE transaction_id = \(transactionIdentifier)
                """)
    }

    func unlink(original identifier: String) throws {
        try database.execute(
            literal: """
                UPDATE app_store_transaction SET shared_transaction_id = NULL
                WHERE original_transaction_id = \(identifier)
                """)
    }
}

extension SubscriptionRecords {
    /// The subscriptions of members that follow a purchaser's, or have followed it, the oldest first.
    func subscriptions(sharing original: String, as ownership: InAppOwnershipType) throws -> [CustomerSubscription] {
        try fetch("shared_original_transaction_id = \(original) ORDER BY rowid").filter { $0.ownership == ownership }
    }

    /// The subscriptions of the members who have a seat in a purchaser's, the oldest first.
    func seats(of original: String) throws -> [CustomerSubscription] {
        try subscriptions(sharing: original, as: .assigned).filter { !$0.hasEnded }
    }

    /// The seat that an account has or had in a group.
    func seat(of account: String, group: String) throws -> CustomerSubscription? {
        try fetch("account = \(account) AND group_id = \(group) AND shared_original_transaction_id IS NOT NULL")
            .first { $0.ownership == .assigned }
    }
}

extension Books {
    /// The subscription of a transaction, for an event that the purchaser or Apple causes.
    ///
    /// - Throws: `StoreError`: `saleNotFound`, `subscriptionNotFound`, or `invalidAction` for a member's, which follows the purchaser's.
    func purchasedSubscription(with transactionIdentifier: String) throws -> CustomerSubscription {
        let subscription = try subscription(with: transactionIdentifier)
        guard let purchased = subscription.sharedOriginalTransactionIdentifier else { return subscription }
        let kind = subscription.ownership == .assigned ? "is a member's seat" : "is shared by the family"
        throw subscription.invalid(
            "\(kind), and follows the purchaser's. Name the purchaser's transaction \(purchased)")
    }

    /// The account that has paid for a transaction: for a member's, the purchaser, whose time it has.
    func payer(of transactionIdentifier: String) throws -> String {
        let sale = try sale(transactionIdentifier)
        let original = try subscriptionOrNone(of: sale)?.sharedOriginalTransactionIdentifier
        let purchased = try original.flatMap(subscriptions.subscription(original:))?.account
        return try purchased ?? transactions.purchaser(sharing: transactionIdentifier) ?? sale.account
    }

    /// Begins a period of a member, at the time of the purchaser. The member's payment queue gets its transaction.
    ///
    /// - Parameter isFirst: True if the member had no such subscription before.
    func begin(_ member: CustomerSubscription, _ charge: SubscriptionCharge, isFirst: Bool) throws {
        try record(member, [.charge(charge), .notify(.subscribed, isFirst ? .initialBuy : .resubscribe)])
        if let first = try transactions.latest(original: member.originalTransactionIdentifier) {
            try payments.add(first, .purchased)
        }
    }

    /// Lets the members' subscriptions follow an event of the purchaser's. Nothing follows a member's.
    func follow(_ subscription: CustomerSubscription, _ effects: [SubscriptionEffect]) throws {
        guard subscription.ownership == .purchased else { return }
        try followInFamily(subscription, effects)
        try followSeats(of: subscription, effects)
    }

    /// Lets members follow the refund of a purchaser's transaction, or its reversal. Nothing follows a member's.
    ///
    /// - Parameters:
    ///   - before: The transaction before the change.
    ///   - subscription: The subscription before the change; nil for any other product.
    func followRefund(of before: Transaction, in subscription: CustomerSubscription?) throws {
        guard before.ownership == .purchased else { return }
        let after = try sale(before.transactionIdentifier)
        // Fewer seats have no room for as many members.
        if let changed = try subscriptionOrNone(of: after), changed != subscription {
            try unclaimSeats(of: changed)
            try followSeats(of: changed, for: after.revocation?.reason ?? .refundedForOtherReason)
        }
        try followRefundInFamily(from: before, to: after)
    }
}
