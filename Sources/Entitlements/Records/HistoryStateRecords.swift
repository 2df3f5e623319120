import Ledger
import Proofs
import Vocabulary

/// The use cases that record how time changes the histories of users.
extension EntitlementService {
    /// The maximum number of purchases in one commit.
    private static let pageSize = 100

    /// Records the changes that time has caused: ends, grace periods and billing retries.
    ///
    /// - Parameters:
    ///   - moment: The moment until which they are due; nil for now.
    ///   - hold: The last moment at which no end is reported that time alone has brought to a subscription that may renew; nil
    ///     if there is none.
    ///   - customer: The customer with an own clock whose purchases are meant; nil for those of all others.
    /// - Returns: The due subscriptions whose statement about the renewal is awaited, by their original transactions.
    @discardableResult
    package func recordDueStates(
        at moment: Timestamp? = nil,
        holding hold: Timestamp? = nil,
        of customer: CustomerTime? = nil
    ) async throws -> Set<TransactionKey> {
        let catalogs = catalogs
        let view = Viewpoint(accepting: accepted, at: moment ?? customer?.now ?? clock.now()) { catalogs.type(of: $0) }
        let others = customer == nil ? customers.flatMap(\.originalTransactionIdentifiers) : []
        let purchases: ClockPurchases =
            customer.map { .only($0.originalTransactionIdentifiers) } ?? (others.isEmpty ? .all : .except(others))
        if customer != nil {
            // A customer's clock is asked every few seconds, and a write makes others wait.
            let isDue = try await ledger.read { try !$0.dueStates(from: view, of: purchases, limit: 1).isEmpty }
            guard isDue else { return [] }
        }
        var awaiting: Set<TransactionKey> = []
        var changed = 1
        // The loop ends at a page that changes nothing, which would repeat forever.
        while changed > 0, !Task.isCancelled {
            let page = try await ledger.writeInBackground {
                try $0.recordDueStates(from: view, holding: hold, of: purchases, limit: Self.pageSize)
            }
            changed = page.changed
            awaiting.formUnion(page.awaiting)
        }
        return awaiting
    }
}

/// The correction of times that a clock ahead has left in the ledger.
extension EntitlementService {
    /// Takes back the times that a wrong clock has written, and records anew the states of purchases that only it has ended.
    ///
    /// Ownership needs no correction: it follows from the stores' statements at each moment. A clock behind the dates that stores have
    /// stated is wrong itself. It ends nothing early, and reopens nothing.
    ///
    /// - Returns: The number of changed rows by `TABLE.COLUMN`, without those of 0.
    package func mendTimes(to now: Timestamp) async throws -> [String: Int] {
        let latest = now.adding(seconds: Coverage.clockToleranceSeconds)
        let isBehind = try await ledger.read { try $0.lastNotificationDate().map { $0 > latest } ?? false }
        var counts = try await ledger.takeBackOwnTimes(to: now, isBehind: isBehind)
        guard !isBehind else { return counts }
        let view = view(at: now)
        // The times of customers with own clocks are right by those.
        let others = Set(customers.flatMap(\.originalTransactionIdentifiers))
        let early = try await ledger.read { try $0.purchasesEndedEarly(from: view) }
            .filter { !others.contains($0.identifier) }
        for start in stride(from: 0, to: early.count, by: Self.pageSize) {
            let page = Set(early[start..<min(start + Self.pageSize, early.count)])
            let changed = try await ledger.writeInBackground {
                try $0.recordStates(of: page, try $0.apps, from: view).changed
            }
            if changed > 0 { counts["purchase_state.changes_at", default: 0] += changed }
        }
        return counts
    }
}

/// The states of purchases in the histories of their owners.
extension LedgerTransaction {
    /// The latest date that a store has stated in one of the notifications that were received last; nil without one.
    fileprivate func lastNotificationDate() throws -> Timestamp? {
        try database.rows(
            "SELECT signed_at FROM notification ORDER BY received_at DESC, notification_uuid DESC, origin DESC LIMIT 100"
        ) { try $0.next() }.max()
    }

    /// The purchases whose end is in the history before it has come. They stay in this list until then.
    fileprivate func purchasesEndedEarly(from view: Viewpoint) throws -> [TransactionKey] {
        let apps = try apps
        let ends: [AuditEntry.Event] = [.expired, .renewalFailed, .gracePeriodBegan]
        return try database.rows(
            """
            SELECT DISTINCT bought.original_transaction_id, bought.origin, bought.app
            FROM audit JOIN redeemed_transaction AS bought ON bought.user_id = audit.user_id
                AND bought.transaction_id = audit.reference AND bought.origin = audit.origin
            WHERE audit.origin IN \(view.accepted.all.sqlList) AND audit.happened_at > $1
                AND audit.event IN \(ends.sqlList)
            """,
            [view.moment]
        ) { try apps.key(&$0) }.sorted()
    }

    /// Records the changes that time has caused until the moment of a viewpoint, the first ones first.
    ///
    /// A purchase of an origin that is not accepted stays due until a process records it that accepts the origin, so that its event
    /// is not lost.
    ///
    /// - Parameters:
    ///   - hold: The last moment at which no end is reported that time alone has brought to a subscription that may renew.
    ///   - purchases: The purchases that have the time of the viewpoint.
    ///   - limit: The maximum number of purchases.
    /// - Returns: The number of purchases whose states have changed, which is 0 if no more are due, and the purchases whose
    ///   statement about the renewal is awaited.
    package func recordDueStates(
        from view: Viewpoint,
        holding hold: Timestamp? = nil,
        of purchases: ClockPurchases = .all,
        limit: Int
    ) throws -> (changed: Int, awaiting: Set<TransactionKey>) {
        let due = try dueStates(from: view, of: purchases, limit: limit)
        return try recordStates(of: Set(due), try apps, holding: hold, from: view)
    }

    /// The purchases whose states time changes until the moment of a viewpoint, the first ones first.
    fileprivate func dueStates(
        from view: Viewpoint,
        of purchases: ClockPurchases,
        limit: Int
    ) throws -> [TransactionKey] {
        let (apps, condition) = (try apps, purchases.condition("$2", database))
        let last = condition.arguments.isEmpty ? "$2" : "$3"
        return try database.rows(
            """
            SELECT original_transaction_id, origin, app FROM purchase_state
            WHERE changes_at <= $1 AND origin IN \(view.accepted.all.sqlList)\(condition.sql)
            ORDER BY changes_at LIMIT \(last)
            """,
            [view.moment] + condition.arguments + [limit]
        ) { try apps.key(&$0) }
    }

    /// Records the current states of purchases. Those of accepted origins have events.
    ///
    /// - Returns: The same as `recordDueStates`.
    func recordStates(
        of originals: Set<TransactionKey>,
        _ apps: AppNumbers,
        holding hold: Timestamp? = nil,
        from view: Viewpoint
    ) throws -> (changed: Int, awaiting: Set<TransactionKey>) {
        guard !originals.isEmpty else { return (0, []) }
        let records = EntitlementRecords(database: database, apps: apps)
        var facts = try records.facts(ofPurchases: originals)
        if facts.haveFixedPeriods {
            try records.readFixedPeriods(of: Set(facts.purchases.values.map(\.owner)), into: &facts)
        }
        for (number, user) in try users.names(of: Set(facts.purchases.values.map(\.owner))) {
            facts.acceptedOriginsByUser[number] = view.accepted.origins(for: user)
        }
        var decision = facts.decision(accepting: view.accepted.origins, at: view.moment)
        let awaiting = decision.recordStates(of: originals, holding: hold, type: view.type)
        try EntitlementChangeRecords(transaction: self, apps: apps, before: facts, decision: decision).write()
        let changed = originals.count { facts.recordedStates[$0] != decision.facts.recordedStates[$0] }
        return (changed, awaiting)
    }
}

/// The purchases whose states are recorded by one clock.
package enum ClockPurchases: Sendable {
    case all
    /// The purchases of a customer with an own clock, by their original transactions.
    case only([String])
    /// The purchases of all others.
    case except([String])

    /// The condition of their rows, with its argument at a place.
    func condition(_ parameter: String, _ database: any LedgerDatabase) -> (
        sql: String, arguments: [any SQLConvertible]
    ) {
        switch self {
        case .all: ("", [])
        case .only(let originals):
            (" AND original_transaction_id \(database.isIn(parameter))", [database.list(originals)])
        case .except(let originals):
            (" AND NOT original_transaction_id \(database.isIn(parameter))", [database.list(originals)])
        }
    }
}
