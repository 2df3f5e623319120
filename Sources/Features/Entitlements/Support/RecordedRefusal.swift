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
    package let position: Position

    /// The position of a refusal among those of its code: by its time, then its user's number and its own.
    package struct Position: Hashable, Sendable, CustomStringConvertible {
        let happenedAt: Timestamp
        let user: Int64
        let number: Int64

        package var description: String { "\(happenedAt.millisecondsSince1970) \(user) \(number)" }
    }
}

extension RecordedRefusal.Position {
    /// - Returns: Nil for an invalid text.
    package init?(_ text: String) {
        let numbers = text.split(separator: " ", omittingEmptySubsequences: false).map { Int64($0) }
        guard numbers.count == 3, let moment = numbers[0], let user = numbers[1], let number = numbers[2] else {
            return nil
        }
        self.init(happenedAt: Timestamp(millisecondsSince1970: moment), user: user, number: number)
    }
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

extension LedgerTransaction {
    /// The recorded refusals of all users by their codes, in the order of the codes.
    ///
    /// - Parameters:
    ///   - moment: The beginning of the counted period.
    ///   - latest: The number of the latest refusals of each code.
    package func refusalGroups(since moment: Timestamp, latest: Int) throws -> [RefusalGroup] {
        let records = RefusalReportRecords(database: database)
        return try records.codes().map { code in
            RefusalGroup(
                code: code,
                count: try records.count(of: code, since: moment, limit: RefusalGroup.maximumCount),
                latest: try refusals(of: code, before: nil, limit: latest))
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
        let found = try RefusalReportRecords(database: database).refusals(of: code, before: position, limit: limit)
        let names = found.isEmpty ? [:] : try users.names(of: Set(found.map(\.user)))
        return found.map { user, record in
            let (entry, name) = (record.entry, names[user])
            return RecordedRefusal(
                user: name?.issuer == User.erasedIssuer ? nil : name, number: record.number,
                happenedAt: entry.happenedAt, code: code, actor: entry.actor, origin: entry.origin,
                transactionIdentifier: entry.reference, productIdentifier: entry.subject,
                position: .init(happenedAt: entry.happenedAt, user: user, number: record.number))
        }
    }
}

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
