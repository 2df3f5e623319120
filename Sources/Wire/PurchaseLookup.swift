/// The purchases of a transaction or an original transaction.
public struct PurchaseLookup: Codable, Sendable {
    /// The redeemed purchases. There are several if several origins use the identifier.
    public let purchases: [KnownPurchaseResource]
    /// The purchases that nobody has redeemed.
    public let unclaimed: [UnclaimedPurchaseResource]

    public init(
        purchases: [KnownPurchaseResource],
        unclaimed: [UnclaimedPurchaseResource]
    ) {
        self.purchases = purchases
        self.unclaimed = unclaimed
    }
}
