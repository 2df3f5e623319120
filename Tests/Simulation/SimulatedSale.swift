import AppStore
import Catalog
import Entitlements
import Proofs
import Vocabulary

/// A transaction in the books of an app's store.
@dynamicMemberLookup
struct SimulatedSale: Sendable {
    let app: SimulatedApp
    let transaction: Transaction

    subscript<Value>(dynamicMember path: KeyPath<Transaction, Value>) -> Value { transaction[keyPath: path] }

    var key: TransactionKey { app.key(transaction.transactionIdentifier) }

    var originalKey: TransactionKey { app.key(transaction.originalTransactionIdentifier) }

    /// The benefit of the product in the catalog of its app.
    var benefit: Benefit? { app.garden.catalog.benefit(of: transaction.productIdentifier) }

    var day: CalendarDay { CalendarDay(transaction.purchaseDate) }

    var isTrial: Bool { transaction.offer?.paymentMode == .freeTrial }

    /// The price of a period for a month, by the length that the catalog gives the product.
    var monthlyPrice: Int64 {
        let price = transaction.price.milliunits
        return transaction.productIdentifier.hasSuffix(".yearly") ? price / 12 : price
    }

    /// The date of the refund; nil if the sale stands, or the sharing of a family ended.
    var refundedAt: Timestamp? { transaction.ownership == .purchased ? transaction.revocation?.date : nil }

    var refundDay: CalendarDay? { refundedAt.map { CalendarDay($0) } }
}

extension SimulatedSale: CustomStringConvertible {
    var description: String {
        "\(transaction.transactionIdentifier) of \(transaction.originalTransactionIdentifier) "
            + "\(transaction.productIdentifier) in \(app.bundleIdentifier) \(transaction.price.milliunits) "
            + "\(transaction.price.currency) \(transaction.purchaseDate.rfc3339) to "
            + "\(transaction.expiresDate?.rfc3339 ?? "-")\(isTrial ? " trial" : "")"
            + (transaction.isUpgraded ? " upgraded" : "")
            + (transaction.revocation.map { " revoked \($0.date.rfc3339)" } ?? "")
    }
}
