import Ledger
import Proofs

/// The facts about a user and an item that an explanation is derived from.
package struct ItemFacts: Sendable {
    /// A purchase of the user that grants, or has granted, the item.
    package struct Purchase: Sendable {
        package let status: PurchaseStatus
        /// True if the origin of the purchase is accepted for the user.
        package let counts: Bool
        /// The team's revocation; nil without one.
        package let revocation: Revocation?
        /// The date of the App Store's revocation; nil without one.
        package let revocationDate: Timestamp?

        package init(status: PurchaseStatus, counts: Bool, revocation: Revocation?, revocationDate: Timestamp?) {
            self.status = status
            self.counts = counts
            self.revocation = revocation
            self.revocationDate = revocationDate
        }
    }

    /// Nil if the user does not own the item.
    package var owned: OwnedItem?
    /// The identifiers of the products that grant the item.
    package var products: [String] = []
    package var purchases: [Purchase] = []
    /// The newest grant of the item by the team.
    package var grant: Grant?
    /// The newest refusal or transfer of a purchase of these products.
    package var event: AuditEntry?
    /// The owner of that purchase, if it is another user.
    package var otherOwner: User?
    /// The purchase of these products that an import expects for the user and that lasts longest.
    package var expected: ImportedCustomer.ExpectedPurchase?
    /// True if that purchase has ended.
    package var hasExpectedEnded = false
    /// The newest purchase of these products that nobody has redeemed.
    package var unclaimed: UnclaimedPurchase?

    package init() {}
}
