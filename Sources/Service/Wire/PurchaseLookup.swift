/// The purchases of a transaction, an original transaction, or an order.
package struct PurchaseLookup: Codable, Sendable {
    /// The redeemed purchases. There are several if several origins use the identifier.
    package let purchases: [KnownPurchaseResource]
    /// The purchases that nobody has redeemed.
    package let unclaimed: [UnclaimedPurchaseResource]
    /// The order that the App Store was asked about; nil if the identifier is a transaction.
    package var orderId: String?
    /// The transactions of the order that the ledger does not have; nil without an order.
    package var unrecorded: [UnrecordedTransactionResource]?
}
