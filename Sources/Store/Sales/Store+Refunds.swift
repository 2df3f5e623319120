import Commerce
import Receipts

/// Refunds and family sharing. `RefundDecision` has the rules.
extension Store {
    /// The customer asks for a refund. Apple asks the developer about the consumption of some products.
    public func requestRefund(
        of transactionIdentifier: String,
        reason: ConsumptionRequestReason = .other
    ) throws(StoreError) {
        try write { books in
            try books.failIfAsked(.refundRequestSheet)
            try books.decideRefund(of: transactionIdentifier) { try $0.request(reason: reason) }
        }
    }

    /// Apple refunds a transaction. The paid period of a subscription ends with it.
    public func refund(
        _ transactionIdentifier: String,
        reason: RevocationReason = .refundedForOtherReason
    ) throws(StoreError) {
        try write { books in
            try books.decideRefund(of: transactionIdentifier) { try $0.refund(reason: reason, at: books.now) }
        }
    }

    /// Apple declines a refund.
    public func declineRefund(of transactionIdentifier: String) throws(StoreError) {
        try write { books in try books.decideRefund(of: transactionIdentifier) { try $0.decline() } }
    }

    /// Apple reverses a refund: the purchase is valid again.
    public func reverseRefund(of transactionIdentifier: String) throws(StoreError) {
        try write { books in
            try books.decideRefund(of: transactionIdentifier) { try $0.reverse(at: books.now) }
        }
    }

    /// Another member of the customer's family gets what was bought.
    ///
    /// - Returns: The number of the member's own transaction.
    public func share(_ transactionIdentifier: String, with account: String) throws(StoreError) -> String {
        try Self.check(account: account)
        return try write { books in
            let transaction = try books.sale(transactionIdentifier)
            try transaction.checkShareable(
                with: account, product: books.configuration.product(transaction.productIdentifier))
            let shared = transaction.shared(
                with: account, transactionIdentifier: books.newTransactionIdentifier(),
                orderIdentifier: books.newOrderIdentifier())
            try books.transactions.add(shared)
            _ = try books.payments.add(shared, .purchased)
            return shared.transactionIdentifier
        }
    }

    /// Family sharing ends, for one member's transaction.
    public func revokeFamilySharing(of transactionIdentifier: String) throws(StoreError) {
        try write { books in
            try books.decideRefund(of: transactionIdentifier) { try $0.revokeFamilySharing(at: books.now) }
        }
    }
}

extension Books {
    /// Reads the facts about a sale, and makes the changes that are decided.
    fileprivate func decideRefund(
        of transactionIdentifier: String,
        _ decide: (RefundDecision) throws -> [RefundEffect]
    ) throws {
        let transaction = try sale(transactionIdentifier)
        let decision = RefundDecision(
            transaction: transaction,
            related: try transactions.transactions(original: transaction.originalTransactionIdentifier),
            subscription: try subscriptionOrNone(of: transaction))
        for effect in try decide(decision) {
            switch effect {
            case .update(let changed): try transactions.update(changed)
            case .save(let changed): try subscriptions.save(changed)
            case .notify(let type, let changed, let subscription, let reason):
                try notify(type, nil, of: changed, in: subscription, consumptionRequestReason: reason)
            }
        }
    }

    func subscriptionOrNone(of transaction: Transaction) throws -> CustomerSubscription? {
        try subscriptions.subscription(original: transaction.originalTransactionIdentifier)
    }
}
