import Ledger
import Proofs

/// The recorded refusals of one code.
package struct RefusalGroup: Hashable, Sendable {
    /// The maximum count. A greater number of refusals has this count.
    package static let maximumCount = 10_000

    package let code: String
    /// The number of refusals in the counted period, up to `maximumCount`.
    package let count: Int
    /// The latest refusals of any time, newest first.
    package let latest: [ActivityEntry]
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
    package func refusals(of code: String, before position: RecordPosition?, limit: Int) throws -> [ActivityEntry] {
        let last = position ?? RecordPosition(.max, .max, .max)
        return try activity(
            try database.rows(
                """
                SELECT \(ActivityEntry.columns) FROM \(refused) AND reason = $1
                    AND (happened_at, user_id, number) < ($2, $3, $4)
                ORDER BY happened_at DESC, user_id DESC, number DESC LIMIT $5
                """,
                [code, last.first, last.second, last.third, limit], ActivityEntry.init))
    }
}
