import Proofs

/// The statements on aliases: rows of the global keys that lead to a user whose own name or account token is another.
///
/// An alias is in the same table as the names, so that its primary key makes two users of one name impossible.
extension UserRecords {
    /// The largest number of aliases of a user. Anybody with an app can log in as a known customer.
    package static var maximumAliases: Int { 50 }

    /// The number of aliases that a user may still get.
    package func aliasesLeft(of user: Int64) throws -> Int {
        let count: Int =
            try database.value(
                "SELECT count(*) FROM user_name WHERE user_id = $1 AND aliased_at IS NOT NULL", [user]) ?? 0
        return max(0, Self.maximumAliases - count)
    }

    /// Adds a name that leads to a user.
    package func addAlias(_ alias: User, of user: Int64, at moment: Timestamp) throws {
        try database.insert(
            into: "user_name", ["name", "issuer", "user_id", "aliased_at"], [[alias.name, alias.issuer, user, moment]])
    }

    /// Adds an alias. If the user has as many as possible, the oldest ones lead to nobody from then on.
    package func addNewestAlias(_ alias: User, of user: Int64, at moment: Timestamp) throws {
        let aliases = try database.rows(
            """
            SELECT name, issuer FROM user_name WHERE user_id = $1 AND aliased_at IS NOT NULL
            ORDER BY aliased_at DESC, name, issuer
            """,
            [user])
        try database.delete(
            from: "user_name", where: ["name", "issuer"],
            aliases.dropFirst(Self.maximumAliases - 1).map(\.values))
        try addAlias(alias, of: user, at: moment)
    }

    /// The aliases of a user, in the order of their times and names.
    package func aliases(of user: Int64, limit: Int) throws -> [User] {
        try database.rows(
            """
            SELECT issuer, name FROM user_name WHERE user_id = $1 AND aliased_at IS NOT NULL
            ORDER BY aliased_at, name, issuer LIMIT $2
            """,
            [user, limit]
        ).compactMap { User(issuer: try $0["issuer"], name: try $0["name"]) }
    }

    /// The numbers of the users who were merged into a user.
    func formers(of user: Int64) throws -> [Int64] {
        try database.rows("SELECT former_id FROM user_merge WHERE user_id = $1 ORDER BY former_id", [user])
            .map { try $0["former_id"] }
    }

    /// The users into which others were merged, by the numbers of the others.
    package func successors(of formers: Set<Int64>) throws -> [Int64: User] {
        guard !formers.isEmpty else { return [:] }
        let rows = try database.rows(
            """
            SELECT user_id, former_id FROM \(database.listed("$1")) JOIN user_merge ON former_id = listed.value
            """,
            [database.list(formers.sorted())])
        let names = try names(of: Set(rows.map { try $0["user_id"] as Int64 }))
        var successors: [Int64: User] = [:]
        for row in rows { successors[try row["former_id"]] = names[try row["user_id"] as Int64] }
        return successors
    }
}
