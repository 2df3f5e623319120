import Commerce
import Signatures

/// The ledger's statements about users' audit logs, inside a transaction that the caller holds.
package struct AuditRecords {
    let database: any LedgerDatabase
    let randomness: Randomness

    /// Writes down what has happened to a user, for whoever listens and whoever is told.
    package func append(_ entry: AuditEntry, to user: Int64) throws {
        let record = try write(entry, to: user)
        database.noteChange(of: user)
        if entry.event.isAnnounced {
            try WebhookRecords(database: database)
                .announce(record, of: user, as: "msg_" + randomness.bytes(16).hexadecimal)
        }
    }

    /// Writes into the log alone.
    @discardableResult func write(_ entry: AuditEntry, to user: Int64) throws -> AuditRecord {
        let last = try database.row(
            "SELECT number, digest FROM audit WHERE user_id = $1 ORDER BY number DESC LIMIT 1", [user])
        let record = AuditRecord(
            entry, after: try last.map { (try $0["number"], try $0["digest"]) }, randomness: randomness)
        try insert(record, of: user)
        return record
    }

    private func insert(_ record: AuditRecord, of user: Int64) throws {
        try database.write(
            """
            INSERT INTO audit (user_id, number, happened_at, event, actor, origin, reference, subject, reason, reason_salt,
                reason_digest, digest) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
            """,
            [
                user, record.number, record.entry.happenedAt, record.entry.event, record.entry.actor,
                record.entry.origin, record.entry.reference, record.entry.subject, record.entry.reason,
                record.reasonSalt, record.reasonDigest, record.digest,
            ])
    }

    /// In their order.
    func records(of user: Int64, after number: Int64, limit: Int) throws -> [AuditRecord] {
        try database.rows(
            "SELECT * FROM audit WHERE user_id = $1 AND number > $2 ORDER BY number LIMIT $3", [user, number, limit]
        ).map(AuditRecord.init)
    }

    /// The numbers of users whose chain is broken, and of the first record that does not follow; at most so many.
    func breaks(limit: Int) throws -> [(user: Int64, number: Int64)] {
        var breaks: [(user: Int64, number: Int64)] = []
        var last: (user: Int64, record: AuditRecord)?
        while breaks.count < limit {
            let page = try database.rows(
                "SELECT * FROM audit WHERE (user_id, number) > ($1, $2) ORDER BY user_id, number LIMIT 1000",
                [last?.user ?? Int64.min, last?.record.number ?? 0])
            if page.isEmpty { break }
            for row in page {
                let (user, record): (Int64, AuditRecord) = (try row["user_id"], try AuditRecord(row))
                let isKnown = breaks.last?.user == user
                if !isKnown, !record.follows(last?.user == user ? last?.record : nil) {
                    breaks.append((user, record.number))
                }
                last = (user, record)
            }
        }
        return Array(breaks.prefix(limit))
    }
}
