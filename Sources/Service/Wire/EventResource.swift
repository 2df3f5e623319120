/// The data of a server-sent event: a change to a user's items.
struct EventResource: Codable, Sendable {
    /// RFC 3339, UTC.
    let happenedAt: String
    /// The identifier of the transaction or grant.
    var reference: String?
    /// The product. Nil for the profile.
    var subject: String?
}
