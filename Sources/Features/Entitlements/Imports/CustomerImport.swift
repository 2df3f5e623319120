/// The counts of an import of customers.
package struct CustomerImport: Hashable, Sendable {
    /// The number of customers who were unknown before.
    package var newCustomers = 0
    /// The number of ids that lead to their customers now.
    package var aliases = 0
    /// The number of ids that belong to other customers already, and stay theirs.
    package var otherAliases = 0
    /// The number of new grants.
    package var newGrants = 0
    /// The number of grants of an earlier import, revoked ones included.
    package var knownGrants = 0
    /// The number of purchases that await a proof.
    package var expectedPurchases = 0
    /// The number of purchases that the customers own already.
    package var confirmedPurchases = 0
    /// The number of purchases that other customers own, or that an earlier import expects for other customers.
    package var otherPurchases = 0

    package init() {}

    package static func + (left: Self, right: Self) -> Self {
        var sum = left
        sum.newCustomers += right.newCustomers
        sum.aliases += right.aliases
        sum.otherAliases += right.otherAliases
        sum.newGrants += right.newGrants
        sum.knownGrants += right.knownGrants
        sum.expectedPurchases += right.expectedPurchases
        sum.confirmedPurchases += right.confirmedPurchases
        sum.otherPurchases += right.otherPurchases
        return sum
    }
}
