/// The tables of version 14: what was changed of the catalog beside its files, and what its items look like.
extension LedgerSchema {
    static let catalogTables = """
        CREATE TABLE catalog_change (
            number INTEGER PRIMARY KEY CHECK (number > 0),
            happened_at INTEGER NOT NULL,
            changed_by TEXT NOT NULL,
            kind TEXT NOT NULL,
            product_id TEXT NOT NULL,
            definition TEXT,
            collection TEXT,
            item_number INTEGER,
            picture_digest BLOB CHECK (length(picture_digest) = 32),
            CHECK ((definition IS NOT NULL) = (kind = 'defined')),
            CHECK ((picture_digest IS NOT NULL) = (kind = 'pictured'))
        ) STRICT;
        \(catalogIndex)

        CREATE TABLE catalog_picture (
            collection TEXT NOT NULL,
            number INTEGER NOT NULL,
            digest BLOB NOT NULL CHECK (length(digest) = 32),
            bytes BLOB NOT NULL,
            PRIMARY KEY (collection, number)
        ) STRICT;
        """

    static let catalogIndex = "CREATE INDEX catalog_change_of_product ON catalog_change (product_id, number);"
}
