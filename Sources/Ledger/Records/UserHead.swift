/// The last numbers of a user's transactions, grants and audit records, and the digest of the last audit record.
package struct UserHead {
    package var lastTransaction: Int64
    package var lastGrant: Int64
    package var auditNumber: Int64
    package var auditDigest: [UInt8]

    /// The head of a new user.
    static let first = UserHead(
        lastTransaction: 0, lastGrant: 0, auditNumber: 0, auditDigest: AuditRecord.beginning)

    private init(lastTransaction: Int64, lastGrant: Int64, auditNumber: Int64, auditDigest: [UInt8]) {
        self.lastTransaction = lastTransaction
        self.lastGrant = lastGrant
        self.auditNumber = auditNumber
        self.auditDigest = auditDigest
    }

    init(_ row: SQLRow) throws {
        self.init(
            lastTransaction: try row["last_transaction"], lastGrant: try row["last_grant"],
            auditNumber: try row["audit_number"], auditDigest: try row["audit_digest"])
    }
}
