import Ledger

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
        let formers = transferred.compactMap { original in
            before.purchases[original].flatMap { known.insert(original).inserted ? (original, former: $0.owner) : nil }
        }
        guard !formers.isEmpty else { return places }
        let originals = formers.map(\.0)
        var moves: [Place: Place] = [:]
        for original in originals {
            guard let owner = after.purchases[original]?.owner, var head = heads[owner] else {
                throw BrokenInvariant("a transferred purchase has an owner with a head", original.identifier)
            }
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
        try moveRevocations(formers)
        try updateKeys(originals, places)
        return places
    }

    private func moveRows(_ moves: [Place: Place], withCredits: Bool) throws {
        let tables = ["redeemed_transaction"] + (withCredits ? ["credit"] : [])
        try copyProofs(moves)
        for table in tables {
            let isCredit = table == "credit"
            var copies = try RowCopies(
                of: table, changing: ["user_id", "sequence"] + (isCredit ? ["merged_from"] : []), in: database)
            // A former owner's other rows, of which there can be any number, are not read.
            for (former, sequences) in Self.sequences(of: moves.keys) {
                try copies.read(
                    from: "\(table) WHERE user_id = $1 AND sequence \(database.isIn(numbers: "$2"))",
                    [former, database.list(sequences)]
                ) { row in
                    let old = Place(user: try row.next(), sequence: try row.next())
                    guard let new = moves[old] else { return nil }
                    return [new.user, new.sequence] + (isCredit ? [try row.next() as Int64? ?? old.user] : [])
                }
            }
            try copies.insert()
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
            let copies = try database.rows(
                """
                SELECT redeemed.sequence, kept_proof.proof_digest, bytes, certificates
                FROM redeemed_transaction AS redeemed
                    JOIN kept_proof ON kept_proof.user_id = $1 AND kept_proof.proof_digest = redeemed.proof_digest
                WHERE redeemed.user_id = $1 AND redeemed.sequence \(database.isIn(numbers: "$2"))
                """,
                [former, database.list(sequences)]
            ) { row -> [SQLValue]? in
                guard let new = moves[Place(user: former, sequence: try row.next())] else { return nil }
                return [new.user.sqlValue] + (try row.rest())
            }
            try database.insert(
                into: "kept_proof", ["user_id", "proof_digest", "bytes", "certificates"], copies.compactMap(\.self),
                isNew: false)
        }
    }

    /// Transfers the other rows of a purchase.
    private func moveRevocations(_ transfers: [(TransactionKey, former: Int64)]) throws {
        let transferred = Set(transfers.map(\.0))
        let formers = Dictionary(grouping: transfers, by: \.former).sorted { $0.key < $1.key }
        let key = ["user_id"] + Table.originalKey
        for table in ["team_revocation", "subscription", "purchase_state"] {
            var copies = try RowCopies(of: table, changing: key, in: database)
            var moved: [[any SQLConvertible]] = []
            for (former, transfers) in formers {
                // The rows have the identifiers of the purchases, in any origin and app.
                try copies.read(
                    from: "\(table) WHERE user_id = $1 AND original_transaction_id \(database.isIn(packed: "$2"))",
                    [former, database.list(transfers.map(\.0))]
                ) { row in
                    let (former, original): (Int64, TransactionKey) = (try row.next(), try apps.key(&row))
                    guard transferred.contains(original), former == before.purchases[original]?.owner,
                        let owner = after.purchases[original]?.owner, owner != former
                    else { return nil }
                    moved.append([former] + original.sqlValues(apps))
                    return [owner] + original.sqlValues(apps)
                }
            }
            try database.delete(from: table, where: key, moved)
            try copies.insert()
        }
    }

    private func updateKeys(_ originals: [TransactionKey], _ places: Places) throws {
        let originals = originals.sorted()
        try database.update(
            "claim", set: ["owner_id", "transferred_at"], where: Table.transactionKey,
            originals.compactMap { original in
                after.purchases[original].map { [$0.owner, $0.transferredAt] + original.sqlValues(apps) }
            })
        try database.update(
            "claim", set: ["user_id"], where: Table.transactionKey,
            places.moved.sorted { $0.key < $1.key }.map { key, place in [place.user] + key.sqlValues(apps) })
    }

    private static func sequences(of places: some Sequence<Place>) -> [(user: Int64, sequences: [Int64])] {
        Dictionary(grouping: places, by: \.user).sorted { $0.key < $1.key }
            .map { ($0.key, $0.value.map(\.sequence).sorted()) }
    }
}
