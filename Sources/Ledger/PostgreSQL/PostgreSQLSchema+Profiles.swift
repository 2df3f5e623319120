/// The tables of version 10, as `LedgerSchema` has them.
extension PostgreSQLSchema {
    static let profileTables = """
        CREATE TABLE profile (
            user_id BIGINT PRIMARY KEY REFERENCES "user" (user_id),
            nickname TEXT COLLATE "C" NOT NULL CHECK (nickname <> '')
        );

        CREATE TABLE chosen_item (
            user_id BIGINT NOT NULL REFERENCES "user" (user_id),
            collection TEXT COLLATE "C" NOT NULL,
            number BIGINT NOT NULL CHECK (number >= 0),
            PRIMARY KEY (user_id, collection)
        );

        CREATE TABLE wish (
            user_id BIGINT NOT NULL REFERENCES "user" (user_id),
            product_id TEXT COLLATE "C" NOT NULL,
            wished_at BIGINT NOT NULL,
            PRIMARY KEY (user_id, product_id)
        );
        """
}
