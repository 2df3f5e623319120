import Commerce

/// The ledger's statements about what happens to users, inside a transaction that the caller holds.
struct EventRecords {
    let database: any LedgerDatabase

    /// Writes a change down; those before the last ones are forgotten.
    func append(_ change: UserChange, to user: Int64) throws {
        let number = try lastNumber(in: "user_change", of: user) + 1
        try database.write(
            "INSERT INTO user_change (user_id, number, kind, subject, happened_at) VALUES ($1, $2, $3, $4, $5)",
            [user, number, change.kind.rawValue, change.subject, change.happenedAt])
        if number > UserChange.kept {
            try database.write(
                "DELETE FROM user_change WHERE user_id = $1 AND number <= $2", [user, number - UserChange.kept])
        }
        database.noteChange(of: user)
    }

    func position(of user: Int64) throws -> EventPosition {
        EventPosition(
            audit: try lastNumber(in: "audit", of: user), change: try lastNumber(in: "user_change", of: user))
    }

    func events(of user: Int64, after position: EventPosition, limit: Int) throws -> EventAnswer {
        let audit = try database.rows(
            """
            SELECT number, event AS kind, subject, reference, happened_at FROM audit
            WHERE user_id = $1 AND number > $2 ORDER BY number LIMIT $3
            """,
            [user, position.audit, limit])
        let changes = try database.rows(
            """
            SELECT number, kind, subject, NULL AS reference, happened_at FROM user_change
            WHERE user_id = $1 AND number > $2 ORDER BY number LIMIT $3
            """,
            [user, position.change, limit])
        guard try isDense(audit, after: position.audit), try isDense(changes, after: position.change) else {
            return .missed(try self.position(of: user))
        }
        if audit.isEmpty || changes.isEmpty, try isAhead(position, of: user, audit, changes) {
            return .missed(try self.position(of: user))
        }
        return try merged(audit, changes, after: position)
    }

    private func isDense(_ rows: [SQLRow], after number: Int64) throws -> Bool {
        guard let first = rows.first else { return true }
        return try first["number"] == number + 1
    }

    /// Whether a position is of another ledger: nothing comes after it, and what it names is not there.
    private func isAhead(
        _ position: EventPosition,
        of user: Int64,
        _ audit: [SQLRow],
        _ changes: [SQLRow]
    ) throws -> Bool {
        let last = try self.position(of: user)
        return audit.isEmpty && last.audit < position.audit || changes.isEmpty && last.change < position.change
    }

    /// By their times, each list in its own order.
    private func merged(
        _ audit: [SQLRow],
        _ changes: [SQLRow],
        after position: EventPosition
    ) throws -> EventAnswer {
        var (audit, changes, position) = (audit[...], changes[...], position)
        var events: [UserEvent] = []
        while !audit.isEmpty || !changes.isEmpty {
            let times: (Timestamp?, Timestamp?) = (try audit.first?["happened_at"], try changes.first?["happened_at"])
            let isAudit = times.1.map { change in times.0.map { $0 <= change } ?? false } ?? true
            let row = isAudit ? audit.removeFirst() : changes.removeFirst()
            let number: Int64 = try row["number"]
            position = EventPosition(
                audit: isAudit ? number : position.audit, change: isAudit ? position.change : number)
            let kind: String = try row["kind"]
            if isAudit, kind == AuditEntry.Event.erased.rawValue { return .erased }
            // Nothing has changed by it.
            if isAudit, kind == AuditEntry.Event.refused.rawValue { continue }
            events.append(
                UserEvent(
                    kind: kind, subject: try row["subject"], reference: try row["reference"],
                    happenedAt: try row["happened_at"], position: position))
        }
        return .events(events, upTo: position)
    }

    private func lastNumber(in table: String, of user: Int64) throws -> Int64 {
        try database.value("SELECT coalesce(max(number), 0) FROM \(table) WHERE user_id = $1", [user]) ?? 0
    }
}
