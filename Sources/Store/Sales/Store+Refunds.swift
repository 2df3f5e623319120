import Commerce
import Receipts

/// Taking a purchase back, and what comes before and after it.
extension Store {
    /// The customer asks for a refund. Of what is consumed or renewed, the developer is asked what became of it.
    public func requestRefund(
        of transactionIdentifier: String,
        reason: ConsumptionRequestReason = .other
    ) throws(StoreError) {
        try write { books in
            try books.failIfAsked(.refundRequestSheet)
            let transaction = try books.refundable(transactionIdentifier)
            guard transaction.type == .consumable || transaction.type == .autoRenewableSubscription else { return }
            try books.notify(
                .consumptionRequest, nil, of: transaction, in: try books.subscriptionOrNone(of: transaction),
                consumptionRequestReason: reason)
        }
    }

    /// Apple refunds a transaction. The period of a subscription that is paid ends with it.
    public func refund(
        _ transactionIdentifier: String,
        reason: RevocationReason = .refundedForOtherReason
    ) throws(StoreError) {
        try write { books in
            let transaction = try books.refundable(transactionIdentifier)
            try books.revoke(transaction, .refund, reason: reason, type: .refundFull)
        }
    }

    /// Apple says no to a refund.
    public func declineRefund(of transactionIdentifier: String) throws(StoreError) {
        try write { books in
            let transaction = try books.refundable(transactionIdentifier)
            try books.notify(.refundDeclined, nil, of: transaction, in: try books.subscriptionOrNone(of: transaction))
        }
    }

    /// Apple takes a refund back: the purchase stands again.
    public func reverseRefund(of transactionIdentifier: String) throws(StoreError) {
        try write { books in
            var transaction = try books.sale(transactionIdentifier)
            guard transaction.revocation?.type == .refundFull else {
                throw StoreError.invalidAction("Transaction \(transactionIdentifier) was not refunded.")
            }
            transaction.revocation = nil
            for same in try books.samePurchase(as: transaction) {
                var reinstated = same
                reinstated.revocation = nil
                try books.transactions.update(reinstated)
            }
            var subscription = try books.subscriptionOrNone(of: transaction)
            if var reinstated = subscription, try books.isLatest(transaction) {
                reinstated.reinstate(at: books.now)
                try books.subscriptions.save(reinstated)
                subscription = reinstated
            }
            try books.notify(.refundReversed, nil, of: transaction, in: subscription)
        }
    }

    /// Another member of the customer's family gets what was bought.
    ///
    /// - Returns: The number of the member's own transaction.
    public func share(_ transactionIdentifier: String, with account: String) throws(StoreError) -> String {
        try write { books in
            let transaction = try books.refundable(transactionIdentifier)
            guard books.configuration.product(transaction.productIdentifier)?.isFamilyShareable == true,
                transaction.type == .nonConsumable, transaction.ownership == .purchased, account != transaction.account
            else {
                throw StoreError.invalidAction(
                    "Transaction \(transactionIdentifier) cannot be shared: only non-consumables that the catalog makes "
                        + "shareable can be, with another account.")
            }
            let shared = books.shared(transaction, with: account)
            try books.transactions.add(shared)
            _ = try books.payments.add(shared, .purchased)
            return shared.transactionIdentifier
        }
    }

    /// Family sharing ends, for one member's transaction.
    public func revokeFamilySharing(of transactionIdentifier: String) throws(StoreError) {
        try write { books in
            let transaction = try books.refundable(transactionIdentifier)
            guard transaction.ownership == .familyShared else {
                throw StoreError.invalidAction("Transaction \(transactionIdentifier) is not shared by a family.")
            }
            try books.revoke(transaction, .revoke, reason: .refundedForOtherReason, type: .familyRevoke)
        }
    }
}

extension Books {
    /// A sale that was not taken back yet.
    func refundable(_ transactionIdentifier: String) throws -> Transaction {
        let transaction = try sale(transactionIdentifier)
        guard transaction.revocation == nil else {
            throw StoreError.invalidAction("Transaction \(transactionIdentifier) was taken back already.")
        }
        return transaction
    }

    func subscriptionOrNone(of transaction: Transaction) throws -> CustomerSubscription? {
        try subscriptions.subscription(original: transaction.originalTransactionIdentifier)
    }

    func isLatest(_ transaction: Transaction) throws -> Bool {
        try transactions.latest(original: transaction.originalTransactionIdentifier)?.transactionIdentifier
            == transaction.transactionIdentifier
    }

    /// A sale and, of a non-consumable, what restored it or was bought again: one purchase.
    func samePurchase(as transaction: Transaction) throws -> [Transaction] {
        guard transaction.type == .nonConsumable else { return [transaction] }
        return try transactions.transactions(original: transaction.originalTransactionIdentifier)
    }

    func revoke(
        _ transaction: Transaction,
        _ notificationType: NotificationTypeV2,
        reason: RevocationReason,
        type: RevocationType
    ) throws {
        var revoked = transaction
        revoked.revocation = TransactionStatement.Revocation(date: now, reason: reason, type: type)
        for same in try samePurchase(as: transaction) {
            var alike = same
            alike.revocation = revoked.revocation
            try transactions.update(alike)
        }
        var subscription = try subscriptionOrNone(of: transaction)
        if var ended = subscription, ended.dueDate != nil, try isLatest(transaction) {
            ended.revoke()
            try subscriptions.save(ended)
            subscription = ended
        }
        try notify(notificationType, nil, of: revoked, in: subscription)
    }

    func shared(_ transaction: Transaction, with account: String) -> Transaction {
        let identifier = newTransactionIdentifier()
        return Transaction(
            transactionIdentifier: identifier, originalTransactionIdentifier: identifier,
            orderIdentifier: newOrderIdentifier(), webOrderLineItemIdentifier: nil, account: account,
            productIdentifier: transaction.productIdentifier, type: transaction.type, subscriptionGroupIdentifier: nil,
            quantity: transaction.quantity, purchaseDate: transaction.purchaseDate,
            originalPurchaseDate: transaction.originalPurchaseDate,
            price: Price(milliunits: 0, currency: transaction.price.currency), offer: nil, reason: .purchase,
            ownership: .familyShared, storefrontCountryCode: transaction.storefrontCountryCode)
    }
}
