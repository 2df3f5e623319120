import Commerce

/// A user of an export.
struct ExportedUser {
    let number: Int64
    /// Nil for a user who is erased.
    let issuer: String?
    let name: String?
    let firstSeenAt: Timestamp
    /// Nil if nobody was told it.
    let appAccountToken: String?
}
