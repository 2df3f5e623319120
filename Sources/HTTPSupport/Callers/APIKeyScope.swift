/// A permission of an API key.
package enum APIKeyScope: String, Sendable, CaseIterable {
    /// The scopes that a selling back end needs. Other scopes must be requested.
    package static let standard: Set<APIKeyScope> = [.read, .redeem]

    /// Allows reading the catalog, the items of users and their redeemed transactions.
    case read
    /// Allows redeeming proofs for users and setting users' account tokens.
    case redeem
    /// Allows granting items without a purchase, and revoking grants and redeemed purchases.
    case grant
    /// Allows reading the events of a user and a purchase with their causes. They include other owners of a refused purchase.
    case support
    /// Allows spending users' consumables.
    case spend
    /// Allows reading all data of users, including addresses and phone numbers, and exporting all transactions, customers
    /// and events.
    case export
    /// Allows erasing users.
    case erase
    /// Allows creating, editing and withdrawing products.
    case catalog
    /// Allows managing webhooks and reading their secrets.
    case webhooks
    /// Allows reading sums of sales without the names of users.
    case figures
    /// Allows reading the service's metrics.
    case metrics

    /// The permission as a verb phrase, such as "erase users".
    package var summary: String {
        switch self {
        case .read: "read the catalog, items and transactions"
        case .redeem: "redeem proofs and set account tokens"
        case .grant: "grant items, revoke grants and purchases"
        case .support: "read histories, explanations and unclaimed purchases"
        case .spend: "spend consumables"
        case .export: "read and export all data of users"
        case .erase: "erase users"
        case .catalog: "create, edit and withdraw products"
        case .webhooks: "manage webhooks and read their secrets"
        case .figures: "read sums of sales"
        case .metrics: "read metrics"
        }
    }
}
