import Commerce
import Receipts

/// What an app asks StoreKit for besides its purchases. Each fails where the settings say so.
extension Store {
    /// The products for sale (StoreKit, `Product.products(for:)`).
    public func products() throws(StoreError) -> [Product] {
        try read { books in
            try books.failIfAsked(.loadProducts)
            return configuration.products
        }
    }

    /// Where an account's subscriptions stand (StoreKit, `Product.SubscriptionInfo.status`).
    public func subscriptionStatuses(
        of account: String
    ) throws(StoreError) -> [StatusResponse.SubscriptionGroupIdentifierItem] {
        try read { books in
            try books.failIfAsked(.subscriptionStatus)
            return try books.subscriptions.subscriptions(of: account).compactMap(books.statusItem)
        }
    }

    /// The app itself, as an account has it (StoreKit, `AppTransaction.shared`), signed (JWS).
    public func signedAppTransaction(of account: String) throws(StoreError) -> String {
        try read { books in
            try books.failIfAsked(.appTransaction)
            return try issuer.signedAppTransaction(of: account, at: books.now)
        }
    }
}

extension Books {
    /// - Throws: `StoreError`, `simulated`.
    func failIfAsked(_ call: StoreKitCall) throws {
        if let failure = settings.simulatedErrors[call] { throw StoreError.simulated(call, failure) }
    }
}
