import Foundation
import Proofs

/// The reason why a payment fails while it is processed.
struct PaymentFailure: Error {
    let error: SKErrorCode
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
        }
    }

    private func charge(
        _ price: Price,
        for product: Product,
        _ payment: Payment,
        account: String
    ) throws -> Transaction {
        let identifier = newTransactionIdentifier()
        let transaction = Transaction(
            transactionIdentifier: identifier, originalTransactionIdentifier: identifier,
            orderIdentifier: newOrderIdentifier(), webOrderLineItemIdentifier: nil, account: account,
            productIdentifier: product.productIdentifier, type: product.type, subscriptionGroupIdentifier: nil,
            quantity: payment.quantity, purchaseDate: now, originalPurchaseDate: now, price: price, offer: nil,
            reason: .purchase, ownership: .purchased, storefrontCountryCode: storefront.countryCode, expiresDate: nil,
            appAccountToken: payment.appAccountToken)
        try transactions.add(transaction)
        try notify(.oneTimeCharge, nil, of: transaction)
        return transaction
    }

    /// Adds another transaction of a purchase, free of charge: bought again or restored.
    func again(_ original: Transaction, appAccountToken: UUID? = nil) throws -> Transaction {
        let transaction = original.repeated(
            transactionIdentifier: newTransactionIdentifier(), appAccountToken: appAccountToken, at: now)
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
