/// The tables of version 14, as `LedgerSchema` has them. Changes are few, and one after the other by their nature: here a number
/// that grows may lead the key.
extension PostgreSQLSchema {
    static let catalogTables = """
        CREATE TABLE catalog_change (
            number BIGINT PRIMARY KEY CHECK (number > 0),
            happened_at BIGINT NOT NULL,
            changed_by TEXT COLLATE "C" NOT NULL,
            kind TEXT COLLATE "C" NOT NULL,
            product_id TEXT COLLATE "C" NOT NULL,
            definition TEXT COLLATE "C",
            collection TEXT COLLATE "C",
            item_number BIGINT,
            picture_digest BYTEA CHECK (length(picture_digest) = 32),
            CHECK ((definition IS NOT NULL) = (kind = 'defined')),
            CHECK ((picture_digest IS NOT NULL) = (kind = 'pictured'))
        );
        \(LedgerSchema.catalogIndex)

        CREATE TABLE catalog_picture (
            collection TEXT COLLATE "C" NOT NULL,
            number BIGINT NOT NULL,
            digest BYTEA NOT NULL CHECK (length(digest) = 32),
            bytes BYTEA NOT NULL,
            PRIMARY KEY (collection, number)
        );
        """
}
