import Proofs

/// The last statement of the App Store about the renewal of a user's subscription.
public struct RenewalInfoResource: Codable, Sendable {
    public let originalTransactionId: String
    public let origin: Origin
    /// RFC 3339, UTC.
    public let signedDate: String
    /// The stated facts, under Apple's names. Facts that the App Store has not stated are absent.
    public let facts: [String: JSONContent]

    public init(originalTransactionId: String, origin: Origin, signedDate: String, facts: [String: JSONContent]) {
        self.originalTransactionId = originalTransactionId
        self.origin = origin
        self.signedDate = signedDate
        self.facts = facts
    }
}
