import Foundation
import Proofs

extension LedgerTransaction {
    /// Reads one value from the ledger.
    ///
    /// - Throws: `StorageFault` if the ledger cannot be read.
    func checkReadable() throws {
        let _: Int64? = try database.value(SQLQuery(#"SELECT user_id FROM "user" LIMIT 1"#, []))
    }

    /// The time of a user's first request and the user's account token, even if it was never returned. Nil for an unknown user.
    package func knownUser(_ user: User) throws -> (firstSeenAt: Timestamp, appAccountToken: UUID)? {
        guard let number = try users.known(user) else { return nil }
        return try database.row(#"SELECT first_seen_at, app_account_token FROM "user" WHERE user_id = $1"#, [number])
            .map { (try $0["first_seen_at"], try $0["app_account_token"]) }
    }

    /// The first users and aliases whose names are blocked, in the order of the names. It reads all names.
    package func blockedUsers(limit: Int) throws -> [User] {
        var users: [User] = []
        try database.forEachPage(of: "SELECT issuer, name FROM user_name ORDER BY name, issuer") { rows in
            guard users.count < limit else { return }
            users += try rows.compactMap { User(issuer: try $0["issuer"], name: try $0["name"]) }
                .filter(blockedNames.contains)
        }
        return Array(users.prefix(limit))
    }
}
