/// The counts of an import of customers.
public struct CustomerImport: Hashable, Sendable {
    /// The number of customers who were unknown before.
    public var newCustomers = 0
    /// The number of ids that lead to their customers now.
    public var aliases = 0
    /// The number of ids that belong to other customers already, and stay theirs.
    public var otherAliases = 0
    /// The number of new grants.
    public var newGrants = 0
    /// The number of grants of an earlier import, revoked ones included.
    public var knownGrants = 0
    /// The number of purchases that await a proof.
    public var expectedPurchases = 0
    /// The number of purchases that the customers own already.
    public var confirmedPurchases = 0
    /// The number of purchases that other customers own, or that an earlier import expects for other customers.
    public var otherPurchases = 0

    public init() {}

    public static func + (left: Self, right: Self) -> Self {
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
