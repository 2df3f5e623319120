import Commerce
import Store

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
        switch effect {
        case .charged(let price):
            try container.encode("charged", forKey: .effect)
            try container.encode(price.milliunits, forKey: .price)
            try container.encode(price.currency, forKey: .currency)
        case .alreadySubscribed(let date):
            try container.encode("alreadySubscribed", forKey: .effect)
            try container.encode(date.rfc3339, forKey: .renewalDate)
        case .changes(let product, let date):
            try container.encode("changes", forKey: .effect)
            try container.encode(product, forKey: .nextProductId)
            try container.encode(date.rfc3339, forKey: .renewalDate)
        case nil: break
        }
    }
}
