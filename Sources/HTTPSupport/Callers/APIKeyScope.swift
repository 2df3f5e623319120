/// A permission of an API key.
public enum APIKeyScope: String, Sendable, CaseIterable {
    /// The scopes that a selling back end needs. Other scopes must be requested.
    public static let standard: Set<APIKeyScope> = [.read, .redeem]

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

    /// The permission as text for people.
    public var summary: String {
        switch self {
        case .read: "the catalog, what users own and redeemed"
        case .redeem: "to hand in proofs, to set account tokens"
        case .grant: "to give items without a purchase, to take back"
        case .support: "to read stories, explanations and unclaimed purchases"
        case .spend: "to spend what users have bought"
        case .export: "everything there is of users"
        case .erase: "to erase users"
        case .catalog: "to create, edit and withdraw products"
        case .webhooks: "to have back ends told what happens"
        case .figures: "what was sold, summed up"
        case .metrics: "for Prometheus"
        }
    }
}
