/// The data of a server-sent event: a change to a user's items.
public struct EventResource: Codable, Sendable {
    /// RFC 3339, UTC.
    public let happenedAt: String
    /// The identifier of the transaction or grant.
    public let reference: String?
    /// The product. Nil for the profile.
    public let subject: String?

    public init(happenedAt: String, reference: String? = nil, subject: String? = nil) {
        self.happenedAt = happenedAt
        self.reference = reference
        self.subject = subject
    }
}
