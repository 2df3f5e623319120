PRAGMA journal_mode = WAL;
CREATE TABLE purchase (
    transaction_id TEXT PRIMARY KEY,
    original_transaction_id TEXT NOT NULL,
    user TEXT NOT NULL,
    product_id TEXT NOT NULL,
    purchase_date INTEGER NOT NULL,
    proof TEXT NOT NULL,
    granted_at INTEGER NOT NULL
);
CREATE INDEX purchase_of_original ON purchase (original_transaction_id);
CREATE INDEX purchase_of_user ON purchase (user);
