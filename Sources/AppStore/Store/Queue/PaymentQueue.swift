import Catalog
import Foundation
import GRDB
import HTTPSupport
import Proofs

package struct QueuedTransaction: Hashable, Sendable {
    /// The customer's App Store account.
    package let account: String
    package let transaction: PaymentTransaction
    /// The outcome that the tester chose, or that the settings made of it.
    let outcome: PaymentOutcome

    /// True if the payment was interrupted and `PaymentAction.resolve` completes it.
    package var isInterrupted: Bool { outcome.isResolvable(transaction) }
}

/// A step of a payment that the customer, a parent or the app takes. The raw value is the name in addresses.
package enum PaymentAction: String, Sendable, CaseIterable {
    /// Approves a deferred transaction. It is purchased, unless the product was withdrawn meanwhile.
    case approve
    /// Declines a deferred transaction. It fails with `paymentCancelled`.
    case decline
    /// Completes an interrupted payment as a new transaction of the queue.
    case resolve
    /// Finishes a transaction that the app has handled. For a finished one, it does nothing: two launches of the app may
    /// both have handled the transaction.
    case finish
}

extension QueuedTransaction {
    /// The actions that change something now.
    package var actions: [PaymentAction] {
        PaymentAction.allCases.filter { action in
            switch action {
            case .approve, .decline: transaction.state == .deferred
            case .resolve: isInterrupted
            case .finish: transaction.state.isAwaitingFinish
            }
        }
    }
}

/// The payment queue, as an app uses it (StoreKit, `SKPaymentQueue`).
extension Store {
    /// Adds a payment to an account's queue. It stays in the state `purchasing` until `process` continues it.
    ///
    /// - Parameter nonce: The nonce of the signed request that allows the payment. The payment fails if an earlier one has used it.
    package func add(
        _ payment: Payment,
        account: String,
        outcome: PaymentOutcome = .purchased,
        usingUp nonce: UUID? = nil
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
        guard payment.billingPlanType != .monthly || product.subscription?.monthlyPlan != nil else {
            throw .invalidAction(
                "\"\(product.productIdentifier)\" has no monthly billing plan. Enable the plan of a subscription of a year in the .storekit file."
            )
        }
        guard payment.quantity == 1 || product.subscription?.multiSeat.isEnabled ?? true else {
            throw .invalidAction(
                "\"\(product.productIdentifier)\" is not sold with seats. Enable `multiSeat` of the subscription in the .storekit file."
            )
        }
        guard payment.quantity == 1 || payment.billingPlanType != .monthly else {
            throw .invalidAction("The store sells no seats under a commitment. Buy them billed up front.")
        }
        guard Payment.quantities.contains(payment.quantity) else { throw .quantityOutOfRange(payment.quantity) }
        return try write { books in
            if payment.offer?.kind == .offerCode { try books.throwSimulatedError(.offerCodeRedeemSheet) }
            try books.throwSimulatedError(.purchase)
            guard payment.billingPlanType != .monthly || books.storefront.sellsCommitments else {
                throw StoreError.invalidAction(
                    "Apple does not sell the monthly billing plan in the storefront \(books.storefront.countryCode). Choose another one with `till store settings --storefront DEU`."
                )
            }
            let isRepeated = try nonce.map { try !books.payments.isFirstUse(of: $0) } ?? false
            return try books.payments.add(
                payment, account: account, outcome: isRepeated ? .failed(.invalidSignature) : outcome
            ).transaction
        }
    }

    /// Takes every purchasing payment of an account to its outcome.
    ///
    /// - Returns: The transactions that changed.
    package func process(account: String) throws(StoreError) -> [PaymentTransaction] {
        try write { books in
            try books.payments.transactions(account: account).filter { $0.transaction.state == .purchasing }
                .map { try books.process($0).transaction }
        }
    }

    /// Performs an action on a transaction of an account, or of any.
    ///
    /// - Returns: The transaction after the action.
    package func perform(
        _ action: PaymentAction,
        on identifier: Int64,
        account: String? = nil
    ) throws(StoreError) -> QueuedTransaction {
        try write { books in
            let queued = try books.queued(identifier, account: account)
            switch action {
            case .approve: return try books.perform(.approve, on: queued)
            case .decline: return try books.perform(.decline, on: queued)
            case .finish:
                return queued.transaction.state == .finished ? queued : try books.perform(.finish, on: queued)
            case .resolve:
                guard queued.isInterrupted else {
                    throw StoreError.invalidAction("Transaction \(identifier) was not interrupted.")
                }
                try books.payments.setOutcome(.failed(.unknown), of: identifier)
                let added = try books.payments.add(
                    queued.transaction.payment, account: queued.account, outcome: .purchased)
                return try books.perform(PaymentStep(.purchased), on: added)
            }
        }
    }
}

extension Subscription {
    /// The unfinished offer that a payment names; nil if there is none.
    fileprivate func unfinishedOffer(of choice: Payment.OfferChoice) -> UnfinishedOffer? {
        unfinishedOffers.first {
            $0.kind == choice.kind && (choice.kind == .introductory || $0.identifier == choice.identifier)
                && choice.isAllowed
        }
    }
}

/// The restoration of purchases (StoreKit, `restoreCompletedTransactions`).
package enum Restoration {
    /// The transactions of an account to restore, in the order of its purchases: each purchase that lasts, unless the queue
    /// has an unfinished transaction of it. A subscription is restored with its latest period.
    ///
    /// - Parameter history: All transactions of the account, the oldest first.
    package static func transactions(of history: [Transaction], queue: [PaymentTransaction]) -> [Transaction] {
        var handled = Set(
            queue.filter(\.state.isAwaitingFinish).compactMap(\.purchase?.originalTransactionIdentifier))
        return history.compactMap { transaction -> Transaction? in
            guard handled.insert(transaction.originalTransactionIdentifier).inserted else { return nil }
            switch transaction.type {
            case .nonConsumable: return transaction.revocation == nil ? transaction : nil
            case .autoRenewableSubscription:
                return history.last {
                    $0.originalTransactionIdentifier == transaction.originalTransactionIdentifier
                }
            case .consumable, .nonRenewingSubscription: return nil
            }
        }
    }
}

extension Books {
    /// Adds a restored transaction for each purchase that lasts. `Restoration` has the rules.
    package func restoreCompletedTransactions(account: String) throws {
        try throwSimulatedError(.appStoreSync)
        let purchases = Restoration.transactions(
            of: try transactions.transactions(of: account),
            queue: try payments.transactions(account: account).map(\.transaction))
        for purchase in purchases {
            // A non-consumable gets another transaction. The period of a subscription is delivered again.
            try payments.add(purchase.type == .nonConsumable ? try again(purchase) : purchase, .restored)
        }
    }

    /// The effect of a processed payment; nil if nothing was sold.
    package func effect(of identifier: Int64) throws -> PurchaseEffect? {
        guard let purchase = try queued(identifier).transaction.purchase,
            let sold = try transactions.transaction(purchase.transactionIdentifier)
        else { return nil }
        let showing = try payments.transactions(showing: sold.transactionIdentifier)
        return PurchaseEffect(
            sold, isShownEarlier: showing.contains { $0.transaction.identifier < identifier },
            subscription: try subscriptionOrNone(of: sold))
    }

    /// A transaction of an account, or of any.
    ///
    /// - Throws: `StoreError`, `transactionNotFound`.
    package func queued(_ identifier: Int64, account: String? = nil) throws -> QueuedTransaction {
        guard let queued = try payments.transaction(identifier), account == nil || queued.account == account else {
            throw StoreError.transactionNotFound(identifier)
        }
        return queued
    }

    /// Takes a purchasing payment to the requested outcome, or to the outcome of the settings.
    fileprivate func process(_ queued: QueuedTransaction) throws -> QueuedTransaction {
        let outcome = queued.outcome.applying(settings)
        // An interrupted payment is recognized by its outcome when the customer completes it.
        if outcome == .interrupted, queued.outcome != outcome {
            try payments.setOutcome(outcome, of: queued.transaction.identifier)
        }
        return try perform(PaymentStep(outcome), on: queued)
    }

    /// Takes one transaction through one step.
    func perform(_ step: PaymentStep, on queued: QueuedTransaction) throws -> QueuedTransaction {
        func changed(by step: PaymentStep, selling sold: Transaction? = nil) throws -> QueuedTransaction {
            do {
                return QueuedTransaction(
                    account: queued.account, transaction: try queued.transaction.after(step, selling: sold?.purchase),
                    outcome: queued.outcome)
            } catch { throw StoreError.illegalTransition(error) }
        }
        // Checks the step before the sale.
        var result = try changed(by: step)
        if step.isSale {
            do {
                result = try changed(by: step, selling: try sell(queued.transaction.payment, account: queued.account))
            } catch let failure as PaymentFailure {
                result = try changed(by: step.afterFailedSale(failure.error))
            }
        }
        try payments.update(result.transaction)
        return result
    }

    /// The identifiers of an account's transactions that the app has yet to finish.
    func unfinishedTransactionIdentifiers(of account: String) throws -> Set<String> {
        ReceiptContents.unfinished(in: try payments.transactions(account: account).map(\.transaction))
    }
}

/// The SQL statements on the payment queue. They run inside the caller's transaction of the store's database.
package struct PaymentRecords {
    let database: Database

    /// Adds a payment to an account's queue, in the state `purchasing`.
    func add(_ payment: Payment, account: String, outcome: PaymentOutcome) throws -> QueuedTransaction {
        try database.insert(
            [
                "account": account, "product_id": payment.productIdentifier, "quantity": payment.quantity,
                "app_account_token": payment.appAccountToken?.uuidString,
                "billing_plan": payment.billingPlanType?.rawValue,
                "offer": try payment.offer.map { try LocalRecord.text($0) },
                "advanced_commerce": try payment.advancedCommerceCharge.map { try LocalRecord.text($0) },
                "outcome": outcome.name,
                "state": PaymentTransactionState.purchasing.rawValue,
            ], into: "payment_transaction")
        return QueuedTransaction(
            account: account,
            transaction: PaymentTransaction(
                identifier: database.lastInsertedRowID, payment: payment, state: .purchasing, error: nil, purchase: nil),
            outcome: outcome)
    }

    /// Adds a transaction that restores an earlier purchase, or that began outside the app.
    func add(_ purchase: Transaction, _ state: PaymentTransactionState) throws {
        let payment = Payment(
            productIdentifier: purchase.productIdentifier, quantity: purchase.quantity,
            appAccountToken: purchase.appAccountToken)
        let added = try add(payment, account: purchase.account, outcome: .purchased)
        try update(
            PaymentTransaction(
                identifier: added.transaction.identifier, payment: payment, state: state, error: nil,
                purchase: purchase.purchase))
    }

    /// All transactions, or one account's, in the order in which they were added.
    package func transactions(account: String? = nil) throws -> [QueuedTransaction] {
        try fetch(account.map { "payment_transaction.account = \($0)" } ?? "true")
    }

    /// A page of the queue's transactions, newest first.
    ///
    /// - Parameters:
    ///   - account: An account; nil for all.
    ///   - isUnfinished: True for only those that the app has not finished.
    ///   - number: The number of the last transaction of the previous page; nil for the first page.
    package func page(
        of account: String? = nil,
        isUnfinished: Bool = false,
        before number: Int64? = nil,
        limit: Int
    ) throws -> [QueuedTransaction] {
        var condition: SQL = "identifier < \(number ?? .max)"
        if isUnfinished { condition += " AND state <> 'finished'" }
        if let account { condition += " AND payment_transaction.account = \(account)" }
        return try fetch(
            condition, order: "identifier DESC LIMIT \(limit)",
            // A long queue has few unfinished transactions.
            index: isUnfinished && account == nil ? "INDEXED BY payment_transaction_unfinished" : "")
    }

    func transaction(_ identifier: Int64) throws -> QueuedTransaction? {
        try fetch("identifier = \(identifier)").first
    }

    /// The queue's transactions for one transaction of the App Store, the oldest first.
    func transactions(showing transactionIdentifier: String) throws -> [QueuedTransaction] {
        try fetch("payment_transaction.transaction_id = \(transactionIdentifier)")
    }

    func setOutcome(_ outcome: PaymentOutcome, of identifier: Int64) throws {
        try database.execute(
            literal: "UPDATE payment_transaction SET outcome = \(outcome.name) WHERE identifier = \(identifier)")
    }

    /// Records the use of a signed request's nonce, and returns false if it was used before.
    func isFirstUse(of nonce: UUID) throws -> Bool {
        try database.execute(
            literal: "INSERT INTO used_nonce (nonce) VALUES (\(nonce.uuidString)) ON CONFLICT DO NOTHING")
        return database.changesCount == 1
    }

    /// Writes a transaction's state, purchase and error.
    func update(_ transaction: PaymentTransaction) throws {
        try database.execute(
            literal: """
                UPDATE payment_transaction SET state = \(transaction.state.rawValue), error = \(transaction.error?.rawValue),
                    transaction_id = \(transaction.purchase?.transactionIdentifier)
                WHERE identifier = \(transaction.identifier)
                """)
    }

    private func fetch(_ condition: SQL, order: SQL = "identifier", index: SQL = "") throws -> [QueuedTransaction] {
        try SQLRequest<Row>(
            """
            SELECT payment_transaction.*, original_transaction_id FROM payment_transaction \(index)
            LEFT JOIN app_store_transaction USING (transaction_id)
            WHERE \(condition) ORDER BY \(order)
            """
        ).fetchAll(database).map { row in
            QueuedTransaction(
                account: row["account"],
                transaction: PaymentTransaction(
                    identifier: row["identifier"],
                    payment: Payment(
                        productIdentifier: row["product_id"], quantity: row["quantity"],
                        appAccountToken: (row["app_account_token"] as String?).flatMap { UUID(uuidString: $0) },
                        billingPlanType: (row["billing_plan"] as String?).flatMap { BillingPlanType(rawValue: $0) },
                        offer: try (row["offer"] as String?).map { try LocalRecord.value($0) },
                        advancedCommerceCharge: try (row["advanced_commerce"] as String?).map {
                            try LocalRecord.value($0)
                        }),
                    // The table's constraint allows no other state.
                    state: PaymentTransactionState(rawValue: row["state"]) ?? .failed,
                    error: (row["error"] as Int?).map { SKErrorCode(rawValue: $0) ?? .unknown },
                    purchase: (row["original_transaction_id"] as String?).map {
                        PaymentTransaction.Purchase(
                            transactionIdentifier: row["transaction_id"], originalTransactionIdentifier: $0)
                    }),
                outcome: PaymentOutcome(name: row["outcome"]) ?? .failed(.unknown))
        }
    }
}
