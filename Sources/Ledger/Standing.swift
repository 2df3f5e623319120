import Commerce
import GRDB

/// Whether a transaction stands by the App Store's word, and when that was said.
struct Standing {
    /// Milliseconds since 1970; nil while it stands.
    let revocationDate: Int64?
    let revocationReason: Int?
    /// When the statement was signed.
    let statedAt: Int64

    init(_ claim: Claim) {
        revocationDate = claim.revocationDate?.millisecondsSince1970
        revocationReason = claim.revocationReason
        statedAt = claim.signedAt.millisecondsSince1970
    }

    init(_ row: Row) {
        revocationDate = row["revocation_date"]
        revocationReason = row["revocation_reason"]
        statedAt = row["stated_at"]
    }

    /// The later of two statements counts, and of two signed at the same moment the one that takes back.
    func isLater(than other: Standing) -> Bool {
        statedAt == other.statedAt
            ? revocationDate != nil && other.revocationDate == nil : statedAt > other.statedAt
    }
}
