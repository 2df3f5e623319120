import Proofs

/// A user of an export.
struct ExportedUser {
    let number: Int64
    /// Nil for an erased user.
    let issuer: String?
    let name: String?
    let firstSeenAt: Timestamp
    /// Nil if the token was never returned to anybody.
    let appAccountToken: String?
}
