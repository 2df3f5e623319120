import Commerce

/// Whether a transaction stands by the App Store's word, and when that was said.
struct Standing {
    /// nil while it stands.
    let revocationDate: Timestamp?
    let revocationReason: Int?
    /// nil of what lasts.
    var expiresAt: Timestamp?
    /// When the statement was signed.
    let statedAt: Timestamp

    static let columns = "revocation_date, revocation_reason, expires_at, stated_at"

    init(_ claim: Claim) {
        revocationDate = claim.revocationDate
        revocationReason = claim.revocationReason
        expiresAt = claim.expiresAt
        statedAt = claim.signedAt
    }

    init(_ row: SQLRow) throws {
        revocationDate = try row["revocation_date"]
        revocationReason = try row["revocation_reason"]
        expiresAt = try row["expires_at"]
        statedAt = try row["stated_at"]
    }

    /// The later of two statements counts; of two signed at the same moment the one that takes back, else the one that ends
    /// later.
    func isLater(than other: Standing) -> Bool {
        if statedAt != other.statedAt { return statedAt > other.statedAt }
        if (revocationDate == nil) != (other.revocationDate == nil) { return revocationDate != nil }
        return (expiresAt?.millisecondsSince1970 ?? 0) > (other.expiresAt?.millisecondsSince1970 ?? 0)
    }
}
