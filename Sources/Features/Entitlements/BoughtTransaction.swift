/// A redeemed transaction and its app.
package struct BoughtTransaction: Hashable, Sendable {
    /// The number of the app in the ledger.
    package let app: Int64
    package let transaction: RedeemedTransaction

    package init(app: Int64, transaction: RedeemedTransaction) {
        self.app = app
        self.transaction = transaction
    }
}
