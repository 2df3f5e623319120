import Commerce
import Foundation

/// Everything the ledger has of one user, as of one moment.
public struct UserArchive: Sendable {
    public let firstSeenAt: Timestamp
    public let appAccountToken: UUID
    /// nil for a user without an account here.
    public let account: AccountRecord?
    /// Newest first.
    public let sessions: [SessionRecord]
    /// nil for who has not signed up in the seed's own app.
    public let member: MemberRecord?
    /// And what the user owns.
    public let profile: ProfileRecord
    /// Newest first, as the lists after them but the last.
    public let transactions: [RedeemedTransaction]
    public let grants: [Grant]
    public let balances: [Credit]
    /// From the first on.
    public let audit: [AuditRecord]
}
