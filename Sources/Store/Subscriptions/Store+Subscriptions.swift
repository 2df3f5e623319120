import Commerce
import Receipts

/// What a test makes happen to a subscription, each named by any of its transactions (StoreKitTest, `SKTestSession`).
extension Store {
    /// The customer turns renewal on or off.
    public func setAutoRenew(_ isOn: Bool, of transactionIdentifier: String) throws(StoreError) {
        try change(transactionIdentifier) { subscription, books in
            try books.failIfAsked(.manageSubscriptionsSheet)
            return try subscription.setAutoRenew(isOn)
        }
    }

    /// Renews now, before its time.
    public func forceRenewal(of transactionIdentifier: String) throws(StoreError) {
        try change(transactionIdentifier) { subscription, books in
            try subscription.forceRenewal(at: books.now, books.terms)
        }
    }

    /// Ends now, before its time.
    public func expire(_ transactionIdentifier: String) throws(StoreError) {
        try change(transactionIdentifier) { subscription, books in try subscription.expireNow(at: books.now) }
    }

    /// The customer's billing issue is over, and the subscription is charged.
    public func resolveBillingIssue(of transactionIdentifier: String) throws(StoreError) {
        try change(transactionIdentifier) { subscription, books in
            try subscription.recover(at: books.now, books.terms)
        }
    }

    /// The price rises with the next renewal; where that needs the customer's consent, and none comes, it does not renew.
    public func requestPriceIncrease(
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

    public func consentToPriceIncrease(of transactionIdentifier: String) throws(StoreError) {
        try change(transactionIdentifier) { subscription, _ in try subscription.consentToPriceIncrease() }
    }

    public func declinePriceIncrease(of transactionIdentifier: String) throws(StoreError) {
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
    /// The sale under a number.
    ///
    /// - Throws: `StoreError`, `saleNotFound`.
    func sale(_ transactionIdentifier: String) throws -> Transaction {
        guard let transaction = try transactions.transaction(transactionIdentifier) else {
            throw StoreError.saleNotFound(transactionIdentifier)
        }
        return transaction
    }

    /// The subscription that a transaction belongs to.
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
