/// A redeemed transaction, with the app that it is of.
package struct BoughtTransaction: Hashable, Sendable {
    /// The number that stands for the bundle identifier in the ledger.
    package let app: Int64
    package let transaction: RedeemedTransaction

    package init(app: Int64, transaction: RedeemedTransaction) {
        self.app = app
        self.transaction = transaction
    }
}
