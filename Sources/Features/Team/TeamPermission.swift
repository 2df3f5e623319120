/// A permission of a team member.
package enum TeamPermission: Sendable, CaseIterable {
    /// Allows reading every page but those of other permissions.
    case view
    /// Allows giving, revoking and assigning, adding to balances, sending messages again, and exporting one customer.
    case support
    /// Allows creating, editing and withdrawing products.
    case catalog
    /// Allows controlling the local App Store.
    case store
    /// Allows erasing customers, managing webhooks and their secrets, reconciling, exporting all customers and verifying the
    /// audit log.
    case administer
}
