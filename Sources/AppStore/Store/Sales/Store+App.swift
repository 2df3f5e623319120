import Proofs

/// The requests of an app to StoreKit besides purchases. Each fails if the settings simulate an error.
extension Store {
    /// The products for sale (StoreKit, `Product.products(for:)`).
    package func products() throws(StoreError) -> [Product] {
        try read { books in
            try books.throwSimulatedError(.loadProducts)
            return configuration.products
        }
    }

    /// The states of an account's subscriptions (StoreKit, `Product.SubscriptionInfo.status`).
    package func subscriptionStatuses(
        of account: String
    ) throws(StoreError) -> [StatusResponse.SubscriptionGroupIdentifierItem] {
        try read { books in
            try books.throwSimulatedError(.subscriptionStatus)
            return try books.subscriptions.subscriptions(of: account).compactMap(books.statusItem)
        }
    }

    /// The signed app transaction (JWS) of an account (StoreKit, `AppTransaction.shared`).
    package func signedAppTransaction(of account: String) throws(StoreError) -> String {
        try read { books in
            try books.throwSimulatedError(.appTransaction)
            return try issuer.signedAppTransaction(of: account, at: books.now)
        }
    }
}

extension Books {
    /// - Throws: `StoreError`, `simulated`.
    func throwSimulatedError(_ call: StoreKitCall) throws {
        if let failure = settings.simulatedErrors[call] { throw StoreError.simulated(call, failure) }
    }
}
