import Ledger
import Proofs

/// The SQL that transfers purchases to other users, inside the caller's transaction.
///
/// The key of a user's row begins with the user's number. A distributed database shards by it and does not let it change. So a
/// transfer inserts new rows and deletes the old ones.
extension EntitlementChangeRecords {
    /// The key of a redeemed transaction's row.
    struct Place: Hashable {
        let user: Int64
        let sequence: Int64
    }

    /// The places of transactions that were already redeemed before the decision.
    struct Places {
        var moved: [TransactionKey: Place] = [:]
        let before: EntitlementFacts

        subscript(key: TransactionKey) -> Place? {
            if let place = moved[key] { return place }
            guard let transaction = before.transactions[key], let sequence = transaction.sequence,
                let owner = before.purchases[transaction.originalKey]?.owner
            else { return nil }
            return Place(user: owner, sequence: sequence)
        }
    }

    /// Transfers purchases with all their transactions, which become the newest of the new owners.
    ///
    /// - Parameter transferred: The purchases in the order of the transfers. One without an owner before the decision is ignored.
    /// - Returns: The places of all transactions after the transfer.
    func move(_ transferred: [TransactionKey], _ heads: inout [Int64: UserHead]) throws -> Places {
        var places = Places(before: before)
        var known: Set<TransactionKey> = []
        let originals = transferred.filter { before.purchases[$0] != nil && known.insert($0).inserted }
        guard !originals.isEmpty else { return places }
        var moves: [Place: Place] = [:]
        for original in originals {
            guard let owner = after.purchases[original]?.owner, var head = heads[owner] else { continue }
            for (key, _) in before.transactions(of: original) {
                guard let old = places[key] else { continue }
                head.lastTransaction += 1
                let new = Place(user: owner, sequence: head.lastTransaction)
                (moves[old], places.moved[key]) = (new, new)
            }
            heads[owner] = head
        }
        // Purchases with credits are merged, but never transferred.
        try moveRows(moves, withCredits: originals.contains { before.addsToBalance($0) })
        try moveRevocations(originals)
        try updateKeys(originals, places)
        return places
    }

    private func moveRows(_ moves: [Place: Place], withCredits: Bool) throws {
        let tables = ["redeemed_transaction", "entitlement"] + (withCredits ? ["credit"] : [])
        try copyProofs(moves)
        for table in tables {
            let rows = try rows(of: table, moves.keys)
            try insert(
                into: table,
                try rows.compactMap { row in
                    let old = Place(user: try row["user_id"], sequence: try row["sequence"])
                    guard let new = moves[old] else { return nil }
                    let moved = table == "credit" ? try row.moved(from: old.user, to: new.user) : row
                    return moved.replacing(["user_id": new.user.sqlValue, "sequence": new.sequence.sqlValue])
                })
        }
        for table in tables.reversed() {
            try database.delete(
                from: table, where: ["user_id", "sequence"],
                moves.keys.sorted { ($0.user, $0.sequence) < ($1.user, $1.sequence) }.map { [$0.user, $0.sequence] })
        }
    }

    /// Copies the stored proofs of the transferred transactions. The former owner may need them for other transactions.
    private func copyProofs(_ moves: [Place: Place]) throws {
        guard try database.has("kept_proof") else { return }
        for (former, sequences) in Self.sequences(of: moves.keys) {
            let rows = try database.rows(
                """
                SELECT redeemed.user_id, redeemed.sequence, kept_proof.proof_digest, bytes, certificates
                FROM \(database.listed("$1"))
                    JOIN redeemed_transaction AS redeemed
                        ON redeemed.user_id = $2 AND redeemed.sequence = listed.value
                    JOIN kept_proof ON kept_proof.user_id = $2 AND kept_proof.proof_digest = redeemed.proof_digest
                """,
                [database.list(sequences), former])
            try database.insert(
                into: "kept_proof", ["user_id", "proof_digest", "bytes", "certificates"],
                try rows.compactMap { row in
                    guard let new = moves[Place(user: former, sequence: try row["sequence"])] else { return nil }
                    return try [new.user.sqlValue] + row.values(["proof_digest", "bytes", "certificates"])
                }, isNew: false)
        }
    }

    /// Transfers the other rows of a purchase.
    private func moveRevocations(_ originals: [TransactionKey]) throws {
        let transferred = Set(originals)
        for table in ["team_revocation", "subscription", "purchase_state"] {
            let moving = try rows(of: table, originals).filter { row in
                let original = try apps.key(row)
                guard transferred.contains(original), let former = before.purchases[original]?.owner,
                    former == (try row["user_id"] as Int64), let owner = after.purchases[original]?.owner
                else { return false }
                return owner != former
            }
            try database.delete(
                from: table, where: ["user_id"] + Table.originalKey,
                try moving.map { try $0.values(["user_id"] + Table.originalKey) })
            try insert(
                into: table,
                try moving.map { row in
                    row.replacing(["user_id": after.purchases[try apps.key(row)]?.owner.sqlValue ?? .null])
                })
        }
    }

    private func updateKeys(_ originals: [TransactionKey], _ places: Places) throws {
        let originals = originals.sorted()
        try database.update(
            "original", set: ["user_id", "transferred_at"], where: Table.originalKey,
            originals.compactMap { original in
                after.purchases[original].map { [$0.owner, $0.transferredAt] + original.sqlValues(apps) }
            })
        try database.update(
            "claim", set: ["user_id"], where: Table.transactionKey,
            places.moved.sorted { $0.key < $1.key }.map { key, place in [place.user] + key.sqlValues(apps) })
    }

    /// The rows of a table at places: a former owner's other rows, of which there can be any number, are not read.
    private func rows(of table: String, _ places: some Sequence<Place>) throws -> [SQLRow] {
        try Self.sequences(of: places).flatMap { user, sequences in
            try database.rows(
                """
                SELECT \(table).* FROM \(database.listed("$1"))
                    JOIN \(table) ON \(table).user_id = $2 AND \(table).sequence = listed.value
                """,
                [database.list(sequences), user])
        }
    }

    /// The rows of a table with the identifiers of the purchases, in any origin and app.
    private func rows(of table: String, _ originals: [TransactionKey]) throws -> [SQLRow] {
        try Dictionary(grouping: originals) { before.purchases[$0]?.owner ?? 0 }.sorted { $0.key < $1.key }
            .flatMap { user, originals in
                try database.rows(
                    "SELECT * FROM \(table) WHERE user_id = $1 AND original_transaction_id \(database.isIn("$2"))",
                    [user, database.list(originals.map(\.identifier))])
            }
    }

    private static func sequences(of places: some Sequence<Place>) -> [(user: Int64, sequences: [Int64])] {
        Dictionary(grouping: places, by: \.user).sorted { $0.key < $1.key }
            .map { ($0.key, $0.value.map(\.sequence).sorted()) }
    }

    private func insert(into table: String, _ rows: [SQLRow]) throws {
        guard let columns = rows.first?.columns else { return }
        try database.insert(into: table, columns, rows.map(\.values))
    }
}
