import Ledger
import Proofs

/// A refused purchase in a user's audit log.
package struct RecordedRefusal: Hashable, Sendable {
    /// Nil if the user was erased.
    package let user: User?
    /// The number in the user's audit log.
    package let number: Int64
    package let happenedAt: Timestamp
    /// The code of the refusal.
    package let code: String
    package let actor: AuditActor
    package let origin: Origin?
    package let transactionIdentifier: String
    package let productIdentifier: String
    /// The position of a refusal among those of its code.
    package let position: Position

    package typealias Position = RecordPosition
}

/// The recorded refusals of one code.
package struct RefusalGroup: Hashable, Sendable {
    /// The maximum count. A greater number of refusals has this count.
    package static let maximumCount = 10_000

    package let code: String
    /// The number of refusals in the counted period, up to `maximumCount`.
    package let count: Int
    /// The latest refusals of any time, newest first.
    package let latest: [RecordedRefusal]
}

/// The refusals of all users by their codes. Each statement reads a bounded part of the index `audit_refused`.
extension LedgerTransaction {
    /// The maximum number of codes. The service has about ten that it records.
    private static let maximumRefusalCodes = 50

    private var refused: String { "audit \(database.indexed(by: "audit_refused")) WHERE event = 'refused'" }

    /// The recorded refusals of all users by their codes, in the order of the codes.
    ///
    /// - Parameters:
    ///   - moment: The beginning of the counted period.
    ///   - latest: The number of the latest refusals of each code.
    package func refusalGroups(since moment: Timestamp, latest: Int) throws -> [RefusalGroup] {
        var codes: [String] = []
        // Each statement skips the other refusals of a code.
        while codes.count < Self.maximumRefusalCodes,
            let next: String = try database.value(
                "SELECT reason FROM \(refused) AND reason > $1 ORDER BY reason LIMIT 1", [codes.last ?? ""])
        {
            codes.append(next)
        }
        return try codes.map { code in
            let count: Int? = try database.value(
                """
                SELECT count(*) FROM (
                    SELECT happened_at FROM \(refused) AND reason = $1 AND happened_at >= $2 LIMIT $3
                ) AS counted
                """,
                [code, moment, RefusalGroup.maximumCount])
            return RefusalGroup(
                code: code, count: count ?? 0, latest: try refusals(of: code, before: nil, limit: latest))
        }
    }

    /// The recorded refusals of a code, newest first.
    ///
    /// - Parameter position: The position of the last refusal of the previous page; nil for the first page.
    package func refusals(
        of code: String,
        before position: RecordedRefusal.Position?,
        limit: Int
    ) throws -> [RecordedRefusal] {
        let last = position ?? RecordPosition(.max, .max, .max)
        let rows = try database.rows(
            """
            SELECT * FROM \(refused) AND reason = $1 AND (happened_at, user_id, number) < ($2, $3, $4)
            ORDER BY happened_at DESC, user_id DESC, number DESC LIMIT $5
            """,
            [code, last.first, last.second, last.third, limit])
        let names = rows.isEmpty ? [:] : try presentNames(of: Set(rows.map { try $0["user_id"] as Int64 }))
        return try rows.map { row in
            let (user, record): (Int64, AuditRecord) = (try row["user_id"], try AuditRecord(row))
            let entry = record.entry
            return RecordedRefusal(
                user: names[user], number: record.number, happenedAt: entry.happenedAt, code: code,
                actor: entry.actor, origin: entry.origin, transactionIdentifier: entry.reference,
                productIdentifier: entry.subject,
                position: RecordPosition(entry.happenedAt.millisecondsSince1970, user, record.number))
        }
    }
}
