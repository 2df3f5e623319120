import Commerce
import Ledger

/// The states of purchases in the histories of their owners.
extension LedgerTransaction {
    /// Records the changes that time has caused until a moment.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of purchases.
    ///   - type: Returns the type of a product, for transactions without a stated type.
    /// - Returns: The number of purchases whose states have changed; 0 if no more are due.
    public func announceDueStates(
        at moment: Timestamp,
        accepting accepted: AcceptedOrigins,
        limit: Int,
        type: (String) -> ProductType?
    ) throws -> Int {
        let apps = try AppRecords(database: database).numbers(of: [])
        let due = try AnnouncedStateRecords(database: database, apps: apps).due(at: moment, limit: limit)
        return try announceStates(of: due, apps, at: moment, accepting: accepted, type: type)
    }

    /// Adds the missing states of purchases to the histories, without events.
    ///
    /// - Parameters:
    ///   - number: The number of the last user of the previous page; 0 for the first page.
    ///   - limit: The maximum number of users.
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
        _ = try announceStates(of: unknown.originals, apps, at: moment, accepting: nil, type: type)
        return unknown.last
    }

    /// Records the current states of purchases.
    ///
    /// - Parameter accepted: The origins with events; nil for a record without events.
    /// - Returns: The number of purchases whose states have changed.
    func announceStates(
        of originals: Set<TransactionKey>,
        _ apps: AppNumbers,
        at moment: Timestamp,
        accepting accepted: AcceptedOrigins?,
        type: (String) -> ProductType?
    ) throws -> Int {
        guard !originals.isEmpty else { return 0 }
        var facts = try EntitlementRecords(database: database, apps: apps).facts(ofPurchases: originals)
        if let accepted {
            for (number, user) in try users.names(of: Set(facts.purchases.values.map(\.owner))) {
                facts.furtherOrigins[number] = accepted.counting(for: user)
            }
        }
        var decision = EntitlementDecision(facts: facts, origins: accepted?.origins ?? [], at: moment)
        decision.announceStates(of: originals, isSilent: accepted == nil, type: type)
        try EntitlementChangeRecords(
            database: database, users: users, audit: audit, apps: apps, before: facts, after: decision.facts,
            moment: moment
        ).write(decision.changes)
        return originals.count { facts.announced[$0] != decision.facts.announced[$0] }
    }
}
