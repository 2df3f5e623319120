import Ledger
import Proofs

/// The states of purchases in the histories of their owners.
extension LedgerTransaction {
    /// Records the changes that time has caused until a moment.
    ///
    /// - Parameters:
    ///   - hold: The last moment at which no end is reported that time alone has brought to a subscription that may renew.
    ///   - limit: The maximum number of purchases.
    ///   - type: Returns the type of a product, for transactions without a stated type.
    /// - Returns: The number of purchases whose states have changed, which is 0 if no more are due, and the purchases whose
    ///   statement about the renewal is awaited.
    package func recordDueStates(
        at moment: Timestamp,
        holding hold: Timestamp? = nil,
        accepting accepted: AcceptedOrigins,
        limit: Int,
        type: (String) -> ProductType?
    ) throws -> (changed: Int, awaiting: Set<TransactionKey>) {
        let apps = try AppRecords(database: database).numbers(of: [])
        let due = try HistoryStateRecords(database: database, apps: apps)
            .due(at: moment, of: accepted.all, limit: limit)
        return try recordStates(of: due, apps, at: moment, holding: hold, accepting: accepted, type: type)
    }

    /// Records the current states of purchases.
    ///
    /// - Parameters:
    ///   - hold: The last moment at which no end is reported that time alone has brought to a subscription that may renew.
    ///   - accepted: The origins with events.
    /// - Returns: The number of purchases whose states have changed, and the purchases whose statement about the renewal is
    ///   awaited.
    func recordStates(
        of originals: Set<TransactionKey>,
        _ apps: AppNumbers,
        at moment: Timestamp,
        holding hold: Timestamp? = nil,
        accepting accepted: AcceptedOrigins,
        type: (String) -> ProductType?
    ) throws -> (changed: Int, awaiting: Set<TransactionKey>) {
        guard !originals.isEmpty else { return (0, []) }
        var facts = try EntitlementRecords(database: database, apps: apps).facts(ofPurchases: originals)
        for (number, user) in try users.names(of: Set(facts.purchases.values.map(\.owner))) {
            facts.acceptedOriginsByUser[number] = accepted.origins(for: user)
        }
        var decision = EntitlementDecision(facts: facts, origins: accepted.origins, at: moment)
        let awaiting = decision.recordStates(of: originals, holding: hold, type: type)
        try EntitlementChangeRecords(
            database: database, users: users, audit: audit, apps: apps, before: facts, after: decision.facts,
            moment: moment
        ).write(decision.changes)
        let changed = originals.count { facts.recordedStates[$0] != decision.facts.recordedStates[$0] }
        return (changed, awaiting)
    }
}
