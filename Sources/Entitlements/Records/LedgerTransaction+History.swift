import Commerce
import Ledger

/// The states of purchases in the histories of their owners.
extension LedgerTransaction {
    /// Records what the passing of time has changed until a moment.
    ///
    /// - Parameters:
    ///   - limit: The largest number of purchases.
    ///   - type: Returns the type of a product, for transactions that do not say it.
    /// - Returns: The number of purchases; `limit` if there may be more.
    public func announceDueStates(
        at moment: Timestamp,
        limit: Int,
        type: (String) -> ProductType?
    ) throws -> Int {
        let apps = try AppRecords(database: database).numbers(of: [])
        let due = try AnnouncedStateRecords(database: database, apps: apps).due(at: moment, limit: limit)
        try announceStates(of: due, apps, at: moment, type: type)
        return due.count
    }

    /// Makes the states of purchases known to the histories that do not have them, without an event.
    ///
    /// - Parameters:
    ///   - number: Only of users after the one with this number; 0 for all.
    ///   - limit: The largest number of users.
    /// - Returns: The number of the last user; nil if there are no more.
    public func announceUnknownStates(
        ofUsersAfter number: Int64,
        at moment: Timestamp,
        limit: Int,
        type: (String) -> ProductType?
    ) throws -> Int64? {
        let apps = try AppRecords(database: database).numbers(of: [])
        guard
            let unknown = try AnnouncedStateRecords(database: database, apps: apps)
                .unknown(ofUsersAfter: number, limit: limit)
        else { return nil }
        try announceStates(of: unknown.originals, apps, at: moment, isSilent: true, type: type)
        return unknown.last
    }

    /// Records how purchases are now, which the team has changed.
    func announceStates(
        of originals: Set<TransactionKey>,
        _ apps: AppNumbers,
        at moment: Timestamp,
        isSilent: Bool = false,
        type: (String) -> ProductType?
    ) throws {
        guard !originals.isEmpty else { return }
        let facts = try EntitlementRecords(database: database, apps: apps).facts(ofPurchases: originals)
        var decision = EntitlementDecision(facts: facts, at: moment)
        decision.announceStates(of: originals, isSilent: isSilent, type: type)
        try EntitlementChangeRecords(
            database: database, users: users, audit: audit, apps: apps, before: facts, after: decision.facts,
            moment: moment
        ).write(decision.changes)
    }
}
