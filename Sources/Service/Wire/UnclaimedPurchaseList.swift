/// A page of unclaimed purchases, ordered by transaction.
package struct UnclaimedPurchaseList: Codable, Sendable {
    package let purchases: [UnclaimedPurchaseResource]
    /// The `cursor` of the next page. Nil on the last page.
    package var nextCursor: String?
}
