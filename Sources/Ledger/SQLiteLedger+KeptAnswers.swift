import Commerce
import Foundation
import GRDB

/// The answers kept for requests that are sent again.
extension SQLiteLedger {
    public func keptAnswer(
        for key: IdempotencyKey,
        since moment: Timestamp
    ) throws(StorageFault) -> KeptAnswer? {
        try read { try Self.keptAnswer(for: key, since: moment, in: $0) }
    }

    private static func keptAnswer(
        for key: IdempotencyKey,
        since moment: Timestamp,
        in database: Database
    ) throws -> KeptAnswer? {
        let row = try Row.fetchOne(
            database.cachedStatement(
                sql: "SELECT * FROM kept_answer WHERE caller = ? AND idempotency_key = ? AND kept_at >= ?"),
            arguments: [key.caller, key.key, moment.millisecondsSince1970])
        guard let row else { return nil }
        let digest: Data = row["request_digest"]
        let body: Data = row["body"]
        return KeptAnswer(
            requestDigest: Array(digest), status: row["status"], contentType: row["content_type"], body: Array(body))
    }

    public func keep(
        _ answer: KeptAnswer,
        for key: IdempotencyKey,
        at moment: Timestamp,
        forgettingBefore oldest: Timestamp
    ) throws(StorageFault) -> KeptAnswer {
        try write { database in
            try database.cachedStatement(sql: "DELETE FROM kept_answer WHERE kept_at < ?").execute(
                arguments: [oldest.millisecondsSince1970])
            if let kept = try Self.keptAnswer(for: key, since: oldest, in: database) { return kept }
            try database.cachedStatement(
                sql: "INSERT INTO kept_answer VALUES (?, ?, ?, ?, ?, ?, ?)"
            ).execute(arguments: [
                key.caller, key.key, Data(answer.requestDigest), answer.status, answer.contentType,
                Data(answer.body), moment.millisecondsSince1970,
            ])
            return answer
        }
    }
}
