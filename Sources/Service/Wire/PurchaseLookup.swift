/// The purchases of a transaction, an original transaction, or an order.
public struct PurchaseLookup: Codable, Sendable {
    /// The redeemed purchases. There are several if several origins use the identifier.
    public let purchases: [KnownPurchaseResource]
    /// The purchases that nobody has redeemed.
    public let unclaimed: [UnclaimedPurchaseResource]
    /// The order that the App Store was asked about; nil if the identifier is a transaction.
    public let orderId: String?
    /// The transactions of the order that the ledger does not have; nil without an order.
    public let unrecorded: [UnrecordedTransactionResource]?

    public init(
        purchases: [KnownPurchaseResource],
        unclaimed: [UnclaimedPurchaseResource],
        orderId: String? = nil,
        unrecorded: [UnrecordedTransactionResource]? = nil
    ) {
        self.purchases = purchases
        self.unclaimed = unclaimed
        self.orderId = orderId
        self.unrecorded = unrecorded
    }
}
