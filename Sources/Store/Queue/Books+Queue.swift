import Commerce

extension Books {
    /// Takes a payment that is purchasing to the outcome asked for, or else to the one of the settings.
    func process(_ queued: QueuedTransaction) throws -> PaymentTransaction {
        switch try outcome(of: queued) {
        case .purchased: try pay(queued, by: .purchase)
        case .deferred: try apply(.awaitApproval, to: queued)
        case .interrupted: try apply(.fail, to: queued, error: .unknown)
        case .failed(let error): try apply(.fail, to: queued, error: error)
        }
    }

    private func outcome(of queued: QueuedTransaction) throws -> PaymentOutcome {
        let asked = try payments.outcome(of: queued.transaction.identifier)
        guard asked == .purchased else { return asked }
        if let error = settings.failureError { return .failed(SKErrorCode(rawValue: error) ?? .unknown) }
        if settings.isAskToBuyEnabled { return .deferred }
        guard settings.areInterruptedPurchasesEnabled else { return .purchased }
        try payments.setOutcome(.interrupted, of: queued.transaction.identifier)
        return .interrupted
    }

    /// Sells what a queued payment asks for; what cannot be sold fails.
    ///
    /// - Parameter event: How the transaction comes to be purchased: `purchase`, or `approve` of a deferred one.
    func pay(_ queued: QueuedTransaction, by event: PaymentTransactionEvent) throws -> PaymentTransaction {
        // Asked before anything is sold.
        try check(event, of: queued)
        do {
            let sold = try sell(queued.transaction.payment, account: queued.account)
            return try apply(event, to: queued, purchase: sold)
        } catch let failure as PaymentFailure {
            return try apply(event == .approve ? .decline : .fail, to: queued, error: failure.error)
        }
    }

    /// Takes one transaction through one event.
    func apply(
        _ event: PaymentTransactionEvent,
        to queued: QueuedTransaction,
        error: SKErrorCode? = nil,
        purchase: Transaction? = nil
    ) throws -> PaymentTransaction {
        let transaction = queued.transaction
        let state = try check(event, of: queued)
        let changed = PaymentTransaction(
            identifier: transaction.identifier,
            payment: transaction.payment,
            state: state,
            error: state == .failed ? error : transaction.error,
            purchase: purchase?.purchase ?? transaction.purchase)
        try payments.update(changed)
        return changed
    }

    @discardableResult
    private func check(
        _ event: PaymentTransactionEvent,
        of queued: QueuedTransaction
    ) throws -> PaymentTransactionState {
        do { return try queued.transaction.state.after(event) } catch { throw StoreError.illegalTransition(error) }
    }

    /// What the app has yet to finish of an account's sales.
    func unfinishedTransactionIdentifiers(of account: String) throws -> Set<String> {
        Set(
            try payments.transactions(account: account).map(\.transaction).filter(\.state.isAwaitingFinish)
                .compactMap(\.purchase?.transactionIdentifier))
    }
}
