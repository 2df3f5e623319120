import Foundation
import Ledger
import Proofs

/// The SQL that writes the changes of a decision, inside the caller's transaction.
///
/// The number of statements does not depend on the number of claims.
struct EntitlementChangeRecords {
    let database: any LedgerDatabase
    let users: UserRecords
    let audit: AuditRecords
    let apps: AppNumbers
    /// The facts before and after the decision.
    let before: EntitlementFacts
    let after: EntitlementFacts
    let moment: Timestamp

    func write(_ changes: [EntitlementChange]) throws {
        let changes = EntitlementChangeSet(changes)
        let events = try newEvents(changes.events)
        var heads = try users.heads(of: affectedUsers(changes, events.entries))
        let moves = PurchaseMoves(database: database, apps: apps, before: before, after: after)
        let places = try moves.move(changes.transfers, &heads)
        try insertPurchases(changes.newPurchases)
        try deleteExpectations(of: changes.newPurchases)
        try insertTransactions(changes.newTransactions, &heads)
        try update(changes.changedTransactions, places)
        try updateFacts(of: changes.changedFacts.sorted(), places)
        try writeRenewals(of: changes.changedRenewals.sorted())
        try HistoryStateRecords(database: database, apps: apps).write(
            changes.recordedStates.sorted(), after, before: before)
        let known = Set(changes.newTransactions.map(\.key))
        let covering = changes.newTransactions.map(\.key) + changes.changedTransactions + changes.changedFacts
        try updateCoverage(of: Set(covering.compactMap(original(of:))), except: known, places)
        try updateNaming(of: changes.newlyNamed)
        try writeParked(changes.parkedOrUnparked)
        try RefusalRecords(database: database, apps: apps).insert(events.refusals)
        try audit.append(events.entries, to: &heads)
        try users.write(heads)
        try database.events.append(
            .endChanged, changes.newEnds.map { ($0.productIdentifier, $0.user) }, at: moment)
    }

    private func original(of key: TransactionKey) -> TransactionKey? { after.transactions[key]?.originalKey }

    private func owner(of key: TransactionKey) -> Int64? {
        original(of: key).flatMap { after.purchases[$0]?.owner }
    }

    /// The users whose data changes. Each write for a user increments the version of the user's head.
    private func affectedUsers(
        _ changes: EntitlementChangeSet,
        _ entries: [(entry: AuditEntry, user: Int64)]
    ) -> Set<Int64> {
        let keys = changes.newTransactions.map(\.key) + changes.changedTransactions + changes.changedFacts
        let originals =
            changes.newlyNamed + changes.transfers.map(\.original) + changes.changedRenewals
            + changes.recordedStates
        return Set(
            entries.map(\.user) + changes.transfers.map(\.former) + keys.compactMap(owner(of:))
                + originals.compactMap { after.purchases[$0]?.owner })
    }

    private func insertPurchases(_ originals: [TransactionKey]) throws {
        try database.insert(
            into: "original",
            [
                "original_transaction_id", "origin", "app", "user_id", "transferred_at", "named_at", "named_by",
                "named_stated_at",
            ],
            // The order of the keys prevents deadlocks between two groups.
            originals.sorted().compactMap { original in
                after.purchases[original].map { purchase in
                    original.sqlValues(apps) + [
                        purchase.owner, purchase.transferredAt, purchase.naming?.purchaseDate,
                        purchase.naming?.transactionIdentifier, purchase.naming?.statedAt,
                    ]
                }
            })
    }

    private func deleteExpectations(of originals: [TransactionKey]) throws {
        try database.delete(
            from: "expected_transaction", where: Table.originalKey,
            originals.filter { before.expectedOwners[$0] != nil }.sorted().map { $0.sqlValues(apps) })
    }

    private func insertTransactions(_ claims: [Claim], _ heads: inout [Int64: UserHead]) throws {
        guard !claims.isEmpty else { return }
        let originals = Set(claims.compactMap { original(of: $0.key) })
        let coverage = Dictionary(uniqueKeysWithValues: originals.map { ($0, after.coverage(of: $0)) })
        let new = claims.compactMap { claim -> NewTransaction? in
            guard let transaction = after.transactions[claim.key],
                let owner = after.purchases[transaction.originalKey]?.owner, var head = heads[owner]
            else { return nil }
            // Numbers are per user, so that users do not wait for each other.
            head.lastTransaction += 1
            heads[owner] = head
            return NewTransaction(
                claim: claim, transaction: transaction, owner: owner, sequence: head.lastTransaction,
                coverage: coverage[transaction.originalKey]?[claim.key])
        }
        try NewTransactionRecords(database: database, apps: apps, moment: moment).insert(new)
    }

    /// Writes the last statements about transactions that were already redeemed.
    private func update(_ keys: [TransactionKey], _ places: PurchaseMoves.Places) throws {
        try database.update(
            "redeemed_transaction", set: EntitlementFacts.Transaction.statementColumns, where: ["user_id", "sequence"],
            try keys.compactMap { key in
                guard let transaction = after.transactions[key], let place = places[key] else { return nil }
                return try transaction.statementValues + [place.user, place.sequence]
            })
    }

    private func updateFacts(of keys: [TransactionKey], _ places: PurchaseMoves.Places) throws {
        try database.update(
            "redeemed_transaction", set: TransactionFacts.columnNames, where: ["user_id", "sequence"],
            keys.compactMap { key in
                guard let facts = after.transactions[key]?.stated, let place = places[key] else { return nil }
                return facts.sqlValues + [place.user, place.sequence]
            })
    }

    private func writeRenewals(of originals: [TransactionKey]) throws {
        let rows = originals.compactMap { original -> (key: [any SQLConvertible], renewal: StatedRenewal)? in
            guard let purchase = after.purchases[original], let renewal = purchase.renewal else { return nil }
            return ([purchase.owner] + original.sqlValues(apps), renewal)
        }
        let key = ["user_id"] + Table.originalKey
        try database.delete(from: "subscription", where: key, rows.map(\.key))
        try database.insert(
            into: "subscription", key + ["stated_at", "proof_digest"] + RenewalFacts.columnNames,
            rows.map { key, renewal in
                key + [renewal.statedAt, renewal.proofDigest] + renewal.facts.sqlValues
            })
    }

    /// Writes the changed coverage of transactions that were already redeemed.
    private func updateCoverage(
        of originals: Set<TransactionKey>,
        except new: Set<TransactionKey>,
        _ places: PurchaseMoves.Places
    ) throws {
        var changed: [(place: PurchaseMoves.Place, coverage: Coverage)] = []
        for original in originals.sorted() {
            let (old, coverage) = (before.coverage(of: original), after.coverage(of: original))
            for (key, coverage) in coverage.sorted(by: { $0.key < $1.key })
            where !new.contains(key) && old[key] != coverage {
                if let place = places[key] { changed.append((place, coverage)) }
            }
        }
        try database.update(
            coverage: changed)
    }

    private func updateNaming(of originals: [TransactionKey]) throws {
        try database.update(
            "original", set: ["named_at", "named_by", "named_stated_at"], where: Table.originalKey,
            originals.sorted().compactMap { original in
                after.purchases[original]?.naming.map { naming in
                    [naming.purchaseDate, naming.transactionIdentifier, naming.statedAt] + original.sqlValues(apps)
                }
            })
    }

    private func writeParked(_ keys: Set<TransactionKey>) throws {
        let keys = keys.sorted()
        try database.delete(
            from: "parked_transaction", where: Table.transactionKey, keys.map { $0.sqlValues(apps) })
        try database.insert(
            into: "parked_transaction",
            Table.transactionKey + ["original_transaction_id"] + TransactionStatus.columns + ["claim"],
            try keys.compactMap { key in
                guard let parked = after.parked[key] else { return nil }
                return key.sqlValues(apps) + [parked.claim.originalTransactionIdentifier] + parked.status.sqlValues
                    + [[UInt8](try JSONEncoder().encode(parked.claim))]
            })
    }

    /// The audit entries of events, and the new refusals among them.
    private func newEvents(
        _ events: [(event: EntitlementChangeSet.Event, user: Int64)]
    ) throws -> (entries: [(entry: AuditEntry, user: Int64)], refusals: [Refusal]) {
        let refused = events.compactMap { event, user in
            if case .refusal(let result, let claim, _) = event { Refusal(user, claim, result) } else { nil }
        }
        var known = try RefusalRecords(database: database, apps: apps).known(among: refused)
        var new: [Refusal] = []
        let entries = events.compactMap { event, user -> (AuditEntry, Int64)? in
            switch event {
            case .entry(let entry): return (entry, user)
            case .refusal(let result, let claim, let actor):
                let refusal = Refusal(user, claim, result)
                guard known.insert(refusal) else { return nil }
                new.append(refusal)
                return (
                    AuditEntry(
                        happenedAt: moment, event: .refused, actor: actor, origin: claim.origin, app: claim.app,
                        reference: claim.transactionIdentifier, subject: claim.productIdentifier,
                        reason: result.rawValue),
                    user
                )
            }
        }
        return (entries, new)
    }
}

/// The rows that a decision changes, each once, regardless of the number of changes.
struct EntitlementChangeSet {
    /// An entry of a user's audit log.
    enum Event {
        case entry(AuditEntry)
        /// A refusal, written once for each user, transaction and result, because an app retries at every launch.
        case refusal(Redemption.Result, Claim, AuditActor)
    }

    private(set) var newPurchases: [TransactionKey] = []
    private(set) var newTransactions: [Claim] = []
    private(set) var changedTransactions: [TransactionKey] = []
    /// Transactions that were already redeemed, whose facts change.
    private(set) var changedFacts: Set<TransactionKey> = []
    private(set) var changedRenewals: Set<TransactionKey> = []
    private(set) var recordedStates: Set<TransactionKey> = []
    private(set) var newlyNamed: [TransactionKey] = []
    /// The former owners of the transferred purchases that had an owner before the decision.
    private(set) var transfers: [(original: TransactionKey, former: Int64)] = []
    private(set) var parkedOrUnparked: Set<TransactionKey> = []
    private(set) var events: [(event: Event, user: Int64)] = []
    private(set) var newEnds: [(productIdentifier: String, user: Int64)] = []

    init(_ changes: [EntitlementChange]) {
        var known: (purchases: Set<TransactionKey>, transactions: Set<TransactionKey>) = ([], [])
        var new: Set<TransactionKey> = []
        var newKeys: Set<TransactionKey> = []
        for change in changes {
            switch change {
            case .refused(let result, let claim, let user, let actor):
                events.append((.refusal(result, claim, actor), user))
            case .purchase(let original, _, _):
                known.purchases.insert(original)
                new.insert(original)
                newPurchases.append(original)
            case .transaction(let claim, _, _):
                known.transactions.insert(claim.key)
                newKeys.insert(claim.key)
                newTransactions.append(claim)
            case .status(let key, _), .statements(let key, _), .grace(let key, _):
                if known.transactions.insert(key).inserted { changedTransactions.append(key) }
            case .facts(let key, _):
                if !newKeys.contains(key) { changedFacts.insert(key) }
            case .renewal(let original, _): changedRenewals.insert(original)
            case .naming(let original, _):
                if known.purchases.insert(original).inserted { newlyNamed.append(original) }
            case .transfer(let original, let former, _), .merge(let original, let former, _):
                if new.insert(original).inserted { transfers.append((original, former)) }
            case .parked(let claim, _): parkedOrUnparked.insert(claim.key)
            case .unparked(let key): parkedOrUnparked.insert(key)
            case .audit(let entry, let user): events.append((.entry(entry), user))
            case .mergedTokens: break
            case .recordedState(let original, _): recordedStates.insert(original)
            case .endChanged(let product, let user): newEnds.append((product, user))
            }
        }
    }
}
