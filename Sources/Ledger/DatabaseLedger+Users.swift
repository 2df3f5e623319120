import Commerce

extension DatabaseLedger {
    public func checkReadable() throws(StorageFault) {
        try storage.read { database in
            let _: Int64? = try database.value(SQLQuery(#"SELECT user_id FROM "user" LIMIT 1"#, []))
        }
    }

    public func acceptsAnySpelling(of user: User) throws(StorageFault) -> Bool {
        try storage.read { database in
            guard let identifier = try users(database).known(user) else { return false }
            return try database.row(SQLQuery("SELECT user_id FROM any_spelling WHERE user_id = $1", [identifier]))
                != nil
        }
    }

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
