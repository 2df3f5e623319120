import Commerce
import Foundation

extension LedgerTransaction {
    /// Reads one value from the ledger.
    ///
    /// - Throws: `StorageFault` if the ledger cannot be read.
    public func checkReadable() throws {
        let _: Int64? = try database.value(SQLQuery(#"SELECT user_id FROM "user" LIMIT 1"#, []))
    }

    /// The time of a user's first request and the user's account token, even if it was never returned. Nil for an unknown user.
    package func knownUser(_ user: User) throws -> (firstSeenAt: Timestamp, appAccountToken: UUID)? {
        guard let number = try users.known(user) else { return nil }
        return try database.row(#"SELECT first_seen_at, app_account_token FROM "user" WHERE user_id = $1"#, [number])
            .map { (try $0["first_seen_at"], try $0["app_account_token"]) }
    }

    /// The spaces in the names of customers, in percent-encoding and lower case.
    private static let encodedSpaces = ["%20", "%09", "%0a", "%0d", "%c2%a0", "%e3%80%80"]

    /// The users and aliases whose names are blocked, in the order of the names. It reads all names.
    public func blockedUsers(limit: Int) throws -> [User] {
        let name = Self.encodedSpaces.reduce("lower(name)") { "replace(\($0), '\($1)', '')" }
        // The statement may find more names than are blocked.
        let rows = try database.rows(
            SQLQuery(
                """
                SELECT issuer, name FROM user_name
                WHERE issuer NOT IN ($1, $2) AND (
                    trim(\(name), $3) \(database.isIn("$4")) OR trim(replace(\(name), $5, ''), $6) = '')
                ORDER BY name, issuer LIMIT $7
                """,
                [
                    User.accountIssuer, User.erasedIssuer, BlockedNames.marks,
                    database.list(blockedNames.withoutSpaces), BlockedNames.uuidPrefix, BlockedNames.marks + "-0",
                    limit,
                ]))
        return try rows.compactMap { User(issuer: try $0["issuer"], name: try $0["name"]) }
            .filter(blockedNames.contains)
    }
}
