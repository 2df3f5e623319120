import Proofs

/// A tester's actions on a subscription, which any of its transactions identifies (StoreKitTest, `SKTestSession`).
extension Store {
    /// Turns renewal on or off, for the customer.
    package func setAutoRenew(_ isOn: Bool, of transactionIdentifier: String) throws(StoreError) {
        try change(transactionIdentifier) { subscription, books in
            try books.throwSimulatedError(.manageSubscriptionsSheet)
            return try subscription.setAutoRenew(isOn)
        }
    }

    /// Renews a subscription early.
    package func forceRenewal(of transactionIdentifier: String) throws(StoreError) {
        try change(transactionIdentifier) { subscription, books in
            try subscription.forceRenewal(at: books.now, books.terms)
        }
    }

    /// Ends the paid period early with a charge that fails. A grace period or the billing retry period follows.
    package func failRenewal(of transactionIdentifier: String, hasGracePeriod: Bool) throws(StoreError) {
        try change(transactionIdentifier) { subscription, books in
            try subscription.failRenewal(at: books.now, hasGracePeriod: hasGracePeriod, books.terms)
        }
    }

    /// Ends a subscription early.
    package func expire(_ transactionIdentifier: String) throws(StoreError) {
        try change(transactionIdentifier) { subscription, books in try subscription.expireNow(at: books.now) }
    }

    /// Resolves the customer's billing issue and charges the subscription.
    package func resolveBillingIssue(of transactionIdentifier: String) throws(StoreError) {
        try change(transactionIdentifier) { subscription, books in
            try subscription.recover(at: books.now, books.terms)
        }
    }

    /// Raises the price from the next renewal on. If consent is required and missing, the subscription does not renew.
    package func requestPriceIncrease(
        of transactionIdentifier: String,
        to milliunits: Int64,
        needsConsent: Bool
    ) throws(StoreError) {
        try change(transactionIdentifier) { subscription, books in
            let terms = books.terms
            return try subscription.requestPriceIncrease(
                to: Price(milliunits: milliunits, currency: terms.currency), needsConsent: needsConsent, terms)
        }
    }

    package func consentToPriceIncrease(of transactionIdentifier: String) throws(StoreError) {
        try change(transactionIdentifier) { subscription, _ in try subscription.consentToPriceIncrease() }
    }

    package func declinePriceIncrease(of transactionIdentifier: String) throws(StoreError) {
        try change(transactionIdentifier) { subscription, _ in try subscription.declinePriceIncrease() }
    }

    private func change(
        _ transactionIdentifier: String,
        _ body: (inout CustomerSubscription, Books) throws -> [SubscriptionEffect]
    ) throws(StoreError) {
        try write { books in
            var subscription = try books.subscription(with: transactionIdentifier)
            let effects = try body(&subscription, books)
            try books.record(subscription, effects)
        }
    }
}

extension Books {
    /// The sale of a transaction identifier.
    ///
    /// - Throws: `StoreError`, `saleNotFound`.
    func sale(_ transactionIdentifier: String) throws -> Transaction {
        guard let transaction = try transactions.transaction(transactionIdentifier) else {
            throw StoreError.saleNotFound(transactionIdentifier)
        }
        return transaction
    }

    /// The subscription of a transaction.
    ///
    /// - Throws: `StoreError`, `saleNotFound` or `subscriptionNotFound`.
    func subscription(with transactionIdentifier: String) throws -> CustomerSubscription {
        let transaction = try sale(transactionIdentifier)
        guard
            let subscription = try subscriptions.subscription(original: transaction.originalTransactionIdentifier)
        else { throw StoreError.subscriptionNotFound(transactionIdentifier) }
        return subscription
    }
}
