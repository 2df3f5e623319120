import Proofs

/// The verification of the audit logs of all users, page by page. It can pause after each page.
///
/// Each page is read from its own snapshot, so that no transaction is long. A user's last record is compared with the user's
/// head from the snapshot that shows no further record. Records written later than their user's turn are not verified.
package struct AuditVerification: Hashable, Sendable {
    static let maximumReported = 10
    /// The largest number of users and of records in a page.
    package static let sizeOfPage = 1000

    /// A user whose log was changed.
    package struct Break: Hashable, Sendable {
        /// The name; nil for an invalid one.
        package let user: User?
        /// The number of the first record that does not follow. It or an earlier one was changed or removed.
        package let number: Int64
    }

    /// The number of users whose logs were verified.
    package private(set) var users = 0
    /// The number of verified records.
    package private(set) var records = 0
    /// The users whose logs were changed, in the order of their numbers.
    package private(set) var breaks: [Break] = []
    /// True if all users were verified.
    package private(set) var isComplete = false

    /// The user to continue with.
    private(set) var user = Int64.min
    /// The last verified record of that user; nil for none.
    private(set) var last: AuditRecord?
    /// True if the log of that user is broken before the position.
    private var isBroken = false

    package init() {}

    typealias Head = (user: Int64, name: User?, number: Int64, digest: [UInt8])

    /// The users from the position on, and their records in the order of the users and of their numbers. A page that is cut may
    /// lack records of its last users.
    typealias Page = (
        heads: [Head], records: [(user: Int64, record: AuditRecord)], isCut: Bool
    )

    /// Verifies a page that begins at the position.
    mutating func verify(_ page: Page) {
        var rest = page.records[...]
        for head in page.heads {
            if head.user != user { begin(head.user) }
            while let next = rest.first, next.user == user {
                check(next.record.follows(last), at: next.record.number, of: head.name)
                last = next.record
                records += 1
                rest = rest.dropFirst()
            }
            // The records of this user may go on.
            if page.isCut, rest.isEmpty { return }
            let (number, digest) = (last?.number ?? 0, last?.digest ?? AuditRecord.beginning)
            check(
                number == head.number && digest == head.digest,
                at: number == head.number ? max(number, 1) : min(number, head.number) + 1, of: head.name)
            users += 1
        }
        guard let end = page.heads.last?.user, end < .max else {
            isComplete = true
            return
        }
        begin(end + 1)
    }

    private mutating func begin(_ next: Int64) {
        user = next
        last = nil
        isBroken = false
    }

    private mutating func check(_ isIntact: Bool, at number: Int64, of user: User?) {
        guard !isIntact, !isBroken else { return }
        isBroken = true
        if breaks.count < Self.maximumReported { breaks.append(Break(user: user, number: number)) }
    }
}

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
        let page = try await read(.longSnapshot) { transaction -> AuditVerification.Page in
            let heads = try transaction.database.rows(
                """
                SELECT user_id, issuer, name, audit_number, audit_digest FROM "user" WHERE user_id >= $1
                ORDER BY user_id LIMIT $2
                """,
                [user, limit]
            ) { row -> AuditVerification.Head in
                (user: try row.next(), name: try User(&row), number: try row.next(), digest: try row.next())
            }
            guard let end = heads.last?.user else { return ([], [], isCut: false) }
            let records = try transaction.database.rows(
                """
                SELECT user_id, \(AuditRecord.columns) FROM audit
                WHERE (user_id, number) > ($1, $2) AND user_id <= $3 ORDER BY user_id, number LIMIT $4
                """,
                [user, last?.number ?? .min, end, limit]
            ) { row -> (user: Int64, record: AuditRecord) in (try row.next(), try AuditRecord(&row)) }
            return (heads, records, isCut: records.count == limit)
        }
        verification.verify(page)
        return verification
    }
}
