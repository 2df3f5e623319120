/// The tables of version 10: how users show themselves, and what they wish for.
extension LedgerSchema {
    /// What was chosen stays chosen when it is taken back, and counts while it is owned.
    static let profileTables = """
        CREATE TABLE profile (
            user_id INTEGER PRIMARY KEY REFERENCES user (user_id),
            nickname TEXT NOT NULL CHECK (nickname <> '')
        ) STRICT;

        CREATE TABLE chosen_item (
            user_id INTEGER NOT NULL REFERENCES user (user_id),
            collection TEXT NOT NULL,
            number INTEGER NOT NULL CHECK (number >= 0),
            PRIMARY KEY (user_id, collection)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE wish (
            user_id INTEGER NOT NULL REFERENCES user (user_id),
            product_id TEXT NOT NULL,
            wished_at INTEGER NOT NULL,
            PRIMARY KEY (user_id, product_id)
        ) STRICT, WITHOUT ROWID;
        """
}
