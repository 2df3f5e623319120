import Proofs

extension LedgerTransaction {
    /// Erases a user's name and the rows that the tables mark for erasure.
    ///
    /// Redeemed transactions stay redeemed: a tombstone with a random name owns them, so that nobody can redeem their proofs
    /// again. The hash chain of the audit log stays, too.
    ///
    /// - Returns: False if the ledger does not know the user.
    package func erase(_ user: User, by actor: AuditActor, at moment: Timestamp) throws -> Bool {
        // Answers for a user without a number have no user ID.
        try database.execute(
            "DELETE FROM kept_answer WHERE caller = $1 AND user_id IS NULL", [IdempotencyKey.caller(user)])
        guard let user = try users.known(user) else { return false }
        // The given name may be an alias.
        guard let own = try users.names(of: [user])[user] else { throw damaged }
        let tables = try database.describedTables()
        for table in tables where tables.contains(where: { $0.name == table.owner?.table && $0.isErased }) {
            try eraseKeys(in: table, of: user)
        }
        // Referencing rows are deleted before the rows that they refer to. Users who were merged into this one have an audit log.
        for number in [user] + (try users.formers(of: user)) {
            for table in tables.reversed() {
                guard let sql = table.erasureOfUser else { continue }
                try database.execute(sql, [number])
            }
        }
        try database.execute("DELETE FROM user_name WHERE user_id = $1 AND aliased_at IS NOT NULL", [user])
        let name = randomness.bytes(16).hexadecimal
        try users.rename(user, from: own, to: User.erasedIssuer, name)
        try audit.append(
            AuditEntry(
                happenedAt: moment, event: .erased, actor: actor, origin: nil, reference: name, subject: "user",
                reason: nil),
            to: user)
        return true
    }

    /// Erases a user's rows of a global key.
    private func eraseKeys(in table: Table, of user: Int64) throws {
        guard let owner = table.owner else { return }
        let columns = table.key.joined(separator: ", ")
        let keys = try database.rows("SELECT \(columns) FROM \"\(owner.table)\" WHERE user_id = $1", [user])
        try database.delete(from: table.name, where: table.key, keys.map(\.values))
    }
}

extension Table {
    fileprivate var isErased: Bool { if case .deletion = erasure { true } else { false } }

    /// The statement that erases a user's rows; nil if they stay.
    fileprivate var erasureOfUser: String? {
        switch erasure {
        case .deletion: "DELETE FROM \(quotedName) WHERE user_id = $1"
        case .update(let values, let condition):
            "UPDATE \(quotedName) SET \(values) WHERE user_id = $1 AND (\(condition))"
        case nil: nil
        }
    }
}
