import Ledger
import Proofs

extension LedgerTransaction {
    /// Makes a user a member.
    ///
    /// - Returns: False if the user is a member already. Nothing is changed then.
    package func join(_ user: User, as member: MemberRecord) throws -> Bool {
        try MemberRecords(database: database).insert(member, of: try number(of: user, at: member.joinedAt))
    }

    /// The data of a member; nil if the user is not a member.
    package func member(of user: User) throws -> MemberRecord? {
        guard try database.has("member"), let user = try users.known(user) else { return nil }
        return try MemberRecords(database: database).member(of: user)
    }
}
