import Commerce
import Ledger

extension LedgerTransaction {
    /// Makes a user a member.
    ///
    /// - Returns: false, and changes nothing, for who is one.
    package func join(_ user: User, as member: MemberRecord) throws -> Bool {
        try MemberRecords(database: database).insert(member, of: try number(of: user, at: member.joinedAt))
    }

    /// nil for a user who is no member.
    package func member(of user: User) throws -> MemberRecord? {
        guard try database.has("member"), let user = try users.known(user) else { return nil }
        return try MemberRecords(database: database).member(of: user)
    }
}
