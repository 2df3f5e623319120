import Commerce

extension DatabaseLedger {
    public func add(
        _ grant: Grant,
        for user: User,
        keeping answer: KeptAnswer?,
        for key: IdempotencyKey?,
        forgettingBefore oldest: Timestamp
    ) throws(StorageFault) {
        try storage.write { database in
            if let key, let answer {
                let answers = AnswerRecords(database: database)
                try answers.forget(before: oldest)
                // Another process was quicker with the same request.
                guard try answers.keep(answer, for: key, at: grant.grantedAt) else { return }
            }
            let user = try users(database).identifier(of: user, at: grant.grantedAt)
            try TeamRecords(database: database).insert(grant, for: user)
        }
    }

    public func grants(of user: User, before sequence: Int64?, limit: Int) throws(StorageFault) -> [Grant] {
        try storage.read { database in
            guard let user = try users(database).known(user) else { return [] }
            return try TeamRecords(database: database).grants(of: user, before: sequence ?? .max, limit: limit)
        }
    }

    public func revoke(
        grant identifier: String,
        of user: User,
        _ revocation: Revocation
    ) throws(StorageFault) -> Grant? {
        try storage.write { database in
            let records = TeamRecords(database: database)
            guard let user = try users(database).known(user), try records.grant(identifier, of: user) != nil else {
                return nil
            }
            _ = try records.revoke(grant: identifier, revocation)
            return try records.grant(identifier, of: user)
        }
    }

    public func change(
        _ change: PurchaseChange,
        ofTransaction identifier: String,
        origin: Origin?,
        of user: User
    ) throws(StorageFault) -> [RedeemedTransaction] {
        try storage.write { database in
            let users = users(database)
            guard let user = try users.known(user) else { return [] }
            let records = LedgerRecords(database: database, users: users)
            func found() throws -> [RedeemedTransaction] {
                try records.transactions(identifier, of: user).filter { origin == nil || $0.origin == origin }
            }
            let transactions = try found()
            guard transactions.count == 1 else { return transactions }
            switch change {
            case .revoke(let revocation): _ = try TeamRecords(database: database).revoke(transactions[0], revocation)
            case .reinstate(let caller, let moment):
                _ = try TeamRecords(database: database).reinstate(transactions[0], by: caller, at: moment)
            }
            return try found()
        }
    }
}
