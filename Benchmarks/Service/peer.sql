-- The peer's tables, in SQLite and in PostgreSQL.
CREATE TABLE owner (
    original_transaction_id TEXT PRIMARY KEY,
    "user" TEXT NOT NULL
);
CREATE TABLE purchase (
    transaction_id TEXT PRIMARY KEY,
    original_transaction_id TEXT NOT NULL,
    "user" TEXT NOT NULL,
    product_id TEXT NOT NULL,
    purchase_date BIGINT NOT NULL,
    expires_date BIGINT,
    revocation_date BIGINT,
    proof TEXT NOT NULL,
    granted_at BIGINT NOT NULL
);
CREATE INDEX purchase_of_user ON purchase ("user", product_id, purchase_date);
