import Proofs

/// Refunds and family sharing. `RefundDecision` has the rules.
extension Store {
    /// Requests a refund for the customer. Apple asks the developer about the consumption.
    package func requestRefund(
        of transactionIdentifier: String,
        reason: ConsumptionRequestReason = .other
    ) throws(StoreError) {
        try write { books in
            try books.throwSimulatedError(.refundRequestSheet)
            try books.decideRefund(of: transactionIdentifier) { try $0.request(reason: reason) }
        }
    }

    /// Refunds a transaction as Apple does. The paid period of a subscription ends with it.
    package func refund(
        _ transactionIdentifier: String,
        reason: RevocationReason = .refundedForOtherReason
    ) throws(StoreError) {
        try write { books in
            try books.decideRefund(of: transactionIdentifier) { try $0.refund(reason: reason, at: books.now) }
        }
    }

    /// Declines a refund as Apple does.
    package func declineRefund(of transactionIdentifier: String) throws(StoreError) {
        try write { books in try books.decideRefund(of: transactionIdentifier) { try $0.decline() } }
    }

    /// Reverses a refund as Apple does. The purchase is valid again.
    package func reverseRefund(of transactionIdentifier: String) throws(StoreError) {
        try write { books in
            try books.decideRefund(of: transactionIdentifier) { try $0.reverse(at: books.now) }
        }
    }

    /// Shares a purchase with another member of the customer's family.
    ///
    /// - Returns: The number of the member's own transaction.
    package func share(_ transactionIdentifier: String, with account: String) throws(StoreError) -> String {
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

    /// Ends family sharing for one member's transaction.
    package func revokeFamilySharing(of transactionIdentifier: String) throws(StoreError) {
        try write { books in
            try books.decideRefund(of: transactionIdentifier) { try $0.revokeFamilySharing(at: books.now) }
        }
    }
}

extension Books {
    /// Reads the facts about a sale and makes the decided changes.
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
