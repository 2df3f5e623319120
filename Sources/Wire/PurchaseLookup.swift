/// The purchases of a transaction or an original transaction.
public struct PurchaseLookup: Codable, Sendable {
    /// Those that users have redeemed: more than one if several origins use the identifier.
    public let purchases: [KnownPurchaseResource]
    /// Those that nobody has redeemed.
    public let unclaimed: [UnclaimedPurchaseResource]

    public init(
        purchases: [KnownPurchaseResource],
        unclaimed: [UnclaimedPurchaseResource]
    ) {
        self.purchases = purchases
        self.unclaimed = unclaimed
    }
}
