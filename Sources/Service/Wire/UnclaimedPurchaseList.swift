/// A page of unclaimed purchases, ordered by transaction.
public struct UnclaimedPurchaseList: Codable, Sendable {
    public let purchases: [UnclaimedPurchaseResource]
    /// The `cursor` of the next page. Nil on the last page.
    public let nextCursor: String?

    public init(
        purchases: [UnclaimedPurchaseResource],
        nextCursor: String? = nil
    ) {
        self.purchases = purchases
        self.nextCursor = nextCursor
    }
}
