extension LedgerTransaction {
    /// Returns true if the database orders text by bytes, as the search for a prefix of a name needs.
    ///
    /// A PostgreSQL database does so if its locale is C.
    package func ordersTextByBytes() throws -> Bool {
        // No user has this name. The aggregate gives the comparison the collation of the column.
        let isOrdered: Int64? = try database.value(
            """
            SELECT CASE WHEN coalesce(min(name), 'Z') < 'a' THEN 1 ELSE 0 END FROM user_name
            WHERE name = '' AND issuer = ''
            """,
            [])
        return isOrdered == 1
    }
}
