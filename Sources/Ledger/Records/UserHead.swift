import Proofs

/// The last numbers of a user's transactions, grants and audit records, and the digest of the last audit record.
///
/// The ledger writes a head only if no other writer has written it since it was read.
package struct UserHead {
    /// The number of writes for the user.
    let version: Int64
    /// The number of writes for the user after this head is written.
    package var nextVersion: Int64 { version + 1 }
    package var lastTransaction: Int64
    package var lastGrant: Int64
    package var auditNumber: Int64
    var auditDigest: [UInt8]
    /// True if the user was erased.
    let isErased: Bool

    /// The head of a new user.
    package static let first = UserHead(
        version: 0, lastTransaction: 0, lastGrant: 0, auditNumber: 0, auditDigest: AuditRecord.beginning,
        isErased: false)

    private init(
        version: Int64,
        lastTransaction: Int64,
        lastGrant: Int64,
        auditNumber: Int64,
        auditDigest: [UInt8],
        isErased: Bool
    ) {
        self.version = version
        self.lastTransaction = lastTransaction
        self.lastGrant = lastGrant
        self.auditNumber = auditNumber
        self.auditDigest = auditDigest
        self.isErased = isErased
    }

    init(_ row: SQLRow) throws {
        let issuer: String = try row["issuer"]
        self.init(
            version: try row["version"], lastTransaction: try row["last_transaction"], lastGrant: try row["last_grant"],
            auditNumber: try row["audit_number"], auditDigest: try row["audit_digest"],
            isErased: issuer == User.erasedIssuer)
    }
}
