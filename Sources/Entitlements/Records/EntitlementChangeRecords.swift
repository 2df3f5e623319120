import Foundation
import Ledger
import Proofs
import Vocabulary

/// The SQL that writes the changes of a decision, inside the caller's transaction.
///
/// The number of statements does not depend on the number of claims.
struct EntitlementChangeRecords {
    let transaction: LedgerTransaction
    let apps: AppNumbers
    /// The known chains; nil to read them if a new transaction has one.
    var chains: [VerifiedProof.Fingerprints: Int64]?
    /// The known ones among the products of new transactions and of other events; nil to read them.
    var products: ProductNumbers?
    let before: EntitlementFacts
    let decision: EntitlementDecision

    var database: any LedgerDatabase { transaction.database }
    var after: EntitlementFacts { decision.facts }
    private var changes: EntitlementChanges { decision.changes }

    /// - Throws: `BrokenInvariant` if the decision breaks what must hold.
    func write() throws {
        try decision.check(after: before)
        let changed = changedKeys
        let (entries, refusals) = try newEvents()
        var (heads, hooks) = try transaction.audit.headsAndHooks(of: affectedUsers(entries, changed))
        let places = try move(changes.transferred, &heads)
        try requireOwners(of: changed)
        try deleteExpectations(of: changes.newPurchases)
        let products = try productNumbers(entries)
        let new = try newTransactions(changes.newTransactions, &heads)
        try insertClaims(of: new, and: changes.newPurchases)
        try insert(new, products)
        try update(changes.changedTransactions.sorted(), places)
        try updateFacts(of: changes.changedFacts.sorted(), places)
        try writeRenewals(of: changes.changedRenewals.sorted())
        try writeStates(of: changes.recordedStates.sorted())
        try updateBenefits(of: changes.changedRenewals.union(changed.compactMap(original(of:))), places)
        try updateNaming(of: changes.named.filter { before.purchases[$0] != nil })
        try writeParked(changes.parkedOrUnparked.sorted())
        try writeMoves(changes.moves)
        try RefusalRecords(database: database, apps: apps).insert(refusals)
        try transaction.audit.append(entries, to: &heads, apps, products, hooks)
        try transaction.users.write(heads)
        let ends = changes.events.compactMap { event -> (String, Int64)? in
            guard case .endChanged(let product, let user) = event else { return nil }
            return (product, user)
        }
        try transaction.events.append(.endChanged, ends, at: decision.moment)
    }

    /// The new and changed transactions.
    private var changedKeys: Set<TransactionKey> {
        changes.changedTransactions.union(changes.changedFacts).union(changes.newTransactions.map(\.key))
    }

    private func original(of key: TransactionKey) -> TransactionKey? { after.transactions[key]?.originalKey }

    private func owner(of key: TransactionKey) -> Int64? {
        original(of: key).flatMap { after.purchases[$0]?.owner }
    }

    /// The users whose data changes. Each write for a user increments the version of the user's head.
    ///
    /// - Parameter changed: The new and changed transactions.
    private func affectedUsers(
        _ entries: [(entry: AuditEntry, user: Int64)], _ changed: Set<TransactionKey>
    ) -> Set<Int64> {
        var users: Set<Int64> = []
        func addOwners(of originals: some Sequence<TransactionKey>, in facts: EntitlementFacts) {
            for original in originals { if let owner = facts.purchases[original]?.owner { users.insert(owner) } }
        }
        for (_, user) in entries { users.insert(user) }
        for key in changed { if let owner = owner(of: key) { users.insert(owner) } }
        addOwners(of: changes.transferred, in: before)
        addOwners(of: changes.transferred, in: after)
        addOwners(of: changes.named, in: after)
        addOwners(of: changes.changedRenewals, in: after)
        addOwners(of: changes.recordedStates, in: after)
        return users
    }

    /// Inserts the owners of new transactions and of new purchases. A purchase is named by its first transaction, which may be redeemed
    /// later, or never.
    private func insertClaims(of new: [NewTransaction], and originals: Set<TransactionKey>) throws {
        let claimed = Dictionary(uniqueKeysWithValues: new.map { ($0.claim.key, $0) })
        try database.fill(
            "claim", where: Table.transactionKey, ["user_id", "owner_id"],
            with: ["original_transaction_id", "transferred_at", "naming"],
            // The order of the keys prevents deadlocks between two groups.
            originals.union(claimed.keys).sorted().map { key in
                let (new, purchase) = (claimed[key], originals.contains(key) ? after.purchases[key] : nil)
                let original = new?.claim.originalKey ?? key
                return key.sqlValues(apps)
                    + [
                        new?.owner, purchase?.owner, original == key ? nil : original.identifier,
                        purchase?.transferredAt, purchase?.naming,
                    ]
            })
    }

    /// Requires that the changed purchases still have the owners that were read.
    ///
    /// A distributed database checks a transaction on each node by itself. So a transfer can commit after the owner was read on
    /// one node, and before the owner's rows are read on another.
    ///
    /// - Parameter keys: The new and changed transactions.
    private func requireOwners(of keys: Set<TransactionKey>) throws {
        guard !before.purchases.isEmpty else { return }
        let changed = changes.changedRenewals.union(changes.recordedStates).union(keys.compactMap(original(of:)))
            .union(changes.parkedOrUnparked.compactMap { after.parked[$0]?.claim.originalKey })
        try database.require(
            "owner_id", of: "claim", where: Table.transactionKey,
            changed.subtracting(changes.transferred).sorted().compactMap { original in
                before.purchases[original].map { [$0.owner] + original.sqlValues(apps) }
            })
    }

    private func deleteExpectations(of confirmed: Set<TransactionKey>) throws {
        try ExpectedTransactionRecords(database: database, apps: apps)
            .delete(before.expectedOwners.filter { confirmed.contains($0.key) })
    }

    /// The numbers of the products of new transactions and of events. A product gets its number with its first transaction.
    private func productNumbers(_ entries: [(entry: AuditEntry, user: Int64)]) throws -> ProductNumbers {
        let redeemed = Set(changes.newTransactions.map { ByteKey($0.productIdentifier) })
        let told = entries.filter { $0.entry.origin != nil }.map { ByteKey($0.entry.subject) }
        var products = try products ?? database.products.numbers(of: redeemed.union(told))
        try database.products.add(redeemed, to: &products)
        return products
    }

    private func newTransactions(
        _ claims: [Claim], _ heads: inout [Int64: UserHead]
    ) throws -> [NewTransaction] {
        let originals = Set(claims.compactMap { original(of: $0.key) })
        let benefits = Dictionary(uniqueKeysWithValues: originals.map { ($0, after.benefits(of: $0)) })
        return try claims.map { claim -> NewTransaction in
            guard let transaction = after.transactions[claim.key],
                let owner = after.purchases[transaction.originalKey]?.owner, var head = heads[owner],
                let benefit = benefits[transaction.originalKey]?[claim.key]
            else {
                throw BrokenInvariant(
                    "a new transaction has an owner with a head, and a benefit", claim.transactionIdentifier)
            }
            // Numbers are per user, so that users do not wait for each other.
            head.lastTransaction += 1
            heads[owner] = head
            return NewTransaction(
                claim: claim, transaction: transaction, owner: owner, sequence: head.lastTransaction,
                benefit: benefit)
        }
    }

    /// Writes the last statements about transactions that were already redeemed.
    private func update(_ keys: [TransactionKey], _ places: Places) throws {
        try database.update(
            "redeemed_transaction", set: EntitlementFacts.Transaction.statementColumns, where: ["user_id", "sequence"],
            try keys.compactMap { key in
                guard let transaction = after.transactions[key], let place = places[key] else { return nil }
                return try transaction.statementValues + [place.user, place.sequence]
            })
    }

    private func updateFacts(of keys: [TransactionKey], _ places: Places) throws {
        try database.update(
            "redeemed_transaction", set: TransactionFacts.columnNames, where: ["user_id", "sequence"],
            keys.compactMap { key in
                guard let facts = after.transactions[key]?.stated, let place = places[key] else { return nil }
                return facts.sqlValues + [place.user, place.sequence]
            })
    }

    private func writeRenewals(of originals: [TransactionKey]) throws {
        guard !originals.isEmpty else { return }
        let rows = originals.compactMap { original -> (key: [any SQLConvertible], renewal: StatedRenewal)? in
            guard let purchase = after.purchases[original], let renewal = purchase.renewal else { return nil }
            return ([purchase.owner] + original.sqlValues(apps), renewal)
        }
        let key = ["user_id"] + Table.originalKey
        try database.delete(from: "subscription", where: key, rows.map(\.key))
        try database.insert(
            into: "subscription", key + StatedRenewal.columns,
            rows.map { key, renewal in
                key + renewal.sqlValues
            })
    }

    private func writeStates(of originals: [TransactionKey]) throws {
        func key(_ original: TransactionKey) -> [any SQLConvertible]? {
            after.purchases[original].map { [$0.owner] + original.sqlValues(apps) }
        }
        let columns = ["user_id"] + Table.originalKey
        try database.delete(
            from: "purchase_state", where: columns,
            originals.filter { before.recordedStates[$0] != nil }.compactMap(key))
        try database.insert(
            into: "purchase_state", columns + ["state", "renews", "changes_at", "end_notice"],
            originals.compactMap { original in
                guard let key = key(original), let state = after.recordedStates[original] else { return nil }
                return key + [state.state.rawValue, state.renews, state.changesAt, state.endNotice]
            })
    }

    /// Writes the changed benefits of transactions that were already redeemed.
    func updateBenefits(of originals: Set<TransactionKey>, _ places: Places) throws {
        var changed: [(place: Place, benefit: StandingBenefit)] = []
        for original in originals.sorted() {
            // A new purchase has no such transactions.
            guard after.transactions(of: original).contains(where: { places[$0.key] != nil }) else { continue }
            let (old, benefits) = (before.benefits(of: original), after.benefits(of: original))
            for (key, benefit) in benefits.sorted(by: { $0.key < $1.key }) where old[key] != benefit {
                if let place = places[key] { changed.append((place, benefit)) }
            }
        }
        try database.update(
            "redeemed_transaction", set: StandingBenefit.columns, where: ["user_id", "sequence"],
            changed.map { place, benefit in benefit.sqlValues + [place.user, place.sequence] })
        try database.update(
            "credit", set: ["is_revoked"], where: ["user_id", "sequence"],
            changed.map { place, benefit in [benefit.coverage.isRevoked, place.user, place.sequence] })
    }

    private func updateNaming(of originals: Set<TransactionKey>) throws {
        try database.update(
            "claim", set: ["naming"], where: Table.transactionKey,
            originals.sorted().compactMap { original in
                after.purchases[original].map { [$0.naming] + original.sqlValues(apps) }
            })
    }

    private func writeParked(_ keys: [TransactionKey]) throws {
        guard !keys.isEmpty else { return }
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
        func purchases(in facts: EntitlementFacts) -> [[any SQLConvertible]] {
            keys.flatMap { key -> [[any SQLConvertible]] in
                guard let claim = facts.parked[key]?.claim else { return [] }
                // The purchase as which the subscription was sold before leads to it, too.
                let purchases = Set([claim.originalKey] + [claim.previous].compactMap(\.self)).subtracting([key])
                return purchases.sorted().map { $0.sqlValues(apps) + [key.identifier] }
            }
        }
        let columns = Table.originalKey + ["transaction_id"]
        try database.delete(from: "parked_original", where: columns, purchases(in: before))
        try database.insert(into: "parked_original", columns, purchases(in: after))
    }

    /// Makes the purchases as which subscriptions were sold before lead to the transactions that say so.
    private func writeMoves(_ moves: [TransactionKey: TransactionKey]) throws {
        guard !moves.isEmpty else { return }
        try database.insert(
            into: "parked_original", Table.originalKey + ["transaction_id"],
            moves.sorted { $0.key < $1.key }.map { $0.key.sqlValues(apps) + [$0.value.identifier] }, isNew: false)
    }

    /// The audit entries of events, and the new refusals among them.
    private func newEvents() throws -> (entries: [(entry: AuditEntry, user: Int64)], refusals: [Refusal]) {
        var known = try RefusalRecords(database: database, apps: apps).known(
            among: changes.events.compactMap { event in
                if case .refused(let result, let claim, let user, _) = event {
                    Refusal(user, claim, result)
                } else {
                    nil
                }
            })
        var new: [Refusal] = []
        var credits = Dictionary(
            uniqueKeysWithValues: changes.newTransactions.compactMap { claim in claim.credited.map { (claim.key, $0) } }
        )
        let entries = changes.events.compactMap { event -> (AuditEntry, Int64)? in
            switch event {
            case .audit(let entry, let user):
                // The first event of a transaction states its credit, whichever event it is.
                guard let key = entry.redeemedKey, let credit = credits.removeValue(forKey: key) else {
                    return (entry, user)
                }
                return (entry.crediting(credit.amount, to: credit.balance), user)
            case .endChanged: return nil
            case .refused(let result, let claim, let user, let actor):
                let refusal = Refusal(user, claim, result)
                guard known.insert(refusal) else { return nil }
                new.append(refusal)
                return (
                    AuditEntry(
                        happenedAt: decision.moment, event: .refused, actor: actor, origin: claim.origin,
                        app: claim.app, reference: claim.transactionIdentifier, subject: claim.productIdentifier,
                        reason: result.rawValue),
                    user
                )
            }
        }
        // A credit without its record would look like one that somebody has added.
        if let key = credits.keys.min() { throw BrokenInvariant("a credit has its record", key.identifier) }
        return (entries, new)
    }
}

extension Claim {
    /// The credit of all units.
    fileprivate var credited: Credit? {
        credit.map { Credit(balance: $0.balance, amount: $0.amount * quantity) }
    }
}

extension AuditEntry {
    /// The transaction of an event with which one can begin; nil for another event.
    fileprivate var redeemedKey: TransactionKey? {
        guard [.granted, .revoked, .productChanged].contains(event), let origin, let app else { return nil }
        return TransactionKey(app: app, origin: origin, identifier: reference)
    }
}

/// A transaction that is redeemed for the first time.
struct NewTransaction {
    let claim: Claim
    let transaction: EntitlementFacts.Transaction
    let owner: Int64
    let sequence: Int64
    let benefit: StandingBenefit

    var isRevoked: Bool { benefit.coverage.isRevoked }
}

/// The SQL that writes new transactions and their benefits.
extension EntitlementChangeRecords {
    func insert(_ new: [NewTransaction], _ products: ProductNumbers) throws {
        guard !new.isEmpty else { return }
        try insertTransactions(new, products)
        try insertCredits(new)
        try insertProofs(new)
    }

    /// Inserts each proof once for each user, and each certificate once.
    private func insertProofs(_ new: [NewTransaction]) throws {
        // All purchases of a receipt have the same proof.
        var seen: Set<[UInt8]> = []
        let proofs = new.compactMap { new -> (owner: Int64, proof: KeptProof)? in
            guard let proof = new.claim.proof, seen.insert(proof.digest + Array("\(new.owner)".utf8)).inserted else {
                return nil
            }
            return (new.owner, proof)
        }
        guard !proofs.isEmpty else { return }
        let certificates = Dictionary(
            proofs.flatMap(\.proof.certificates).map { (DigestAlgorithm.sha256.digest(of: $0), $0) }
        ) { first, _ in first }
        try database.insert(
            into: "kept_certificate", ["digest", "bytes"],
            certificates.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { [$0, $1] }, isNew: false)
        try database.insert(
            into: "kept_proof", ["user_id", "proof_digest", "bytes", "certificates"],
            proofs.map { owner, proof in
                [
                    owner, proof.digest, proof.bytes,
                    proof.certificates.flatMap { DigestAlgorithm.sha256.digest(of: $0) },
                ]
            }, isNew: false)
    }

    /// The columns of a new transaction, which are made once.
    private static let transactionColumns =
        [
            "user_id", "sequence", "original_transaction_id", "transaction_id", "origin", "app", "product", "quantity",
            "purchase_date", "redeemed_at", "proof_digest", "chain", "collection", "number",
        ] + StandingBenefit.columns + EntitlementFacts.Transaction.statementColumns + TransactionFacts.columnNames

    private func insertTransactions(_ new: [NewTransaction], _ products: ProductNumbers) throws {
        let chains = try ChainRecords(database: database)
            .numbers(of: Set(new.compactMap(\.claim.fingerprints)), among: chains)
        try database.insert(
            into: "redeemed_transaction", Self.transactionColumns,
            try new.map { new in
                let claim = new.claim
                guard let product = products[claim.productIdentifier] else {
                    throw BrokenInvariant("a new transaction has a product with a number", claim.transactionIdentifier)
                }
                var values: [any SQLConvertible] = []
                values.reserveCapacity(Self.transactionColumns.count)
                values += [
                    new.owner, new.sequence, claim.originalTransactionIdentifier, claim.transactionIdentifier,
                    claim.origin, apps[claim.app], product, claim.quantity, claim.purchaseDate,
                    decision.moment, claim.proofDigest, claim.fingerprints.flatMap { chains[$0] },
                    claim.item?.collection, claim.item?.number,
                ]
                values += new.benefit.sqlValues
                values += try new.transaction.statementValues
                values += (new.transaction.stated ?? TransactionFacts()).sqlValues
                return values
            })
    }

    private func insertCredits(_ new: [NewTransaction]) throws {
        try database.insert(
            into: "credit", ["user_id", "sequence", "balance", "amount", "origin", "is_revoked"],
            new.compactMap { new in
                new.claim.credited.map { credit in
                    [new.owner, new.sequence, credit.balance, credit.amount, new.claim.origin, new.isRevoked]
                }
            })
    }
}

/// The numbers of the chains and keys that have signed proofs, inside the caller's transaction.
struct ChainRecords {
    let database: any LedgerDatabase

    static let known = SQLQuery("SELECT chain, anchor_digest, leaf_digest FROM chain")

    /// All known chains; nil if no claim has one.
    func known(to claims: [Claim]) throws -> [VerifiedProof.Fingerprints: Int64]? {
        claims.contains { $0.fingerprints != nil } ? try known() : nil
    }

    private func known() throws -> [VerifiedProof.Fingerprints: Int64] {
        try database.dictionary(Self.known.sql) { row in
            let number: Int64 = try row.next()
            return (VerifiedProof.Fingerprints(anchor: try row.next(), leaf: try row.next()), number)
        }
    }

    /// The numbers of chains, which new ones get.
    ///
    /// - Parameter known: The known chains; nil to read them.
    func numbers(
        of chains: Set<VerifiedProof.Fingerprints>, among known: [VerifiedProof.Fingerprints: Int64]?
    ) throws -> [VerifiedProof.Fingerprints: Int64] {
        guard !chains.isEmpty else { return [:] }
        var numbers = try known ?? self.known()
        let new = chains.filter { numbers[$0] == nil }
            .sorted { ($0.anchor + $0.leaf).lexicographicallyPrecedes($1.anchor + $1.leaf) }
        guard !new.isEmpty else { return numbers }
        let last = numbers.values.max() ?? 0
        for (place, chain) in new.enumerated() { numbers[chain] = last + 1 + Int64(place) }
        try database.insert(
            into: "chain", ["chain", "anchor_digest", "leaf_digest"],
            new.map { [numbers[$0], $0.anchor, $0.leaf] })
        return numbers
    }
}
