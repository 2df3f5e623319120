/// What an API key allows.
public enum APIKeyScope: String, Sendable, CaseIterable {
    /// What a back end that sells needs; the other scopes are given where they are asked for.
    public static let standard: Set<APIKeyScope> = [.read, .redeem]

    /// To read the catalog, what users own and what they redeemed.
    case read
    /// To hand in proofs for users, and to set users' account tokens.
    case redeem
    /// To give items without a purchase, and to take back what was given or redeemed.
    case grant
    /// To read all that happened to a user and a purchase, and why; other owners of a refused purchase included.
    case support
    /// To spend what users have bought.
    case spend
    /// To read everything there is of users, their address and phone number included, and to export all transactions, customers
    /// and events.
    case export
    /// To erase users.
    case erase
    /// To create, edit and withdraw products.
    case catalog
    /// To have back ends told what happens, and to read with which secrets.
    case webhooks
    /// To read what was sold, summed up: no user is named.
    case figures
    /// To read the service's metrics.
    case metrics

    /// What it allows, in words for people.
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
