CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);

CREATE TABLE user (
    user_id INTEGER PRIMARY KEY AUTOINCREMENT,
    issuer TEXT NOT NULL,
    name TEXT NOT NULL CHECK (name <> ''),
    app_account_token TEXT NOT NULL UNIQUE CHECK (length(app_account_token) = 36),
    first_seen_at INTEGER NOT NULL, is_app_account_token_settled INTEGER NOT NULL DEFAULT 1,
    UNIQUE (issuer, name)
) STRICT;

CREATE TABLE parked_transaction (
    origin TEXT NOT NULL,
    transaction_id TEXT NOT NULL,
    revocation_date INTEGER,
    revocation_reason INTEGER,
    stated_at INTEGER NOT NULL, expires_at INTEGER, original_transaction_id TEXT, claim BLOB,
    PRIMARY KEY (origin, transaction_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE notification (
    origin TEXT NOT NULL,
    notification_uuid TEXT NOT NULL,
    type TEXT NOT NULL,
    subtype TEXT,
    transaction_id TEXT,
    signed_at INTEGER NOT NULL,
    received_at INTEGER NOT NULL,
    proof_digest BLOB NOT NULL CHECK (length(proof_digest) = 32), settled_at INTEGER,
    PRIMARY KEY (origin, notification_uuid)
) STRICT, WITHOUT ROWID;

CREATE TABLE kept_answer (
    caller TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    request_digest BLOB NOT NULL CHECK (length(request_digest) = 32),
    status INTEGER NOT NULL,
    content_type TEXT NOT NULL,
    body BLOB NOT NULL,
    kept_at INTEGER NOT NULL, user_id INTEGER,
    PRIMARY KEY (caller, idempotency_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX kept_answer_by_age ON kept_answer (kept_at);

CREATE TABLE api_key (
    key_id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    scopes TEXT NOT NULL,
    secret_digest BLOB NOT NULL CHECK (length(secret_digest) = 32),
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX parked_transaction_of_original ON parked_transaction (origin, original_transaction_id);

CREATE INDEX notification_that_asks ON notification (signed_at)
    WHERE type = 'CONSUMPTION_REQUEST' AND settled_at IS NULL;

CREATE TABLE reconciliation (
    subject TEXT PRIMARY KEY,
    reconciled_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE "original_transaction" (
    origin TEXT NOT NULL,
    original_transaction_id TEXT NOT NULL,
    user_id INTEGER NOT NULL REFERENCES user (user_id),
    transferred_at INTEGER,
    named_at INTEGER,
    named_by TEXT,
    named_stated_at INTEGER,
    CHECK ((named_at IS NULL) = (named_by IS NULL) AND (named_at IS NULL) = (named_stated_at IS NULL)),
    PRIMARY KEY (origin, original_transaction_id),
    UNIQUE (origin, original_transaction_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE "redeemed_transaction" (
    origin TEXT NOT NULL,
    transaction_id TEXT NOT NULL,
    original_transaction_id TEXT NOT NULL,
    user_id INTEGER NOT NULL,
    sequence INTEGER NOT NULL CHECK (sequence > 0),
    product_id TEXT NOT NULL,
    quantity INTEGER NOT NULL CHECK (quantity > 0),
    purchase_date INTEGER NOT NULL,
    revocation_date INTEGER,
    revocation_reason INTEGER,
    expires_at INTEGER,
    grace_ends_at INTEGER,
    grace_stated_at INTEGER,
    stated_at INTEGER NOT NULL,
    redeemed_at INTEGER NOT NULL,
    proof_digest BLOB NOT NULL CHECK (length(proof_digest) = 32),
    PRIMARY KEY (origin, transaction_id),
    UNIQUE (origin, transaction_id, user_id),
    UNIQUE (user_id, sequence),
    FOREIGN KEY (origin, original_transaction_id, user_id)
        REFERENCES "original_transaction" (origin, original_transaction_id, user_id) ON UPDATE CASCADE
) STRICT;

CREATE TABLE "entitlement" (
    user_id INTEGER NOT NULL,
    collection TEXT NOT NULL,
    number INTEGER NOT NULL CHECK (number >= 0),
    origin TEXT NOT NULL,
    transaction_id TEXT NOT NULL,
    granted_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, collection, number, origin, transaction_id),
    UNIQUE (origin, transaction_id, collection, number),
    FOREIGN KEY (origin, transaction_id, user_id)
        REFERENCES "redeemed_transaction" (origin, transaction_id, user_id) ON UPDATE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE "credit" (
    origin TEXT NOT NULL,
    transaction_id TEXT NOT NULL,
    user_id INTEGER NOT NULL,
    balance TEXT NOT NULL CHECK (balance <> ''),
    amount INTEGER NOT NULL CHECK (amount > 0),
    PRIMARY KEY (origin, transaction_id),
    FOREIGN KEY (origin, transaction_id, user_id)
        REFERENCES "redeemed_transaction" (origin, transaction_id, user_id) ON UPDATE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX redeemed_transaction_of_original ON redeemed_transaction (origin, original_transaction_id);

CREATE INDEX credit_of_user ON credit (user_id);

CREATE TABLE audit (
    user_id INTEGER NOT NULL REFERENCES user (user_id),
    number INTEGER NOT NULL CHECK (number > 0),
    happened_at INTEGER NOT NULL,
    event TEXT NOT NULL,
    actor TEXT NOT NULL,
    origin TEXT,
    reference TEXT NOT NULL,
    subject TEXT NOT NULL,
    reason TEXT,
    reason_salt BLOB,
    reason_digest BLOB CHECK (length(reason_digest) = 32),
    digest BLOB NOT NULL CHECK (length(digest) = 32),
    PRIMARY KEY (user_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE refusal (
    user_id INTEGER NOT NULL REFERENCES user (user_id),
    origin TEXT NOT NULL,
    transaction_id TEXT NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (user_id, origin, transaction_id, reason)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER audit_is_kept BEFORE DELETE ON audit BEGIN
    SELECT RAISE(ABORT, 'The audit log is kept.');
END;

CREATE TRIGGER audit_is_not_rewritten BEFORE UPDATE ON audit
WHEN new.reason IS NOT NULL OR new.reason_salt IS NOT NULL OR (
    old.user_id, old.number, old.happened_at, old.event, old.actor, old.origin, old.reference, old.subject,
    old.reason_digest, old.digest
) IS NOT (
    new.user_id, new.number, new.happened_at, new.event, new.actor, new.origin, new.reference, new.subject,
    new.reason_digest, new.digest)
BEGIN
    SELECT RAISE(ABORT, 'The audit log is not rewritten.');
END;

CREATE TABLE "team_grant" (
    user_id INTEGER NOT NULL REFERENCES user (user_id),
    sequence INTEGER NOT NULL CHECK (sequence > 0),
    grant_id TEXT NOT NULL UNIQUE,
    collection TEXT NOT NULL,
    number INTEGER NOT NULL CHECK (number >= 0),
    reason TEXT NOT NULL CHECK (reason <> ''),
    granted_by TEXT NOT NULL,
    granted_at INTEGER NOT NULL,
    ends_at INTEGER CHECK (ends_at > granted_at),
    revoked_at INTEGER,
    revoked_by TEXT,
    revocation_reason TEXT,
    CHECK ((revoked_at IS NULL) = (revoked_by IS NULL) AND (revoked_at IS NULL) = (revocation_reason IS NULL)),
    PRIMARY KEY (user_id, sequence)
) STRICT, WITHOUT ROWID;

CREATE TABLE "team_revocation" (
    origin TEXT NOT NULL,
    original_transaction_id TEXT NOT NULL,
    sequence INTEGER NOT NULL CHECK (sequence > 0),
    reason TEXT NOT NULL CHECK (reason <> ''),
    revoked_by TEXT NOT NULL,
    revoked_at INTEGER NOT NULL,
    reinstated_by TEXT,
    reinstated_at INTEGER,
    CHECK ((reinstated_by IS NULL) = (reinstated_at IS NULL)),
    PRIMARY KEY (origin, original_transaction_id, sequence),
    FOREIGN KEY (origin, original_transaction_id)
        REFERENCES original_transaction (origin, original_transaction_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE "spending" (
    user_id INTEGER NOT NULL REFERENCES user (user_id),
    spending_id TEXT NOT NULL,
    balance TEXT NOT NULL,
    amount INTEGER NOT NULL CHECK (amount > 0),
    reason TEXT NOT NULL CHECK (reason <> ''),
    spent_by TEXT NOT NULL,
    spent_at INTEGER NOT NULL, idempotency_key TEXT, request_digest BLOB CHECK (length(request_digest) = 32), left_after INTEGER,
    PRIMARY KEY (user_id, spending_id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX team_revocation_that_stands
    ON team_revocation (origin, original_transaction_id) WHERE reinstated_at IS NULL;

CREATE TABLE account (
    user_id INTEGER PRIMARY KEY REFERENCES user (user_id),
    email TEXT NOT NULL,
    email_lowercase TEXT NOT NULL UNIQUE,
    password_hash TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE session (
    session_id BLOB PRIMARY KEY CHECK (length(session_id) = 16),
    refresh_id BLOB NOT NULL UNIQUE CHECK (length(refresh_id) = 16),
    user_id INTEGER NOT NULL REFERENCES account (user_id),
    refresh_digest BLOB NOT NULL CHECK (length(refresh_digest) = 32),
    access_digest BLOB NOT NULL CHECK (length(access_digest) = 32),
    previous_access_digest BLOB CHECK (length(previous_access_digest) = 32),
    began_at INTEGER NOT NULL,
    ends_at INTEGER NOT NULL CHECK (ends_at > began_at)
) STRICT, WITHOUT ROWID;

CREATE INDEX session_of_user ON session (user_id, began_at);

CREATE INDEX session_by_end ON session (ends_at);

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

CREATE TABLE member (
    user_id INTEGER PRIMARY KEY REFERENCES user (user_id),
    phone_number TEXT NOT NULL,
    email TEXT NOT NULL,
    fcm_token TEXT NOT NULL,
    birth TEXT NOT NULL,
    gender INTEGER NOT NULL,
    joined_at INTEGER NOT NULL
) STRICT;

CREATE TABLE user_change (
    user_id INTEGER NOT NULL REFERENCES user (user_id),
    number INTEGER NOT NULL CHECK (number > 0),
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    happened_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX kept_answer_about_user ON kept_answer (user_id) WHERE user_id IS NOT NULL;

CREATE TABLE webhook_endpoint (
    endpoint_id TEXT PRIMARY KEY,
    url TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    secret BLOB NOT NULL CHECK (length(secret) = 32),
    previous_secret BLOB CHECK (length(previous_secret) = 32),
    previous_secret_ends_at INTEGER,
    removed_at INTEGER,
    CHECK ((previous_secret IS NULL) = (previous_secret_ends_at IS NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE webhook_delivery (
    user_id INTEGER NOT NULL,
    audit_number INTEGER NOT NULL,
    endpoint_id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    happened_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL CHECK (attempts >= 0),
    next_attempt_at INTEGER,
    is_delivered INTEGER NOT NULL CHECK (is_delivered IN (0, 1)),
    last_attempt_at INTEGER,
    last_status INTEGER,
    last_error TEXT,
    PRIMARY KEY (endpoint_id, user_id, audit_number),
    FOREIGN KEY (user_id, audit_number) REFERENCES audit (user_id, number),
    CHECK (is_delivered = 0 OR next_attempt_at IS NULL)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX webhook_delivery_message ON webhook_delivery (endpoint_id, message_id);

CREATE INDEX webhook_delivery_by_age ON webhook_delivery (endpoint_id, happened_at, message_id);

CREATE INDEX webhook_delivery_due ON webhook_delivery (endpoint_id, next_attempt_at, happened_at)
    WHERE next_attempt_at IS NOT NULL;

CREATE INDEX webhook_delivery_pending ON webhook_delivery (endpoint_id, happened_at, message_id)
    WHERE next_attempt_at IS NOT NULL;

CREATE INDEX webhook_delivery_failed ON webhook_delivery (endpoint_id, happened_at, message_id)
    WHERE next_attempt_at IS NULL AND is_delivered = 0;

CREATE INDEX webhook_delivery_delivered ON webhook_delivery (endpoint_id, happened_at, message_id)
    WHERE is_delivered = 1;

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

CREATE INDEX catalog_change_of_product ON catalog_change (product_id, number);

CREATE TABLE catalog_picture (
    collection TEXT NOT NULL,
    number INTEGER NOT NULL,
    digest BLOB NOT NULL CHECK (length(digest) = 32),
    bytes BLOB NOT NULL,
    PRIMARY KEY (collection, number)
) STRICT;

CREATE UNIQUE INDEX spending_by_idempotency_key ON spending (user_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL;

CREATE TABLE any_spelling (user_id INTEGER PRIMARY KEY REFERENCES user (user_id)) STRICT;

INSERT INTO grdb_migrations (identifier) VALUES
    ('1: redeemed transactions and their entitlements'),
    ('2: users with an account token, and keys of callers'),
    ('3: what the team gives and takes back'),
    ('4: what ends, and what is spent'),
    ('5: what the App Store asks, and was asked'),
    ('6: purchases that move'),
    ('7: what happened to what users own'),
    ('8: what the team does, numbered for each user and purchase'),
    ('9: accounts and sessions'),
    ('10: profiles and wishes'),
    ('11: members of the seed''s own app'),
    ('12: changes for who listens, and whom answers are about'),
    ('13: webhooks'),
    ('14: the catalog beside its files'),
    ('15: requests of spendings, and names of any spelling');
