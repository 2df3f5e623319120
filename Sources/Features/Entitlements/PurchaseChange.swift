import Proofs

/// A change that the team makes to a purchase.
package enum PurchaseChange: Hashable, Sendable {
    case revoke(Revocation)
    /// - by: The identifier of the API key.
    /// - reason: The reason, in the team's own words; nil if none is given.
    case reinstate(by: String, at: Timestamp, reason: String? = nil)
}
