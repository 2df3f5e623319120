import Proofs

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
