import Commerce
import Foundation
import GRDB

/// The ledger's statements about kept answers, inside a transaction that the caller holds.
struct AnswerRecords {
    let database: Database

    func answer(for key: IdempotencyKey, since moment: Timestamp) throws -> KeptAnswer? {
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

    func forget(before oldest: Timestamp) throws {
        try database.cachedStatement(sql: "DELETE FROM kept_answer WHERE kept_at < ?").execute(
            arguments: [oldest.millisecondsSince1970])
    }

    /// - Returns: false, and keeps nothing, where an answer is kept for the key.
    func keep(_ answer: KeptAnswer, for key: IdempotencyKey, at moment: Timestamp) throws -> Bool {
        try database.cachedStatement(sql: "INSERT OR IGNORE INTO kept_answer VALUES (?, ?, ?, ?, ?, ?, ?)").execute(
            arguments: [
                key.caller, key.key, Data(answer.requestDigest), answer.status, answer.contentType,
                Data(answer.body), moment.millisecondsSince1970,
            ])
        return database.changesCount == 1
    }
}
