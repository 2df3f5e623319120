/// What an API key allows.
public enum APIKeyScope: String, Sendable, CaseIterable {
    /// To read the catalog, what users own and what they redeemed.
    case read
    /// To hand in proofs for users, and to set users' account tokens.
    case redeem
}
