import Commerce

extension Ledger {
    /// Reads from the ledger.
    ///
    /// - Throws: `StorageFault` if the ledger cannot be read.
    public func checkReadable() throws(StorageFault) {
        try storage.read { database in
            let _: Int64? = try database.value(SQLQuery(#"SELECT user_id FROM "user" LIMIT 1"#, []))
        }
    }

    /// Whether a user's token may spell the name in any Unicode form: the ledger knew the user before it asked for NFC.
    public func acceptsAnySpelling(of user: User) throws(StorageFault) -> Bool {
        try storage.read { database in
            guard let identifier = try users(database).known(user) else { return false }
            return try database.row(SQLQuery("SELECT user_id FROM any_spelling WHERE user_id = $1", [identifier]))
                != nil
        }
    }

    /// The users of an issuer whose tokens may spell their name in any Unicode form.
    public func usersOfAnySpelling(issuer: String) throws(StorageFault) -> [User] {
        try storage.read { database in
            try database.rows(
                SQLQuery(
                    #"SELECT name FROM any_spelling JOIN "user" USING (user_id) WHERE issuer = $1 ORDER BY name"#,
                    [issuer])
            ).compactMap { User(issuer: issuer, name: try $0["name"]) }
        }
    }
}
