/// A page of unclaimed purchases, by their transactions.
public struct UnclaimedPurchaseList: Codable, Sendable {
    public let purchases: [UnclaimedPurchaseResource]
    /// The value of the query parameter `cursor` for the next page; nil on the last.
    public let nextCursor: String?

    public init(
        purchases: [UnclaimedPurchaseResource],
        nextCursor: String? = nil
    ) {
        self.purchases = purchases
        self.nextCursor = nextCursor
    }
}
