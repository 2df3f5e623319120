import Proofs

/// The last statement of the App Store about the renewal of a user's subscription.
struct RenewalInfoResource: Codable, Sendable {
    let originalTransactionId: String
    let origin: Origin
    /// RFC 3339, UTC.
    let signedDate: String
    /// The stated facts, under Apple's names. Facts that the App Store has not stated are absent.
    let facts: [String: JSONContent]
}
