CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);

CREATE TABLE "user" (
    user_id INTEGER NOT NULL,
    issuer TEXT NOT NULL,
    name TEXT NOT NULL CHECK (name <> ''),
    app_account_token TEXT NOT NULL CHECK (length(app_account_token) = 36),
    is_app_account_token_settled INTEGER NOT NULL,
    accepts_any_spelling INTEGER NOT NULL,
    first_seen_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    last_transaction INTEGER NOT NULL,
    last_grant INTEGER NOT NULL,
    audit_number INTEGER NOT NULL,
    audit_digest BLOB NOT NULL CHECK (length(audit_digest) = 32),
    PRIMARY KEY (user_id)
) STRICT;

CREATE INDEX user_of_any_spelling ON "user" (user_id, issuer) WHERE accepts_any_spelling = 1;

CREATE TABLE "user_name" (
    name TEXT NOT NULL CHECK (name <> ''),
    issuer TEXT NOT NULL,
    user_id INTEGER NOT NULL,
    PRIMARY KEY (name, issuer)
) STRICT, WITHOUT ROWID;

CREATE TABLE "account_token" (
    app_account_token TEXT NOT NULL CHECK (length(app_account_token) = 36),
    user_id INTEGER NOT NULL,
    PRIMARY KEY (app_account_token)
) STRICT, WITHOUT ROWID;

CREATE TABLE "app" (
    app INTEGER NOT NULL CHECK (app > 0),
    bundle_id TEXT NOT NULL,
    PRIMARY KEY (app),
    UNIQUE (bundle_id)
) STRICT;

CREATE TABLE "audit" (
    user_id INTEGER NOT NULL,
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
    PRIMARY KEY (user_id, number),
    FOREIGN KEY (user_id) REFERENCES "user" (user_id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER audit_is_kept BEFORE DELETE ON audit BEGIN
    SELECT RAISE(ABORT, 'The audit log is kept.');
END;

CREATE TRIGGER audit_is_not_rewritten BEFORE UPDATE ON audit
WHEN new.reason IS NOT NULL OR new.reason_salt IS NOT NULL
    OR (old.user_id, old.number, old.happened_at, old.event, old.actor, old.origin, old.reference, old.subject, old.reason_digest, old.digest) IS NOT (new.user_id, new.number, new.happened_at, new.event, new.actor, new.origin, new.reference, new.subject, new.reason_digest, new.digest)
BEGIN
    SELECT RAISE(ABORT, 'The audit log is not rewritten.');
END;

CREATE TABLE "user_change" (
    user_id INTEGER NOT NULL,
    number INTEGER NOT NULL CHECK (number > 0),
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    happened_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, number),
    FOREIGN KEY (user_id) REFERENCES "user" (user_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE "kept_answer" (
    idempotency_key TEXT NOT NULL,
    caller TEXT NOT NULL,
    request_digest BLOB NOT NULL CHECK (length(request_digest) = 32),
    answer BLOB NOT NULL,
    kept_at INTEGER NOT NULL,
    user_id INTEGER,
    PRIMARY KEY (idempotency_key, caller)
) STRICT, WITHOUT ROWID;

CREATE INDEX kept_answer_by_age ON "kept_answer" (kept_at);

CREATE INDEX kept_answer_about_user ON "kept_answer" (user_id) WHERE user_id IS NOT NULL;

CREATE INDEX kept_answer_about_nobody ON "kept_answer" (caller) WHERE user_id IS NULL;

CREATE TABLE "api_key" (
    key_id TEXT NOT NULL,
    name TEXT NOT NULL,
    scopes TEXT NOT NULL,
    secret_digest BLOB NOT NULL CHECK (length(secret_digest) = 32),
    created_at INTEGER NOT NULL,
    revoked_at INTEGER,
    app TEXT,
    expires_at INTEGER,
    last_used_at INTEGER,
    PRIMARY KEY (key_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE "claim" (
    transaction_id TEXT NOT NULL,
    origin TEXT NOT NULL,
    app INTEGER NOT NULL,
    original_transaction_id TEXT NOT NULL,
    user_id INTEGER NOT NULL,
    PRIMARY KEY (transaction_id, origin, app)
) STRICT, WITHOUT ROWID;

CREATE TABLE "original" (
    original_transaction_id TEXT NOT NULL,
    origin TEXT NOT NULL,
    app INTEGER NOT NULL,
    user_id INTEGER NOT NULL,
    transferred_at INTEGER,
    named_at INTEGER,
    named_by TEXT,
    named_stated_at INTEGER,
    PRIMARY KEY (original_transaction_id, origin, app),
    CHECK ((named_at IS NULL) = (named_by IS NULL) AND (named_at IS NULL) = (named_stated_at IS NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE "redeemed_transaction" (
    user_id INTEGER NOT NULL,
    sequence INTEGER NOT NULL CHECK (sequence > 0),
    original_transaction_id TEXT NOT NULL,
    transaction_id TEXT NOT NULL,
    origin TEXT NOT NULL,
    app INTEGER NOT NULL,
    product_id TEXT NOT NULL,
    quantity INTEGER NOT NULL CHECK (quantity > 0),
    purchase_date INTEGER NOT NULL,
    redeemed_at INTEGER NOT NULL,
    stated_at INTEGER NOT NULL,
    revocation_date INTEGER,
    revocation_reason INTEGER,
    expires_at INTEGER,
    grace_ends_at INTEGER,
    grace_stated_at INTEGER,
    proof_digest BLOB NOT NULL CHECK (length(proof_digest) = 32),
    anchor_digest BLOB CHECK (length(anchor_digest) = 32),
    leaf_digest BLOB CHECK (length(leaf_digest) = 32),
    environment TEXT,
    type TEXT,
    ownership_type TEXT,
    transaction_reason TEXT,
    original_purchase_date INTEGER,
    expires_date INTEGER,
    web_order_line_item_id TEXT,
    subscription_group_id TEXT,
    is_upgraded INTEGER,
    price INTEGER,
    currency TEXT,
    storefront TEXT,
    storefront_id TEXT,
    offer_type INTEGER,
    offer_id TEXT,
    offer_discount_type TEXT,
    offer_period TEXT,
    is_trial_period INTEGER,
    is_in_intro_offer_period INTEGER,
    app_account_token TEXT,
    app_transaction_id TEXT,
    item_id INTEGER,
    revocation_type TEXT,
    revocation_percentage INTEGER,
    billing_plan_type TEXT,
    commitment_info TEXT,
    advanced_commerce_info TEXT,
    signed_date INTEGER,
    PRIMARY KEY (user_id, sequence),
    UNIQUE (user_id, original_transaction_id, origin, app, transaction_id),
    FOREIGN KEY (user_id) REFERENCES "user" (user_id)
) STRICT;

CREATE TABLE "entitlement" (
    user_id INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    collection TEXT NOT NULL,
    number INTEGER NOT NULL CHECK (number >= 0),
    origin TEXT NOT NULL,
    granted_at INTEGER NOT NULL,
    begins_at INTEGER,
    ends_at INTEGER,
    is_revoked INTEGER NOT NULL CHECK (is_revoked IN (0, 1)),
    PRIMARY KEY (user_id, sequence, collection, number),
    FOREIGN KEY (user_id, sequence) REFERENCES "redeemed_transaction" (user_id, sequence)
) STRICT, WITHOUT ROWID;

CREATE TABLE "credit" (
    user_id INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    balance TEXT NOT NULL CHECK (balance <> ''),
    amount INTEGER NOT NULL CHECK (amount > 0),
    origin TEXT NOT NULL,
    is_revoked INTEGER NOT NULL CHECK (is_revoked IN (0, 1)),
    PRIMARY KEY (user_id, sequence),
    FOREIGN KEY (user_id, sequence) REFERENCES "redeemed_transaction" (user_id, sequence)
) STRICT, WITHOUT ROWID;

CREATE TABLE "subscription" (
    user_id INTEGER NOT NULL,
    original_transaction_id TEXT NOT NULL,
    origin TEXT NOT NULL,
    app INTEGER NOT NULL,
    stated_at INTEGER NOT NULL,
    proof_digest BLOB NOT NULL CHECK (length(proof_digest) = 32),
    environment TEXT,
    product_id TEXT,
    auto_renew_product_id TEXT,
    auto_renew_status INTEGER,
    expiration_intent INTEGER,
    is_in_billing_retry_period INTEGER,
    grace_period_expires_date INTEGER,
    price_increase_status INTEGER,
    renewal_date INTEGER,
    renewal_price INTEGER,
    currency TEXT,
    offer_type INTEGER,
    offer_id TEXT,
    offer_discount_type TEXT,
    offer_period TEXT,
    recent_subscription_start_date INTEGER,
    eligible_win_back_offer_ids TEXT,
    app_account_token TEXT,
    app_transaction_id TEXT,
    renewal_billing_plan_type TEXT,
    commitment_info TEXT,
    advanced_commerce_info TEXT,
    PRIMARY KEY (user_id, original_transaction_id, origin, app),
    FOREIGN KEY (user_id) REFERENCES "user" (user_id)
) STRICT;

CREATE TABLE "purchase_state" (
    user_id INTEGER NOT NULL,
    original_transaction_id TEXT NOT NULL,
    origin TEXT NOT NULL,
    app INTEGER NOT NULL,
    state TEXT NOT NULL,
    renews INTEGER,
    changes_at INTEGER,
    PRIMARY KEY (user_id, original_transaction_id, origin, app),
    FOREIGN KEY (user_id) REFERENCES "user" (user_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX purchase_state_that_changes ON "purchase_state" (changes_at) WHERE changes_at IS NOT NULL;

CREATE TABLE "parked_transaction" (
    transaction_id TEXT NOT NULL,
    origin TEXT NOT NULL,
    app INTEGER NOT NULL,
    original_transaction_id TEXT,
    stated_at INTEGER NOT NULL,
    revocation_date INTEGER,
    revocation_reason INTEGER,
    expires_at INTEGER,
    claim BLOB,
    PRIMARY KEY (transaction_id, origin, app)
) STRICT, WITHOUT ROWID;

CREATE INDEX parked_transaction_of_original ON "parked_transaction" (original_transaction_id, origin, app);

CREATE INDEX parked_transaction_by_age ON "parked_transaction" (stated_at);

CREATE TABLE "notification" (
    notification_uuid TEXT NOT NULL,
    origin TEXT NOT NULL,
    app INTEGER NOT NULL,
    type TEXT NOT NULL,
    subtype TEXT,
    transaction_id TEXT,
    signed_at INTEGER NOT NULL,
    received_at INTEGER NOT NULL,
    proof_digest BLOB NOT NULL CHECK (length(proof_digest) = 32),
    settled_at INTEGER,
    original_transaction_id TEXT,
    outcome TEXT,
    content TEXT,
    PRIMARY KEY (notification_uuid, origin)
) STRICT, WITHOUT ROWID;

CREATE INDEX notification_of_original ON "notification" (original_transaction_id, origin, app) WHERE original_transaction_id IS NOT NULL;

CREATE INDEX notification_that_asks ON "notification" (signed_at) WHERE type = 'CONSUMPTION_REQUEST' AND settled_at IS NULL;

CREATE TABLE "team_grant" (
    user_id INTEGER NOT NULL,
    sequence INTEGER NOT NULL CHECK (sequence > 0),
    grant_id TEXT NOT NULL,
    collection TEXT NOT NULL,
    number INTEGER NOT NULL CHECK (number >= 0),
    reason TEXT NOT NULL CHECK (reason <> ''),
    granted_by TEXT NOT NULL,
    granted_at INTEGER NOT NULL,
    ends_at INTEGER CHECK (ends_at > granted_at),
    revoked_at INTEGER,
    revoked_by TEXT,
    revocation_reason TEXT,
    PRIMARY KEY (user_id, sequence),
    UNIQUE (user_id, grant_id),
    CHECK ((revoked_at IS NULL) = (revoked_by IS NULL) AND (revoked_at IS NULL) = (revocation_reason IS NULL)),
    FOREIGN KEY (user_id) REFERENCES "user" (user_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE "team_revocation" (
    user_id INTEGER NOT NULL,
    original_transaction_id TEXT NOT NULL,
    origin TEXT NOT NULL,
    app INTEGER NOT NULL,
    sequence INTEGER NOT NULL CHECK (sequence > 0),
    reason TEXT NOT NULL CHECK (reason <> ''),
    revoked_by TEXT NOT NULL,
    revoked_at INTEGER NOT NULL,
    reinstated_by TEXT,
    reinstated_at INTEGER,
    PRIMARY KEY (user_id, original_transaction_id, origin, app, sequence),
    CHECK ((reinstated_by IS NULL) = (reinstated_at IS NULL)),
    FOREIGN KEY (user_id) REFERENCES "user" (user_id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX team_revocation_that_stands ON "team_revocation" (user_id, original_transaction_id, origin, app) WHERE reinstated_at IS NULL;

CREATE TABLE "spending" (
    user_id INTEGER NOT NULL,
    spending_id TEXT NOT NULL,
    balance TEXT NOT NULL,
    amount INTEGER NOT NULL CHECK (amount > 0),
    reason TEXT NOT NULL CHECK (reason <> ''),
    spent_by TEXT NOT NULL,
    spent_at INTEGER NOT NULL,
    idempotency_key TEXT,
    request_digest BLOB CHECK (length(request_digest) = 32),
    left_after INTEGER,
    PRIMARY KEY (user_id, spending_id),
    FOREIGN KEY (user_id) REFERENCES "user" (user_id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX spending_by_idempotency_key ON "spending" (user_id, idempotency_key) WHERE idempotency_key IS NOT NULL;

CREATE TABLE "balance_addition" (
    user_id INTEGER NOT NULL,
    addition_id TEXT NOT NULL,
    balance TEXT NOT NULL CHECK (balance <> ''),
    amount INTEGER NOT NULL CHECK (amount > 0),
    reason TEXT NOT NULL CHECK (reason <> ''),
    added_by TEXT NOT NULL,
    added_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, addition_id),
    FOREIGN KEY (user_id) REFERENCES "user" (user_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE "refusal" (
    user_id INTEGER NOT NULL,
    transaction_id TEXT NOT NULL,
    origin TEXT NOT NULL,
    app INTEGER NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (user_id, transaction_id, origin, app, reason),
    FOREIGN KEY (user_id) REFERENCES "user" (user_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE "reconciliation" (
    subject TEXT NOT NULL,
    reconciled_until INTEGER NOT NULL,
    PRIMARY KEY (subject)
) STRICT, WITHOUT ROWID;

CREATE TABLE "account_email" (
    email_lowercase TEXT NOT NULL,
    user_id INTEGER NOT NULL,
    PRIMARY KEY (email_lowercase)
) STRICT, WITHOUT ROWID;

CREATE TABLE "account" (
    user_id INTEGER NOT NULL,
    email TEXT NOT NULL,
    email_lowercase TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    email_verified_at INTEGER,
    PRIMARY KEY (user_id),
    FOREIGN KEY (user_id) REFERENCES "user" (user_id)
) STRICT;

CREATE TABLE "session" (
    user_id INTEGER NOT NULL,
    session_id BLOB NOT NULL CHECK (length(session_id) = 16),
    refresh_id BLOB NOT NULL CHECK (length(refresh_id) = 16),
    refresh_digest BLOB NOT NULL CHECK (length(refresh_digest) = 32),
    access_digest BLOB NOT NULL CHECK (length(access_digest) = 32),
    previous_access_digest BLOB CHECK (length(previous_access_digest) = 32),
    began_at INTEGER NOT NULL,
    ends_at INTEGER NOT NULL CHECK (ends_at > began_at),
    PRIMARY KEY (user_id, session_id),
    FOREIGN KEY (user_id) REFERENCES "account" (user_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX session_by_identifier ON "session" (session_id);

CREATE INDEX session_by_refresh_identifier ON "session" (refresh_id);

CREATE INDEX session_by_end ON "session" (ends_at);

CREATE TABLE "profile" (
    user_id INTEGER NOT NULL,
    nickname TEXT NOT NULL CHECK (nickname <> ''),
    PRIMARY KEY (user_id),
    FOREIGN KEY (user_id) REFERENCES "user" (user_id)
) STRICT;

CREATE TABLE "chosen_item" (
    user_id INTEGER NOT NULL,
    collection TEXT NOT NULL,
    number INTEGER NOT NULL CHECK (number >= 0),
    PRIMARY KEY (user_id, collection),
    FOREIGN KEY (user_id) REFERENCES "user" (user_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE "wish" (
    user_id INTEGER NOT NULL,
    product_id TEXT NOT NULL,
    wished_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, product_id),
    FOREIGN KEY (user_id) REFERENCES "user" (user_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE "member" (
    user_id INTEGER NOT NULL,
    phone_number TEXT NOT NULL,
    email TEXT NOT NULL,
    fcm_token TEXT NOT NULL,
    birth TEXT NOT NULL,
    gender INTEGER NOT NULL,
    joined_at INTEGER NOT NULL,
    PRIMARY KEY (user_id),
    FOREIGN KEY (user_id) REFERENCES "user" (user_id)
) STRICT;

CREATE TABLE "webhook_endpoint" (
    endpoint_id TEXT NOT NULL,
    url TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    secret BLOB NOT NULL CHECK (length(secret) = 32),
    previous_secret BLOB CHECK (length(previous_secret) = 32),
    previous_secret_ends_at INTEGER,
    removed_at INTEGER,
    PRIMARY KEY (endpoint_id),
    CHECK ((previous_secret IS NULL) = (previous_secret_ends_at IS NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE "webhook_delivery" (
    user_id INTEGER NOT NULL,
    audit_number INTEGER NOT NULL,
    endpoint_id TEXT NOT NULL,
    message_id TEXT NOT NULL,
    happened_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL CHECK (attempts >= 0),
    next_attempt_at INTEGER,
    is_delivered INTEGER NOT NULL CHECK (is_delivered IN (0, 1)),
    last_attempt INTEGER NOT NULL CHECK (last_attempt >= 0),
    PRIMARY KEY (user_id, audit_number, endpoint_id),
    CHECK (is_delivered = 0 OR next_attempt_at IS NULL),
    FOREIGN KEY (user_id, audit_number) REFERENCES "audit" (user_id, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX webhook_delivery_message ON "webhook_delivery" (message_id, endpoint_id);

CREATE INDEX webhook_delivery_by_age ON "webhook_delivery" (endpoint_id, happened_at, message_id);

CREATE INDEX webhook_delivery_due ON "webhook_delivery" (endpoint_id, next_attempt_at, happened_at) WHERE next_attempt_at IS NOT NULL;

CREATE INDEX webhook_delivery_pending ON "webhook_delivery" (endpoint_id, happened_at, message_id) WHERE next_attempt_at IS NOT NULL;

CREATE INDEX webhook_delivery_failed ON "webhook_delivery" (endpoint_id, happened_at, message_id) WHERE next_attempt_at IS NULL AND is_delivered = 0;

CREATE INDEX webhook_delivery_delivered ON "webhook_delivery" (endpoint_id, happened_at, message_id) WHERE is_delivered = 1;

CREATE TABLE "webhook_attempt" (
    user_id INTEGER NOT NULL,
    audit_number INTEGER NOT NULL,
    endpoint_id TEXT NOT NULL,
    number INTEGER NOT NULL CHECK (number > 0),
    attempted_at INTEGER NOT NULL,
    status INTEGER,
    error TEXT,
    PRIMARY KEY (user_id, audit_number, endpoint_id, number),
    FOREIGN KEY (user_id, audit_number, endpoint_id) REFERENCES "webhook_delivery" (user_id, audit_number, endpoint_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE "catalog_change" (
    number INTEGER NOT NULL CHECK (number > 0),
    happened_at INTEGER NOT NULL,
    changed_by TEXT NOT NULL,
    kind TEXT NOT NULL,
    product_id TEXT NOT NULL,
    definition TEXT,
    collection TEXT,
    item_number INTEGER,
    picture_digest BLOB CHECK (length(picture_digest) = 32),
    app TEXT,
    PRIMARY KEY (number),
    CHECK ((definition IS NOT NULL) = (kind = 'defined')),
    CHECK ((picture_digest IS NOT NULL) = (kind = 'pictured'))
) STRICT;

CREATE INDEX catalog_change_of_product ON "catalog_change" (product_id, number);

CREATE TABLE "catalog_picture" (
    collection TEXT NOT NULL,
    number INTEGER NOT NULL,
    digest BLOB NOT NULL CHECK (length(digest) = 32),
    bytes BLOB NOT NULL,
    PRIMARY KEY (collection, number)
) STRICT;

INSERT INTO grdb_migrations VALUES
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
    ('15: requests of spendings, and names of any spelling'),
    ('16: global keys, and the data of users'),
    ('17: facts that the App Store states'),
    ('18: several apps');
