import Commerce
import Signatures

/// The ledger's statements about users' audit logs, inside a transaction that the caller holds.
package struct AuditRecords {
    let database: any LedgerDatabase
    let randomness: Randomness

    /// Writes down what has happened to a user, for whoever listens and whoever is told.
    package func append(_ entry: AuditEntry, to user: Int64) throws {
        try append([(entry, user)])
    }

    /// Writes down what has happened to users, in its order.
    package func append(_ entries: [(entry: AuditEntry, user: Int64)]) throws {
        guard !entries.isEmpty else { return }
        var last = try lastRecords(of: Set(entries.map(\.user)))
        let records = entries.map { entry, user in
            let record = AuditRecord(entry, after: last[user], randomness: randomness)
            last[user] = (record.number, record.digest)
            return (record: record, user: user)
        }
        try insert(records)
        for user in last.keys { database.noteChange(of: user) }
        try WebhookRecords(database: database).announce(
            records.filter { $0.record.entry.event.isAnnounced }, randomness: randomness)
    }

    private func lastRecords(of users: Set<Int64>) throws -> [Int64: (number: Int64, digest: [UInt8])] {
        var last: [Int64: (number: Int64, digest: [UInt8])] = [:]
        let rows = try database.rows(
            """
            SELECT audit.user_id, number, digest FROM \(database.listed("$1")) JOIN audit ON audit.user_id = listed.value
                AND number = (SELECT max(number) FROM audit AS each WHERE each.user_id = listed.value)
            """,
            [database.list(users.sorted())])
        for row in rows { last[try row["user_id"]] = (try row["number"], try row["digest"]) }
        return last
    }

    /// Writes into the log alone.
    @discardableResult func write(_ entry: AuditEntry, to user: Int64) throws -> AuditRecord {
        let last = try database.row(
            "SELECT number, digest FROM audit WHERE user_id = $1 ORDER BY number DESC LIMIT 1", [user])
        let record = AuditRecord(
            entry, after: try last.map { (try $0["number"], try $0["digest"]) }, randomness: randomness)
        try insert([(record, user)])
        return record
    }

    private func insert(_ records: [(record: AuditRecord, user: Int64)]) throws {
        try database.insert(
            into: "audit",
            [
                .integer("user_id"), .integer("number"), .integer("happened_at"), .text("event"), .text("actor"),
                .text("origin"), .text("reference"), .text("subject"), .text("reason"), .blob("reason_salt"),
                .blob("reason_digest"), .blob("digest"),
            ],
            records.map { record, user in
                let entry = record.entry
                return [
                    user, record.number, entry.happenedAt, entry.event, entry.actor, entry.origin, entry.reference,
                    entry.subject, entry.reason, record.reasonSalt, record.reasonDigest, record.digest,
                ]
            })
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
