import Proofs

/// The statements on users' audit logs, inside the caller's transaction.
package struct AuditRecords {
    let database: any LedgerDatabase
    let randomness: Randomness

    /// Appends an entry to a user's audit log, and notifies the listeners of the user.
    package func append(_ entry: AuditEntry, to user: Int64) throws {
        try append([(entry, user)])
    }

    /// Appends entries to users' audit logs, in order.
    package func append(_ entries: [(entry: AuditEntry, user: Int64)]) throws {
        guard !entries.isEmpty else { return }
        let users = UserRecords(database: database, randomness: randomness)
        var heads = try users.heads(of: Set(entries.map(\.user)))
        try append(entries, to: &heads)
        try users.write(heads)
    }

    /// Appends entries, for a caller that reads and writes the heads of the users itself.
    package func append(_ entries: [(entry: AuditEntry, user: Int64)], to heads: inout [Int64: UserHead]) throws {
        guard !entries.isEmpty else { return }
        let records = entries.map { entry, user in
            let head = heads[user, default: .first]
            let record = AuditRecord(entry, after: (head.auditNumber, head.auditDigest), randomness: randomness)
            heads[user, default: head].auditNumber = record.number
            heads[user, default: head].auditDigest = record.digest
            return (record: record, user: user)
        }
        try database.insert(
            into: "audit",
            [
                "user_id", "number", "happened_at", "event", "actor", "origin", "reference", "subject", "reason",
                "reason_salt", "reason_digest", "digest", "app",
            ],
            records.map { record, user in
                let entry = record.entry
                return [
                    user, record.number, entry.happenedAt, entry.event, entry.actor, entry.origin, entry.reference,
                    entry.subject, entry.reason, record.reasonSalt, record.reasonDigest, record.digest,
                    entry.app,
                ]
            })
        for user in Set(records.map(\.user)) { database.recordChange(of: user) }
        // The App Store goes on stating what happens to the purchases of an erased user, which concerns nobody any more.
        let told = records.filter { heads[$0.user]?.isErased != true }
        for feature in database.tables.schema.features { try feature.auditHook?(told, database, randomness) }
    }

    /// The records of a user after a number, in order.
    func records(of user: Int64, after number: Int64, limit: Int) throws -> [AuditRecord] {
        try database.rows(
            "SELECT * FROM audit WHERE user_id = $1 AND number > $2 ORDER BY number LIMIT $3", [user, number, limit]
        ).map(AuditRecord.init)
    }

    /// The users whose chain is broken, each with the number of the first record that does not follow.
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
