import Ledger
import Proofs

/// The SQL that reads the refusals of all users by their codes, inside the caller's transaction. Each statement reads a bounded
/// part of the index `audit_refused`.
struct RefusalReportRecords {
    /// The maximum number of codes. The service has about ten that it records.
    private static let maximumCodes = 50

    let database: any LedgerDatabase

    private var refused: String { "audit \(database.indexed(by: "audit_refused")) WHERE event = 'refused'" }

    /// The codes of the recorded refusals, in order. Each statement skips the other refusals of a code.
    func codes() throws -> [String] {
        var codes: [String] = []
        while codes.count < Self.maximumCodes {
            let next: String? = try database.row(
                "SELECT reason FROM \(refused) AND reason > $1 ORDER BY reason LIMIT 1", [codes.last ?? ""])?["reason"]
            guard let next else { break }
            codes.append(next)
        }
        return codes
    }

    /// The number of refusals since a moment, up to a limit.
    func count(of code: String, since moment: Timestamp, limit: Int) throws -> Int {
        try database.value(
            """
            SELECT count(*) FROM (
                SELECT happened_at FROM \(refused) AND reason = $1 AND happened_at >= $2 LIMIT $3
            ) AS counted
            """,
            [code, moment, limit]) ?? 0
    }

    /// The refusals before a position, newest first.
    func refusals(
        of code: String,
        before position: RecordedRefusal.Position?,
        limit: Int
    ) throws -> [(user: Int64, record: AuditRecord)] {
        let last = position ?? .init(happenedAt: Timestamp(millisecondsSince1970: .max), user: .max, number: .max)
        return try database.rows(
            """
            SELECT * FROM \(refused) AND reason = $1 AND (happened_at, user_id, number) < ($2, $3, $4)
            ORDER BY happened_at DESC, user_id DESC, number DESC LIMIT $5
            """,
            [code, last.happenedAt, last.user, last.number, limit]
        ).map { (try $0["user_id"], try AuditRecord($0)) }
    }
}
