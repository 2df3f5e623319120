import Commerce

/// A change that the team makes to a purchase.
public enum PurchaseChange: Hashable, Sendable {
    case revoke(Revocation)
    /// - by: The identifier of the API key.
    case reinstate(by: String, at: Timestamp)
}
