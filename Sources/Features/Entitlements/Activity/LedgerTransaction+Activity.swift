import Ledger
import Proofs

/// The queries for the activity of all users.
extension LedgerTransaction {
    /// The latest audit entries of all users, newest first: those of the origins, and those without a purchase.
    package func latestActivity(from origins: Set<Origin>, limit: Int) throws -> [ActivityEntry] {
        let records = ActivityRecords(database: database)
        let found = try ([nil] + origins.map(Optional.some)).flatMap { try records.latest(from: $0, limit: limit) }
        let names = try users.names(of: Set(found.map(\.id.user)))
        let entries = found.map { id, entry in
            ActivityEntry(
                id: id, user: names[id.user].flatMap { $0.issuer == User.erasedIssuer ? nil : $0 }, entry: entry)
        }
        return Array(entries.sorted(by: ActivityEntry.isNewer).prefix(limit))
    }

    /// The numbers of audit entries of the origins since a moment.
    ///
    /// - Parameter limit: The largest number of entries to read of each origin.
    package func activityCount(from origins: Set<Origin>, since moment: Timestamp, limit: Int) throws -> ActivityCount {
        let records = ActivityRecords(database: database)
        var (numbers, isComplete): ([AuditEntry.Event: Int], Bool) = ([:], true)
        for origin in origins {
            let counts = try records.counts(from: origin, since: moment, limit: limit)
            isComplete = isComplete && counts.values.reduce(0, +) < limit
            numbers.merge(counts, uniquingKeysWith: +)
        }
        return ActivityCount(numbers: numbers, isComplete: isComplete)
    }
}
