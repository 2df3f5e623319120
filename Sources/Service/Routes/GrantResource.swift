import Commerce
import Entitlements
import HTTPSupport
import Ledger

/// A grant without a purchase, as the service shows it.
struct GrantResource: Encodable, Sendable {
    let grantId: String
    let item: Item
    let reason: String
    /// The API key's identifier.
    let grantedBy: String
    /// Dates are RFC 3339, UTC.
    let grantedAt: String
    /// Absent where it lasts.
    let endsAt: String?
    /// Absent while it stands.
    let revocation: RevocationResource?

    init(_ grant: Grant) {
        grantId = grant.identifier
        item = grant.item
        reason = grant.reason
        grantedBy = grant.grantedBy
        grantedAt = grant.grantedAt.rfc3339
        endsAt = grant.endsAt?.rfc3339
        revocation = grant.revocation.map(RevocationResource.init)
    }
}

/// That the team has taken something back.
struct RevocationResource: Encodable, Sendable {
    let revokedAt: String
    let reason: String
    /// The API key's identifier.
    let revokedBy: String

    init(_ revocation: Revocation) {
        revokedAt = revocation.revokedAt.rfc3339
        reason = revocation.reason
        revokedBy = revocation.revokedBy
    }
}

/// A page of grants, newest first.
struct GrantList: Encodable {
    let grants: [GrantResource]
    /// What `cursor` has to be for the next page; absent on the last.
    let nextCursor: String?
}
