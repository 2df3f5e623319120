import AppStore
import Proofs

/// The JSON of `till store buy`: the transaction of the queue, and the effect of the payment.
struct PaymentReport: Encodable {
    private let transaction: TransactionReport
    private let effect: PurchaseEffect?

    init(_ transaction: PaymentTransaction, account: String, effect: PurchaseEffect?) {
        self.transaction = TransactionReport(transaction, user: account)
        self.effect = effect
    }

    private enum CodingKeys: String, CodingKey {
        case effect
        /// Milliunits of the currency.
        case price
        case currency
        /// The product after the next renewal.
        case nextProductId
        case renewalDate
    }

    func encode(to encoder: any Encoder) throws {
        try transaction.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(effect?.kind.rawValue, forKey: .effect)
        try container.encodeIfPresent(effect?.price?.milliunits, forKey: .price)
        try container.encodeIfPresent(effect?.price?.currency, forKey: .currency)
        try container.encodeIfPresent(effect?.nextProductIdentifier, forKey: .nextProductId)
        try container.encodeIfPresent(effect?.renewalDate?.rfc3339, forKey: .renewalDate)
    }
}
