import Proofs

extension Ledger {
    /// Verifies the next page of a verification. Requests do not wait for it.
    ///
    /// - Parameter limit: The largest number of users and of records in the page.
    /// - Throws: `StorageFault`; `CancellationError`. The verification can continue afterwards.
    package func verifyAudit(
        continuing verification: AuditVerification, limit: Int = AuditVerification.sizeOfPage
    ) async throws -> AuditVerification {
        var verification = verification
        guard !verification.isComplete else { return verification }
        let (user, last) = (verification.user, verification.last)
        let page = try await read(.longSnapshot) { transaction in
            try transaction.audit.page(from: user, after: last?.number, limit: limit)
        }
        verification.verify(page)
        return verification
    }
}

extension AuditRecords {
    /// A page of a verification.
    ///
    /// - Parameters:
    ///   - user: The number of the first user.
    ///   - number: The number of that user's last verified record; nil for none.
    fileprivate func page(from user: Int64, after number: Int64?, limit: Int) throws -> AuditVerification.Page {
        let heads = try database.rows(
            """
            SELECT user_id, issuer, name, audit_number, audit_digest FROM "user" WHERE user_id >= $1
            ORDER BY user_id LIMIT $2
            """,
            [user, limit]
        ).map { row in
            AuditVerification.Page.Head(
                user: try row["user_id"], name: User(issuer: try row["issuer"], name: try row["name"]),
                number: try row["audit_number"], digest: try row["audit_digest"])
        }
        guard let end = heads.last?.user else { return AuditVerification.Page(heads: [], records: [], isCut: false) }
        let rows = try database.rows(
            """
            SELECT * FROM audit WHERE (user_id, number) > ($1, $2) AND user_id <= $3
            ORDER BY user_id, number LIMIT $4
            """,
            [user, number ?? .min, end, limit])
        return AuditVerification.Page(
            heads: heads, records: try rows.map { (user: try $0["user_id"], record: try AuditRecord($0)) },
            isCut: rows.count == limit)
    }
}
