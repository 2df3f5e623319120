CREATE FUNCTION audit_is_kept() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN
    RAISE EXCEPTION 'The audit log is kept.' USING ERRCODE = 'restrict_violation';
END $$;

CREATE TABLE account (
    user_id bigint NOT NULL,
    email text NOT NULL COLLATE pg_catalog."C",
    email_lowercase text NOT NULL COLLATE pg_catalog."C",
    password_hash text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL
);

CREATE TABLE api_key (
    key_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    scopes text NOT NULL COLLATE pg_catalog."C",
    secret_digest bytea NOT NULL,
    created_at bigint NOT NULL,
    revoked_at bigint,
    CONSTRAINT api_key_secret_digest_check CHECK ((length(secret_digest) = 32))
);

CREATE TABLE audit (
    user_id bigint NOT NULL,
    number bigint NOT NULL,
    happened_at bigint NOT NULL,
    event text NOT NULL COLLATE pg_catalog."C",
    actor text NOT NULL COLLATE pg_catalog."C",
    origin text COLLATE pg_catalog."C",
    reference text NOT NULL COLLATE pg_catalog."C",
    subject text NOT NULL COLLATE pg_catalog."C",
    reason text COLLATE pg_catalog."C",
    reason_salt bytea,
    reason_digest bytea,
    digest bytea NOT NULL,
    CONSTRAINT audit_digest_check CHECK ((length(digest) = 32)),
    CONSTRAINT audit_number_check CHECK ((number > 0)),
    CONSTRAINT audit_reason_digest_check CHECK ((length(reason_digest) = 32))
);

CREATE TABLE catalog_change (
    number bigint NOT NULL,
    happened_at bigint NOT NULL,
    changed_by text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    product_id text NOT NULL COLLATE pg_catalog."C",
    definition text COLLATE pg_catalog."C",
    collection text COLLATE pg_catalog."C",
    item_number bigint,
    picture_digest bytea,
    CONSTRAINT catalog_change_check CHECK (((definition IS NOT NULL) = (kind = 'defined'::text))),
    CONSTRAINT catalog_change_check1 CHECK (((picture_digest IS NOT NULL) = (kind = 'pictured'::text))),
    CONSTRAINT catalog_change_number_check CHECK ((number > 0)),
    CONSTRAINT catalog_change_picture_digest_check CHECK ((length(picture_digest) = 32))
);

CREATE TABLE catalog_picture (
    collection text NOT NULL COLLATE pg_catalog."C",
    number bigint NOT NULL,
    digest bytea NOT NULL,
    bytes bytea NOT NULL,
    CONSTRAINT catalog_picture_digest_check CHECK ((length(digest) = 32))
);

CREATE TABLE chosen_item (
    user_id bigint NOT NULL,
    collection text NOT NULL COLLATE pg_catalog."C",
    number bigint NOT NULL,
    CONSTRAINT chosen_item_number_check CHECK ((number >= 0))
);

CREATE TABLE credit (
    origin text NOT NULL COLLATE pg_catalog."C",
    transaction_id text NOT NULL COLLATE pg_catalog."C",
    user_id bigint NOT NULL,
    balance text NOT NULL COLLATE pg_catalog."C",
    amount bigint NOT NULL,
    CONSTRAINT credit_amount_check CHECK ((amount > 0)),
    CONSTRAINT credit_balance_check CHECK ((balance <> ''::text))
);

CREATE TABLE entitlement (
    user_id bigint NOT NULL,
    collection text NOT NULL COLLATE pg_catalog."C",
    number bigint NOT NULL,
    origin text NOT NULL COLLATE pg_catalog."C",
    transaction_id text NOT NULL COLLATE pg_catalog."C",
    granted_at bigint NOT NULL,
    CONSTRAINT entitlement_number_check CHECK ((number >= 0))
);

CREATE TABLE kept_answer (
    caller text NOT NULL COLLATE pg_catalog."C",
    idempotency_key text NOT NULL COLLATE pg_catalog."C",
    request_digest bytea NOT NULL,
    status bigint NOT NULL,
    content_type text NOT NULL COLLATE pg_catalog."C",
    body bytea NOT NULL,
    kept_at bigint NOT NULL,
    user_id bigint,
    CONSTRAINT kept_answer_request_digest_check CHECK ((length(request_digest) = 32))
);

CREATE TABLE ledger_commit (
    token bytea NOT NULL,
    is_committed smallint NOT NULL,
    committed_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE ledger_schema (
    version bigint NOT NULL
);

CREATE TABLE member (
    user_id bigint NOT NULL,
    phone_number text NOT NULL COLLATE pg_catalog."C",
    email text NOT NULL COLLATE pg_catalog."C",
    fcm_token text NOT NULL COLLATE pg_catalog."C",
    birth text NOT NULL COLLATE pg_catalog."C",
    gender bigint NOT NULL,
    joined_at bigint NOT NULL
);

CREATE TABLE notification (
    origin text NOT NULL COLLATE pg_catalog."C",
    notification_uuid text NOT NULL COLLATE pg_catalog."C",
    type text NOT NULL COLLATE pg_catalog."C",
    subtype text COLLATE pg_catalog."C",
    transaction_id text COLLATE pg_catalog."C",
    signed_at bigint NOT NULL,
    received_at bigint NOT NULL,
    proof_digest bytea NOT NULL,
    settled_at bigint,
    CONSTRAINT notification_proof_digest_check CHECK ((length(proof_digest) = 32))
);

CREATE TABLE original_transaction (
    origin text NOT NULL COLLATE pg_catalog."C",
    original_transaction_id text NOT NULL COLLATE pg_catalog."C",
    user_id bigint NOT NULL,
    transferred_at bigint,
    named_at bigint,
    named_by text COLLATE pg_catalog."C",
    named_stated_at bigint,
    CONSTRAINT original_transaction_check CHECK ((((named_at IS NULL) = (named_by IS NULL)) AND ((named_at IS NULL) = (named_stated_at IS NULL))))
);

CREATE TABLE parked_transaction (
    origin text NOT NULL COLLATE pg_catalog."C",
    transaction_id text NOT NULL COLLATE pg_catalog."C",
    revocation_date bigint,
    revocation_reason bigint,
    stated_at bigint NOT NULL,
    expires_at bigint,
    original_transaction_id text COLLATE pg_catalog."C",
    claim bytea
);

CREATE TABLE profile (
    user_id bigint NOT NULL,
    nickname text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT profile_nickname_check CHECK ((nickname <> ''::text))
);

CREATE TABLE reconciliation (
    subject text NOT NULL COLLATE pg_catalog."C",
    reconciled_until bigint NOT NULL
);

CREATE TABLE redeemed_transaction (
    origin text NOT NULL COLLATE pg_catalog."C",
    transaction_id text NOT NULL COLLATE pg_catalog."C",
    original_transaction_id text NOT NULL COLLATE pg_catalog."C",
    user_id bigint NOT NULL,
    sequence bigint NOT NULL,
    product_id text NOT NULL COLLATE pg_catalog."C",
    quantity bigint NOT NULL,
    purchase_date bigint NOT NULL,
    revocation_date bigint,
    revocation_reason bigint,
    expires_at bigint,
    grace_ends_at bigint,
    grace_stated_at bigint,
    stated_at bigint NOT NULL,
    redeemed_at bigint NOT NULL,
    proof_digest bytea NOT NULL,
    CONSTRAINT redeemed_transaction_proof_digest_check CHECK ((length(proof_digest) = 32)),
    CONSTRAINT redeemed_transaction_quantity_check CHECK ((quantity > 0)),
    CONSTRAINT redeemed_transaction_sequence_check CHECK ((sequence > 0))
);

CREATE TABLE refusal (
    user_id bigint NOT NULL,
    origin text NOT NULL COLLATE pg_catalog."C",
    transaction_id text NOT NULL COLLATE pg_catalog."C",
    reason text NOT NULL COLLATE pg_catalog."C"
);

CREATE TABLE session (
    session_id bytea NOT NULL,
    refresh_id bytea NOT NULL,
    user_id bigint NOT NULL,
    refresh_digest bytea NOT NULL,
    access_digest bytea NOT NULL,
    previous_access_digest bytea,
    began_at bigint NOT NULL,
    ends_at bigint NOT NULL,
    CONSTRAINT session_access_digest_check CHECK ((length(access_digest) = 32)),
    CONSTRAINT session_check CHECK ((ends_at > began_at)),
    CONSTRAINT session_previous_access_digest_check CHECK ((length(previous_access_digest) = 32)),
    CONSTRAINT session_refresh_digest_check CHECK ((length(refresh_digest) = 32)),
    CONSTRAINT session_refresh_id_check CHECK ((length(refresh_id) = 16)),
    CONSTRAINT session_session_id_check CHECK ((length(session_id) = 16))
);

CREATE TABLE spending (
    user_id bigint NOT NULL,
    spending_id text NOT NULL COLLATE pg_catalog."C",
    balance text NOT NULL COLLATE pg_catalog."C",
    amount bigint NOT NULL,
    reason text NOT NULL COLLATE pg_catalog."C",
    spent_by text NOT NULL COLLATE pg_catalog."C",
    spent_at bigint NOT NULL,
    CONSTRAINT spending_amount_check CHECK ((amount > 0)),
    CONSTRAINT spending_reason_check CHECK ((reason <> ''::text))
);

CREATE TABLE team_grant (
    user_id bigint NOT NULL,
    sequence bigint NOT NULL,
    grant_id text NOT NULL COLLATE pg_catalog."C",
    collection text NOT NULL COLLATE pg_catalog."C",
    number bigint NOT NULL,
    reason text NOT NULL COLLATE pg_catalog."C",
    granted_by text NOT NULL COLLATE pg_catalog."C",
    granted_at bigint NOT NULL,
    ends_at bigint,
    revoked_at bigint,
    revoked_by text COLLATE pg_catalog."C",
    revocation_reason text COLLATE pg_catalog."C",
    CONSTRAINT team_grant_check CHECK ((ends_at > granted_at)),
    CONSTRAINT team_grant_check1 CHECK ((((revoked_at IS NULL) = (revoked_by IS NULL)) AND ((revoked_at IS NULL) = (revocation_reason IS NULL)))),
    CONSTRAINT team_grant_number_check CHECK ((number >= 0)),
    CONSTRAINT team_grant_reason_check CHECK ((reason <> ''::text)),
    CONSTRAINT team_grant_sequence_check CHECK ((sequence > 0))
);

CREATE TABLE team_revocation (
    origin text NOT NULL COLLATE pg_catalog."C",
    original_transaction_id text NOT NULL COLLATE pg_catalog."C",
    sequence bigint NOT NULL,
    reason text NOT NULL COLLATE pg_catalog."C",
    revoked_by text NOT NULL COLLATE pg_catalog."C",
    revoked_at bigint NOT NULL,
    reinstated_by text COLLATE pg_catalog."C",
    reinstated_at bigint,
    CONSTRAINT team_revocation_check CHECK (((reinstated_by IS NULL) = (reinstated_at IS NULL))),
    CONSTRAINT team_revocation_reason_check CHECK ((reason <> ''::text)),
    CONSTRAINT team_revocation_sequence_check CHECK ((sequence > 0))
);

CREATE TABLE "user" (
    user_id bigint DEFAULT ((('x'::text || "right"(replace((gen_random_uuid())::text, '-'::text, ''::text), 15)))::bit(60))::bigint NOT NULL,
    issuer text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    app_account_token text NOT NULL COLLATE pg_catalog."C",
    first_seen_at bigint NOT NULL,
    is_app_account_token_settled bigint DEFAULT 1 NOT NULL,
    CONSTRAINT user_app_account_token_check CHECK ((length(app_account_token) = 36)),
    CONSTRAINT user_name_check CHECK ((name <> ''::text))
);

CREATE TABLE user_change (
    user_id bigint NOT NULL,
    number bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    subject text NOT NULL COLLATE pg_catalog."C",
    happened_at bigint NOT NULL,
    CONSTRAINT user_change_number_check CHECK ((number > 0))
);

CREATE TABLE webhook_delivery (
    user_id bigint NOT NULL,
    audit_number bigint NOT NULL,
    endpoint_id text NOT NULL COLLATE pg_catalog."C",
    message_id text NOT NULL COLLATE pg_catalog."C",
    happened_at bigint NOT NULL,
    attempts bigint NOT NULL,
    next_attempt_at bigint,
    is_delivered bigint NOT NULL,
    last_attempt_at bigint,
    last_status bigint,
    last_error text COLLATE pg_catalog."C",
    CONSTRAINT webhook_delivery_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT webhook_delivery_check CHECK (((is_delivered = 0) OR (next_attempt_at IS NULL))),
    CONSTRAINT webhook_delivery_is_delivered_check CHECK ((is_delivered = ANY (ARRAY[(0)::bigint, (1)::bigint])))
);

CREATE TABLE webhook_endpoint (
    endpoint_id text NOT NULL COLLATE pg_catalog."C",
    url text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    created_by text NOT NULL COLLATE pg_catalog."C",
    secret bytea NOT NULL,
    previous_secret bytea,
    previous_secret_ends_at bigint,
    removed_at bigint,
    CONSTRAINT webhook_endpoint_check CHECK (((previous_secret IS NULL) = (previous_secret_ends_at IS NULL))),
    CONSTRAINT webhook_endpoint_previous_secret_check CHECK ((length(previous_secret) = 32)),
    CONSTRAINT webhook_endpoint_secret_check CHECK ((length(secret) = 32))
);

CREATE TABLE wish (
    user_id bigint NOT NULL,
    product_id text NOT NULL COLLATE pg_catalog."C",
    wished_at bigint NOT NULL
);

ALTER TABLE ONLY account
    ADD CONSTRAINT account_email_lowercase_key UNIQUE (email_lowercase);

ALTER TABLE ONLY account
    ADD CONSTRAINT account_pkey PRIMARY KEY (user_id);

ALTER TABLE ONLY api_key
    ADD CONSTRAINT api_key_pkey PRIMARY KEY (key_id);

ALTER TABLE ONLY audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (user_id, number);

ALTER TABLE ONLY catalog_change
    ADD CONSTRAINT catalog_change_pkey PRIMARY KEY (number);

ALTER TABLE ONLY catalog_picture
    ADD CONSTRAINT catalog_picture_pkey PRIMARY KEY (collection, number);

ALTER TABLE ONLY chosen_item
    ADD CONSTRAINT chosen_item_pkey PRIMARY KEY (user_id, collection);

ALTER TABLE ONLY credit
    ADD CONSTRAINT credit_pkey PRIMARY KEY (transaction_id, origin);

ALTER TABLE ONLY entitlement
    ADD CONSTRAINT entitlement_pkey PRIMARY KEY (user_id, collection, number, origin, transaction_id);

ALTER TABLE ONLY entitlement
    ADD CONSTRAINT entitlement_transaction_id_origin_collection_number_key UNIQUE (transaction_id, origin, collection, number);

ALTER TABLE ONLY kept_answer
    ADD CONSTRAINT kept_answer_pkey PRIMARY KEY (idempotency_key, caller);

ALTER TABLE ONLY ledger_commit
    ADD CONSTRAINT ledger_commit_pkey PRIMARY KEY (token);

ALTER TABLE ONLY ledger_schema
    ADD CONSTRAINT ledger_schema_pkey PRIMARY KEY (version);

ALTER TABLE ONLY member
    ADD CONSTRAINT member_pkey PRIMARY KEY (user_id);

ALTER TABLE ONLY notification
    ADD CONSTRAINT notification_pkey PRIMARY KEY (notification_uuid, origin);

ALTER TABLE ONLY original_transaction
    ADD CONSTRAINT original_transaction_original_transaction_id_origin_user_id_key UNIQUE (original_transaction_id, origin, user_id);

ALTER TABLE ONLY original_transaction
    ADD CONSTRAINT original_transaction_pkey PRIMARY KEY (original_transaction_id, origin);

ALTER TABLE ONLY parked_transaction
    ADD CONSTRAINT parked_transaction_pkey PRIMARY KEY (transaction_id, origin);

ALTER TABLE ONLY profile
    ADD CONSTRAINT profile_pkey PRIMARY KEY (user_id);

ALTER TABLE ONLY reconciliation
    ADD CONSTRAINT reconciliation_pkey PRIMARY KEY (subject);

ALTER TABLE ONLY redeemed_transaction
    ADD CONSTRAINT redeemed_transaction_pkey PRIMARY KEY (transaction_id, origin);

ALTER TABLE ONLY redeemed_transaction
    ADD CONSTRAINT redeemed_transaction_transaction_id_origin_user_id_key UNIQUE (transaction_id, origin, user_id);

ALTER TABLE ONLY redeemed_transaction
    ADD CONSTRAINT redeemed_transaction_user_id_sequence_key UNIQUE (user_id, sequence);

ALTER TABLE ONLY refusal
    ADD CONSTRAINT refusal_pkey PRIMARY KEY (user_id, origin, transaction_id, reason);

ALTER TABLE ONLY session
    ADD CONSTRAINT session_pkey PRIMARY KEY (session_id);

ALTER TABLE ONLY session
    ADD CONSTRAINT session_refresh_id_key UNIQUE (refresh_id);

ALTER TABLE ONLY spending
    ADD CONSTRAINT spending_pkey PRIMARY KEY (user_id, spending_id);

ALTER TABLE ONLY team_grant
    ADD CONSTRAINT team_grant_grant_id_key UNIQUE (grant_id);

ALTER TABLE ONLY team_grant
    ADD CONSTRAINT team_grant_pkey PRIMARY KEY (user_id, sequence);

ALTER TABLE ONLY team_revocation
    ADD CONSTRAINT team_revocation_pkey PRIMARY KEY (original_transaction_id, origin, sequence);

ALTER TABLE ONLY "user"
    ADD CONSTRAINT user_app_account_token_key UNIQUE (app_account_token);

ALTER TABLE ONLY user_change
    ADD CONSTRAINT user_change_pkey PRIMARY KEY (user_id, number);

ALTER TABLE ONLY "user"
    ADD CONSTRAINT user_name_issuer_key UNIQUE (name, issuer);

ALTER TABLE ONLY "user"
    ADD CONSTRAINT user_pkey PRIMARY KEY (user_id);

ALTER TABLE ONLY webhook_delivery
    ADD CONSTRAINT webhook_delivery_pkey PRIMARY KEY (endpoint_id, user_id, audit_number);

ALTER TABLE ONLY webhook_endpoint
    ADD CONSTRAINT webhook_endpoint_pkey PRIMARY KEY (endpoint_id);

ALTER TABLE ONLY wish
    ADD CONSTRAINT wish_pkey PRIMARY KEY (user_id, product_id);

CREATE INDEX catalog_change_of_product ON catalog_change USING btree (product_id, number);

CREATE INDEX credit_of_user ON credit USING btree (user_id);

CREATE INDEX kept_answer_about_user ON kept_answer USING btree (user_id) WHERE (user_id IS NOT NULL);

CREATE INDEX kept_answer_by_age ON kept_answer USING btree (kept_at);

CREATE INDEX kept_answer_of_caller ON kept_answer USING btree (caller);

CREATE INDEX notification_that_asks ON notification USING btree (signed_at) WHERE ((type = 'CONSUMPTION_REQUEST'::text) AND (settled_at IS NULL));

CREATE INDEX parked_transaction_of_original ON parked_transaction USING btree (original_transaction_id, origin);

CREATE INDEX redeemed_transaction_of_original ON redeemed_transaction USING btree (original_transaction_id, origin);

CREATE INDEX session_by_end ON session USING btree (ends_at);

CREATE INDEX session_of_user ON session USING btree (user_id, began_at);

CREATE UNIQUE INDEX team_revocation_that_stands ON team_revocation USING btree (original_transaction_id, origin) WHERE (reinstated_at IS NULL);

CREATE INDEX webhook_delivery_by_age ON webhook_delivery USING btree (endpoint_id, happened_at, message_id);

CREATE INDEX webhook_delivery_delivered ON webhook_delivery USING btree (endpoint_id, happened_at, message_id) WHERE (is_delivered = 1);

CREATE INDEX webhook_delivery_due ON webhook_delivery USING btree (endpoint_id, next_attempt_at, happened_at) WHERE (next_attempt_at IS NOT NULL);

CREATE INDEX webhook_delivery_failed ON webhook_delivery USING btree (endpoint_id, happened_at, message_id) WHERE ((next_attempt_at IS NULL) AND (is_delivered = 0));

CREATE UNIQUE INDEX webhook_delivery_message ON webhook_delivery USING btree (endpoint_id, message_id);

CREATE INDEX webhook_delivery_pending ON webhook_delivery USING btree (endpoint_id, happened_at, message_id) WHERE (next_attempt_at IS NOT NULL);

CREATE TRIGGER audit_is_kept BEFORE DELETE OR TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION audit_is_kept();

CREATE TRIGGER audit_is_not_rewritten BEFORE UPDATE ON audit FOR EACH ROW WHEN (((new.reason IS NOT NULL) OR (new.reason_salt IS NOT NULL) OR ((((((((((old.user_id IS DISTINCT FROM new.user_id) OR (old.number IS DISTINCT FROM new.number)) OR (old.happened_at IS DISTINCT FROM new.happened_at)) OR (old.event IS DISTINCT FROM new.event)) OR (old.actor IS DISTINCT FROM new.actor)) OR (old.origin IS DISTINCT FROM new.origin)) OR (old.reference IS DISTINCT FROM new.reference)) OR (old.subject IS DISTINCT FROM new.subject)) OR (old.reason_digest IS DISTINCT FROM new.reason_digest)) OR (old.digest IS DISTINCT FROM new.digest)))) EXECUTE FUNCTION audit_is_kept();

ALTER TABLE ONLY account
    ADD CONSTRAINT account_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(user_id);

ALTER TABLE ONLY audit
    ADD CONSTRAINT audit_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(user_id);

ALTER TABLE ONLY chosen_item
    ADD CONSTRAINT chosen_item_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(user_id);

ALTER TABLE ONLY credit
    ADD CONSTRAINT credit_transaction_id_origin_user_id_fkey FOREIGN KEY (transaction_id, origin, user_id) REFERENCES redeemed_transaction(transaction_id, origin, user_id) ON UPDATE CASCADE;

ALTER TABLE ONLY entitlement
    ADD CONSTRAINT entitlement_transaction_id_origin_user_id_fkey FOREIGN KEY (transaction_id, origin, user_id) REFERENCES redeemed_transaction(transaction_id, origin, user_id) ON UPDATE CASCADE;

ALTER TABLE ONLY member
    ADD CONSTRAINT member_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(user_id);

ALTER TABLE ONLY original_transaction
    ADD CONSTRAINT original_transaction_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(user_id);

ALTER TABLE ONLY profile
    ADD CONSTRAINT profile_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(user_id);

ALTER TABLE ONLY redeemed_transaction
    ADD CONSTRAINT redeemed_transaction_original_transaction_id_origin_user_i_fkey FOREIGN KEY (original_transaction_id, origin, user_id) REFERENCES original_transaction(original_transaction_id, origin, user_id) ON UPDATE CASCADE;

ALTER TABLE ONLY refusal
    ADD CONSTRAINT refusal_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(user_id);

ALTER TABLE ONLY session
    ADD CONSTRAINT session_user_id_fkey FOREIGN KEY (user_id) REFERENCES account(user_id);

ALTER TABLE ONLY spending
    ADD CONSTRAINT spending_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(user_id);

ALTER TABLE ONLY team_grant
    ADD CONSTRAINT team_grant_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(user_id);

ALTER TABLE ONLY team_revocation
    ADD CONSTRAINT team_revocation_original_transaction_id_origin_fkey FOREIGN KEY (original_transaction_id, origin) REFERENCES original_transaction(original_transaction_id, origin);

ALTER TABLE ONLY user_change
    ADD CONSTRAINT user_change_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(user_id);

ALTER TABLE ONLY webhook_delivery
    ADD CONSTRAINT webhook_delivery_user_id_audit_number_fkey FOREIGN KEY (user_id, audit_number) REFERENCES audit(user_id, number);

ALTER TABLE ONLY wish
    ADD CONSTRAINT wish_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(user_id);

INSERT INTO ledger_schema VALUES (14);
