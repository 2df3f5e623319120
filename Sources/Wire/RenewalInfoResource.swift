import Commerce

/// The last statement of the App Store about the renewal of a user's subscription.
public struct RenewalInfoResource: Codable, Sendable {
    public let originalTransactionId: String
    public let origin: Origin
    /// RFC 3339, UTC.
    public let signedDate: String
    public let facts: RenewalFactsResource

    public init(originalTransactionId: String, origin: Origin, signedDate: String, facts: RenewalFactsResource) {
        self.originalTransactionId = originalTransactionId
        self.origin = origin
        self.signedDate = signedDate
        self.facts = facts
    }
}
