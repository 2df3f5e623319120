import Commerce
import GRDB

extension SQLiteLedger {
    public func add(_ grant: Grant, for user: User) throws(StorageFault) -> Grant {
        try write { database in
            let user = try users(database).identifier(of: user, at: grant.grantedAt)
            let records = GrantRecords(database: database)
            try records.insert(grant, for: user)
            guard let kept = try records.grant(grant.identifier, of: user) else { throw damaged }
            return kept
        }
    }

    public func grants(of user: User, before sequence: Int64?, limit: Int) throws(StorageFault) -> [Grant] {
        try read { database in
            guard let user = try users(database).known(user) else { return [] }
            return try GrantRecords(database: database).grants(of: user, before: sequence ?? .max, limit: limit)
        }
    }

    public func revoke(
        grant identifier: String,
        of user: User,
        _ revocation: Revocation
    ) throws(StorageFault) -> Grant? {
        try write { database in
            let records = GrantRecords(database: database)
            guard let user = try users(database).known(user), try records.grant(identifier, of: user) != nil else {
                return nil
            }
            try records.revoke(grant: identifier, revocation)
            return try records.grant(identifier, of: user)
        }
    }

    public func setRevocation(
        _ revocation: Revocation?,
        ofTransaction identifier: String,
        of user: User
    ) throws(StorageFault) -> RedeemedTransaction? {
        try write { database in
            let users = users(database)
            guard let user = try users.known(user) else { return nil }
            let records = GrantRecords(database: database)
            if let revocation {
                try records.revoke(transaction: identifier, of: user, revocation)
            } else {
                try records.reinstate(transaction: identifier, of: user)
            }
            return try LedgerRecords(database: database, users: users).transaction(identifier, of: user)
        }
    }
}
