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
    /// To spend what users have bought.
    case spend
    /// To erase users.
    case erase
    /// To read the service's metrics.
    case metrics
}
