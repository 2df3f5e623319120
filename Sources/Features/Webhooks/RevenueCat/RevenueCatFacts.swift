import Ledger
import Proofs

/// The facts about a change that its message in RevenueCat's format depends on.
package struct RevenueCatFacts: Sendable {
    package var entry: AuditEntry
    /// The same in each attempt and for each endpoint.
    package var messageIdentifier: String
    /// The largest number of ids of a customer in a message. Anybody with an app can add ids to a customer.
    static let maximumIdentifiers = 10

    /// The ids of the customer, the present one first.
    package var customer: [String]
    /// True if the customer, or the present owner, has more ids.
    var hasMoreIdentifiers = false
    /// The transactions of the purchase, oldest first; empty for a change without a purchase.
    package var transactions: [RedeemedTransaction] = []
    /// The ids of the present owner of the purchase, the present one first; empty if the owner was erased.
    package var owner: [String] = []
    /// The last revocation of the transaction before the change; nil for none.
    package var revocation: AuditEntry?
    /// The grant; nil for a change without one.
    package var grant: Grant?
    /// The type of the product in the catalog; nil for an unknown product.
    package var type: ProductType?
    /// The rights that the product or the item gives. RevenueCat calls them entitlements.
    package var rights: [String] = []

    package init(_ entry: AuditEntry, messageIdentifier: String, customer: [String]) {
        self.entry = entry
        self.messageIdentifier = messageIdentifier
        self.customer = customer
    }
}
