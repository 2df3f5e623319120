import Commerce
import GRDB

/// Whether a transaction stands by the App Store's word, and when that was said.
struct Standing {
    /// Milliseconds since 1970; nil while it stands.
    let revocationDate: Int64?
    let revocationReason: Int?
    /// Milliseconds since 1970; nil of what lasts.
    var expiresAt: Int64?
    /// When the statement was signed.
    let statedAt: Int64

    init(_ claim: Claim) {
        revocationDate = claim.revocationDate?.millisecondsSince1970
        revocationReason = claim.revocationReason
        expiresAt = claim.expiresAt?.millisecondsSince1970
        statedAt = claim.signedAt.millisecondsSince1970
    }

    init(_ row: Row) {
        revocationDate = row["revocation_date"]
        revocationReason = row["revocation_reason"]
        expiresAt = row["expires_at"]
        statedAt = row["stated_at"]
    }

    /// The later of two statements counts; of two signed at the same moment the one that takes back, else the one that ends
    /// later.
    func isLater(than other: Standing) -> Bool {
        if statedAt != other.statedAt { return statedAt > other.statedAt }
        if (revocationDate == nil) != (other.revocationDate == nil) { return revocationDate != nil }
        return (expiresAt ?? 0) > (other.expiresAt ?? 0)
    }
}
