import Proofs

/// A transaction of the payment queue, with its account.
package struct QueuedTransaction: Hashable, Sendable {
    /// The customer's App Store account.
    package let account: String
    package let transaction: PaymentTransaction
}

/// The payment queue, as an app uses it (StoreKit, `SKPaymentQueue`).
extension Store {
    /// Adds a payment to an account's queue. It stays in the state `purchasing` until `process` continues it.
    package func add(
        _ payment: Payment,
        account: String,
        outcome: PaymentOutcome = .purchased
    ) throws(StoreError) -> PaymentTransaction {
        try Self.check(account: account)
        guard let product = configuration.product(payment.productIdentifier) else {
            throw .productNotFound(payment.productIdentifier)
        }
        if let choice = payment.offer, let offer = product.subscription?.unfinishedOffer(of: choice) {
            throw .invalidAction(
                "The \(choice.kind.name) offer \"\(choice.identifier.prefix(100))\" of "
                    + "\"\(product.productIdentifier)\" has no \(offer.key). Complete it in the .storekit file.")
        }
        guard Payment.quantities.contains(payment.quantity) else { throw .quantityOutOfRange(payment.quantity) }
        return try write { books in
            if payment.offer?.kind == .offerCode { try books.throwSimulatedError(.offerCodeRedeemSheet) }
            try books.throwSimulatedError(.purchase)
            return try books.payments.add(payment, account: account, outcome: outcome)
        }
    }

    /// Takes every purchasing payment of an account to its outcome.
    ///
    /// - Returns: The transactions that changed.
    package func process(account: String) throws(StoreError) -> [PaymentTransaction] {
        try write { books in
            try books.payments.transactions(account: account).filter { $0.transaction.state == .purchasing }
                .map(books.process)
        }
    }

    /// Approves a deferred transaction. It is purchased, unless the product was withdrawn meanwhile.
    package func approve(_ identifier: Int64) throws(StoreError) -> QueuedTransaction {
        try change(identifier) { books, queued in try books.perform(.approve, on: queued) }
    }

    /// Declines a deferred transaction. It fails with `paymentCancelled`.
    package func decline(_ identifier: Int64) throws(StoreError) -> QueuedTransaction {
        try change(identifier) { books, queued in try books.perform(.decline, on: queued) }
    }

    /// Completes an interrupted payment as a new transaction of the queue.
    package func resolveIssue(_ identifier: Int64) throws(StoreError) -> QueuedTransaction {
        try write { books in
            let queued = try Self.queued(identifier, in: books)
            guard try books.payments.outcome(of: identifier).isResolvable(queued.transaction) else {
                throw StoreError.invalidAction("Transaction \(identifier) was not interrupted.")
            }
            try books.payments.setOutcome(.failed(.unknown), of: identifier)
            let added = try books.payments.add(
                queued.transaction.payment, account: queued.account, outcome: .purchased)
            let transaction = try books.perform(
                PaymentStep(.purchased), on: QueuedTransaction(account: queued.account, transaction: added))
            return QueuedTransaction(account: queued.account, transaction: transaction)
        }
    }

    /// Returns true if the payment was interrupted and `resolveIssue` can complete it.
    package func isInterrupted(_ identifier: Int64) throws(StoreError) -> Bool {
        try read { books in
            try books.payments.outcome(of: identifier).isResolvable(try Self.queued(identifier, in: books).transaction)
        }
    }

    /// The effect of a processed payment; nil if nothing was sold.
    package func effect(of identifier: Int64) throws(StoreError) -> PurchaseEffect? {
        try read { books in
            let queued = try Self.queued(identifier, in: books)
            guard let purchase = queued.transaction.purchase,
                let sold = try books.transactions.transaction(purchase.transactionIdentifier)
            else { return nil }
            let showing = try books.payments.transactions(showing: sold.transactionIdentifier)
            return PurchaseEffect(
                sold, isShownEarlier: showing.contains { $0.transaction.identifier < identifier },
                subscription: try books.subscriptionOrNone(of: sold))
        }
    }

    /// Finishes a transaction that the app has handled. For a finished one, it does nothing: two launches of the app may both
    /// have handled the transaction.
    package func finish(_ identifier: Int64, account: String) throws(StoreError) -> PaymentTransaction {
        try change(identifier, account: account) { books, queued in
            guard queued.transaction.state != .finished else { return queued.transaction }
            return try books.perform(.finish, on: queued)
        }.transaction
    }

    /// A transaction of an account.
    package func transaction(_ identifier: Int64, account: String) throws(StoreError) -> PaymentTransaction {
        guard let queued = try read({ try $0.payments.transaction(identifier) }), queued.account == account else {
            throw .transactionNotFound(identifier)
        }
        return queued.transaction
    }

    /// All transactions, or one account's, finished ones included, in the order in which they were added.
    package func transactions(account: String? = nil) throws(StoreError) -> [QueuedTransaction] {
        try read { try $0.payments.transactions(account: account) }
    }

    /// Adds a restored transaction for each purchase that lasts. `Restoration` has the rules.
    package func restoreCompletedTransactions(account: String) throws(StoreError) {
        try write { books in
            try books.throwSimulatedError(.appStoreSync)
            let restorations = Restoration.all(
                of: try books.transactions.transactions(of: account),
                queue: try books.payments.transactions(account: account).map(\.transaction))
            for restoration in restorations {
                let restored =
                    switch restoration {
                    case .repeated(let transaction): try books.again(transaction)
                    case .period(let transaction): transaction
                    }
                _ = try books.payments.add(restored, .restored)
            }
        }
    }

    private static func queued(_ identifier: Int64, in books: Books) throws -> QueuedTransaction {
        guard let queued = try books.payments.transaction(identifier) else {
            throw StoreError.transactionNotFound(identifier)
        }
        return queued
    }

    private func change(
        _ identifier: Int64,
        account: String? = nil,
        _ body: (Books, QueuedTransaction) throws -> PaymentTransaction
    ) throws(StoreError) -> QueuedTransaction {
        try write { books in
            let queued = try Self.queued(identifier, in: books)
            guard account == nil || queued.account == account else { throw StoreError.transactionNotFound(identifier) }
            return QueuedTransaction(account: queued.account, transaction: try body(books, queued))
        }
    }
}

extension Subscription {
    /// The unfinished offer that a payment names; nil if there is none.
    fileprivate func unfinishedOffer(of choice: Payment.OfferChoice) -> UnfinishedOffer? {
        unfinishedOffers.first {
            $0.kind == choice.kind && (choice.kind == .introductory || $0.identifier == choice.identifier)
        }
    }
}

/// The restoration of one purchase (StoreKit, `restoreCompletedTransactions`).
package enum Restoration: Hashable, Sendable {
    /// A non-consumable gets another transaction.
    case repeated(Transaction)
    /// The latest period of a subscription is delivered again.
    case period(Transaction)

    /// The restorations for an account, in the order of its purchases. Each purchase that lasts is restored, unless the
    /// queue has an unfinished transaction of it.
    ///
    /// - Parameters:
    ///   - history: All transactions of the account, the oldest first.
    ///   - queue: The transactions of its payment queue.
    package static func all(of history: [Transaction], queue: [PaymentTransaction]) -> [Restoration] {
        var handled = Set(
            queue.filter(\.state.isAwaitingFinish).compactMap(\.purchase?.originalTransactionIdentifier))
        return history.compactMap { transaction -> Restoration? in
            guard handled.insert(transaction.originalTransactionIdentifier).inserted else { return nil }
            switch transaction.type {
            case .nonConsumable: return transaction.revocation == nil ? .repeated(transaction) : nil
            case .autoRenewableSubscription:
                return history.last {
                    $0.originalTransactionIdentifier == transaction.originalTransactionIdentifier
                }.map { .period($0) }
            case .consumable, .nonRenewingSubscription: return nil
            }
        }
    }
}

extension Books {
    /// Takes a purchasing payment to the requested outcome, or to the outcome of the settings.
    func process(_ queued: QueuedTransaction) throws -> PaymentTransaction {
        let identifier = queued.transaction.identifier
        let requested = try payments.outcome(of: identifier)
        let outcome = requested.applying(settings)
        // An interrupted payment is recognized by its outcome when the customer completes it.
        if outcome == .interrupted, requested != outcome { try payments.setOutcome(outcome, of: identifier) }
        return try perform(PaymentStep(outcome), on: queued)
    }

    /// Takes one transaction through one step.
    func perform(_ step: PaymentStep, on queued: QueuedTransaction) throws -> PaymentTransaction {
        guard case .sell = step else { return try update(queued, by: step) }
        // Checks the step before the sale.
        _ = try changed(queued, by: step)
        do {
            let sold = try sell(queued.transaction.payment, account: queued.account)
            return try update(queued, by: step, selling: sold)
        } catch let failure as PaymentFailure {
            return try update(queued, by: step.afterFailedSale(failure.error))
        }
    }

    private func update(
        _ queued: QueuedTransaction,
        by step: PaymentStep,
        selling sold: Transaction? = nil
    ) throws -> PaymentTransaction {
        let changed = try changed(queued, by: step, selling: sold)
        try payments.update(changed)
        return changed
    }

    private func changed(
        _ queued: QueuedTransaction,
        by step: PaymentStep,
        selling sold: Transaction? = nil
    ) throws -> PaymentTransaction {
        do { return try queued.transaction.after(step, selling: sold?.purchase) } catch {
            throw StoreError.illegalTransition(error)
        }
    }

    /// The identifiers of an account's transactions that the app has yet to finish.
    func unfinishedTransactionIdentifiers(of account: String) throws -> Set<String> {
        ReceiptContents.unfinished(in: try payments.transactions(account: account).map(\.transaction))
    }
}
