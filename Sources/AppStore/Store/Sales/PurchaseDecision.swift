import Catalog
import Foundation
import HTTPSupport
import Proofs

/// The result of a payment for a product, decided before anything is sold.
package enum PurchaseDecision: Hashable, Sendable {
    case fail(SKErrorCode)
    /// The subscription begins or changes.
    case subscribe(Product, Subscription)
    /// The account gets another transaction, free of charge, for a non-consumable that it owns.
    case buyAgain(original: Transaction)
    case charge(Product, Price)
    /// A subscription that the developer's server described changes.
    case change(AdvancedCommerceChange)

    /// - Parameters:
    /// - product: Nil if the store does not sell it.
    ///   - history: All transactions of the account, the oldest first; only a non-consumable depends on them.
    ///   - currency: The storefront's.
    package init(_ payment: Payment, for product: Product?, history: [Transaction], currency: String) {
        guard let product else {
            self = .fail(.storeProductNotAvailable)
            return
        }
        if payment.billingPlanType == .monthly, product.subscription?.monthlyPlan == nil {
            // The catalog has changed since the payment was added.
            self = .fail(.storeProductNotAvailable)
        } else if let charge = payment.advancedCommerceCharge {
            self = Self.sale(of: charge, as: product, billed: payment.billingPlanType)
        } else if let subscription = product.subscription {
            self = .subscribe(product, subscription)
        } else if payment.offer != nil {
            self = .fail(.invalidOfferIdentifier)
        } else if let original = Self.original(of: product, in: history) {
            self = .buyAgain(original: original)
        } else {
            let milliunits = product.price.milliunits * Int64(payment.quantity)
            self = .charge(product, Price(milliunits: milliunits, currency: currency))
        }
    }

    /// The sale of what the developer's server describes. The generic product of subscriptions is no product of one-time charges.
    private static func sale(of charge: AdvancedCommerceCharge, as product: Product, billed plan: BillingPlanType?)
        -> PurchaseDecision
    {
        if let change = charge.change { return product.subscription == nil ? .fail(.paymentInvalid) : .change(change) }
        let described = charge.describing(product)
        return switch (charge.terms, described.subscription) {
        case (nil, nil): .charge(product, charge.price)
        case (.some, let subscription?) where plan != .monthly: .subscribe(described, subscription)
        default: .fail(.paymentInvalid)
        }
    }

    /// The first purchase of a non-consumable that the account still owns.
    private static func original(of product: Product, in history: [Transaction]) -> Transaction? {
        guard product.type == .nonConsumable else { return nil }
        return history.first {
            $0.productIdentifier == product.productIdentifier && $0.revocation == nil
                && $0.transactionIdentifier == $0.originalTransactionIdentifier
        }
    }
}

extension Transaction {
    /// A further transaction of the same purchase, free of charge: bought again or restored.
    package func repeated(
        transactionIdentifier: String,
        appAccountToken: UUID? = nil,
        at now: Timestamp
    ) -> Transaction {
        var transaction = self
        transaction.transactionIdentifier = transactionIdentifier
        transaction.purchaseDate = now
        transaction.price = Price(milliunits: 0, currency: price.currency)
        (transaction.offer, transaction.revocation) = (nil, nil)
        (transaction.reason, transaction.isUpgraded) = (.purchase, false)
        transaction.appAccountToken = appAccountToken ?? self.appAccountToken
        return transaction
    }
}

/// The reason why a payment fails while it is processed.
package struct PaymentFailure: Error {
    package let error: SKErrorCode
}

extension Books {
    /// Sells a product to an account. `PurchaseDecision` has the rules.
    ///
    /// - Returns: The transaction that the customer's queue shows.
    /// - Throws: `PaymentFailure`.
    func sell(_ payment: Payment, account: String) throws -> Transaction {
        let product = configuration.product(payment.productIdentifier)
        // Decoding a long history for each consumable would be slow.
        let history = product?.type == .nonConsumable ? try transactions.transactions(of: account) : []
        switch PurchaseDecision(payment, for: product, history: history, currency: storefront.currency) {
        case .fail(let error): throw PaymentFailure(error: error)
        case .subscribe(let product, let subscription):
            return try subscribe(payment, product, subscription, account: account)
        case .buyAgain(let original): return try again(original, appAccountToken: payment.appAccountToken)
        case .charge(let product, let price):
            return try charge(price, for: product, payment, account: account)
        case .change(let change): return try self.change(by: change, payment, account: account)
        }
    }

    private func charge(
        _ price: Price,
        for product: Product,
        _ payment: Payment,
        account: String
    ) throws -> Transaction {
        var transaction = Transaction(
            newTransactionIdentifier(), orderIdentifier: newOrderIdentifier(), account: account,
            productIdentifier: product.productIdentifier, type: product.type, quantity: payment.quantity, price: price,
            storefrontCountryCode: storefront.countryCode, at: try now(of: account))
        transaction.appAccountToken = payment.appAccountToken
        transaction.advancedCommerceCharge = payment.advancedCommerceCharge
        try transactions.add(transaction)
        try notify(.oneTimeCharge, nil, of: transaction)
        try shareWithFamily(transaction)
        return transaction
    }

    /// Adds another transaction of a purchase, free of charge: bought again or restored.
    func again(_ original: Transaction, appAccountToken: UUID? = nil) throws -> Transaction {
        let transaction = original.repeated(
            transactionIdentifier: newTransactionIdentifier(), appAccountToken: appAccountToken,
            at: try now(of: original.account))
        try transactions.add(transaction)
        return transaction
    }

    func newTransactionIdentifier() -> String { randomness.digits(16, startingWith: "2") }

    /// Ten letters and digits, in the form of Apple's invoices.
    func newOrderIdentifier() -> String {
        let alphabet = Array("ABCDEFGHJKLMNPQRSTUVWXYZ0123456789")
        return "M" + String(randomness.bytes(9).map { alphabet[Int($0) % alphabet.count] })
    }
}
