CREATE TABLE account (
    user_id bigint NOT NULL,
    email text NOT NULL,
    email_lowercase text NOT NULL,
    password_hash text NOT NULL,
    created_at bigint NOT NULL,
    email_verified_at bigint
);

CREATE TABLE account_email (
    email_lowercase text NOT NULL,
    user_id bigint NOT NULL
);

CREATE TABLE account_token (
    app_account_token text NOT NULL,
    user_id bigint NOT NULL,
    CONSTRAINT account_token_app_account_token_check CHECK ((length(app_account_token) = 36))
);

CREATE TABLE api_key (
    key_id text NOT NULL,
    name text NOT NULL,
    scopes text NOT NULL,
    secret_digest bytea NOT NULL,
    created_at bigint NOT NULL,
    revoked_at bigint,
    app text,
    expires_at bigint,
    last_used_at bigint,
    CONSTRAINT api_key_secret_digest_check CHECK ((length(secret_digest) = 32))
);

CREATE TABLE app (
    app bigint NOT NULL,
    bundle_id text NOT NULL,
    CONSTRAINT app_app_check CHECK ((app > 0))
);

CREATE TABLE audit (
    user_id bigint NOT NULL,
    number bigint NOT NULL,
    happened_at bigint NOT NULL,
    event text NOT NULL,
    actor text NOT NULL,
    origin text,
    reference text NOT NULL,
    subject text NOT NULL,
    reason text,
    reason_salt bytea,
    reason_digest bytea,
    digest bytea NOT NULL,
    CONSTRAINT audit_digest_check CHECK ((length(digest) = 32)),
    CONSTRAINT audit_number_check CHECK ((number > 0)),
    CONSTRAINT audit_reason_digest_check CHECK ((length(reason_digest) = 32))
);

CREATE TABLE balance_addition (
    user_id bigint NOT NULL,
    addition_id text NOT NULL,
    balance text NOT NULL,
    amount bigint NOT NULL,
    reason text NOT NULL,
    added_by text NOT NULL,
    added_at bigint NOT NULL,
    CONSTRAINT balance_addition_amount_check CHECK ((amount > 0)),
    CONSTRAINT balance_addition_balance_check CHECK ((balance <> ''::text)),
    CONSTRAINT balance_addition_reason_check CHECK ((reason <> ''::text))
);

CREATE TABLE catalog_change (
    number bigint NOT NULL,
    happened_at bigint NOT NULL,
    changed_by text NOT NULL,
    kind text NOT NULL,
    product_id text NOT NULL,
    definition text,
    collection text,
    item_number bigint,
    picture_digest bytea,
    app text,
    CONSTRAINT catalog_change_check CHECK (((definition IS NOT NULL) = (kind = 'defined'::text))),
    CONSTRAINT catalog_change_check1 CHECK (((picture_digest IS NOT NULL) = (kind = 'pictured'::text))),
    CONSTRAINT catalog_change_number_check CHECK ((number > 0)),
    CONSTRAINT catalog_change_picture_digest_check CHECK ((length(picture_digest) = 32))
);

CREATE TABLE catalog_picture (
    collection text NOT NULL,
    number bigint NOT NULL,
    digest bytea NOT NULL,
    bytes bytea NOT NULL,
    CONSTRAINT catalog_picture_digest_check CHECK ((length(digest) = 32))
);

CREATE TABLE chosen_item (
    user_id bigint NOT NULL,
    collection text NOT NULL,
    number bigint NOT NULL,
    CONSTRAINT chosen_item_number_check CHECK ((number >= 0))
);

CREATE TABLE claim (
    transaction_id text NOT NULL,
    origin text NOT NULL,
    app bigint NOT NULL,
    original_transaction_id text NOT NULL,
    user_id bigint NOT NULL
);

CREATE TABLE credit (
    user_id bigint NOT NULL,
    sequence bigint NOT NULL,
    balance text NOT NULL,
    amount bigint NOT NULL,
    origin text NOT NULL,
    is_revoked bigint NOT NULL,
    CONSTRAINT credit_amount_check CHECK ((amount > 0)),
    CONSTRAINT credit_balance_check CHECK ((balance <> ''::text)),
    CONSTRAINT credit_is_revoked_check CHECK ((is_revoked = ANY (ARRAY[(0)::bigint, (1)::bigint])))
);

CREATE TABLE entitlement (
    user_id bigint NOT NULL,
    sequence bigint NOT NULL,
    collection text NOT NULL,
    number bigint NOT NULL,
    origin text NOT NULL,
    granted_at bigint NOT NULL,
    begins_at bigint,
    ends_at bigint,
    is_revoked bigint NOT NULL,
    CONSTRAINT entitlement_is_revoked_check CHECK ((is_revoked = ANY (ARRAY[(0)::bigint, (1)::bigint]))),
    CONSTRAINT entitlement_number_check CHECK ((number >= 0))
);

CREATE TABLE kept_answer (
    idempotency_key text NOT NULL,
    caller text NOT NULL,
    request_digest bytea NOT NULL,
    answer bytea NOT NULL,
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
    phone_number text NOT NULL,
    email text NOT NULL,
    fcm_token text NOT NULL,
    birth text NOT NULL,
    gender bigint NOT NULL,
    joined_at bigint NOT NULL
);

CREATE TABLE notification (
    notification_uuid text NOT NULL,
    origin text NOT NULL,
    app bigint NOT NULL,
    type text NOT NULL,
    subtype text,
    transaction_id text,
    signed_at bigint NOT NULL,
    received_at bigint NOT NULL,
    proof_digest bytea NOT NULL,
    settled_at bigint,
    original_transaction_id text,
    outcome text,
    content text,
    CONSTRAINT notification_proof_digest_check CHECK ((length(proof_digest) = 32))
);

CREATE TABLE original (
    original_transaction_id text NOT NULL,
    origin text NOT NULL,
    app bigint NOT NULL,
    user_id bigint NOT NULL,
    transferred_at bigint,
    named_at bigint,
    named_by text,
    named_stated_at bigint,
    CONSTRAINT original_check CHECK ((((named_at IS NULL) = (named_by IS NULL)) AND ((named_at IS NULL) = (named_stated_at IS NULL))))
);

CREATE TABLE parked_transaction (
    transaction_id text NOT NULL,
    origin text NOT NULL,
    app bigint NOT NULL,
    original_transaction_id text,
    stated_at bigint NOT NULL,
    revocation_date bigint,
    revocation_reason bigint,
    expires_at bigint,
    claim bytea
);

CREATE TABLE profile (
    user_id bigint NOT NULL,
    nickname text NOT NULL,
    CONSTRAINT profile_nickname_check CHECK ((nickname <> ''::text))
);

CREATE TABLE purchase_state (
    user_id bigint NOT NULL,
    original_transaction_id text NOT NULL,
    origin text NOT NULL,
    app bigint NOT NULL,
    state text NOT NULL,
    renews bigint,
    changes_at bigint
);

CREATE TABLE reconciliation (
    subject text NOT NULL,
    reconciled_until bigint NOT NULL
);

CREATE TABLE redeemed_transaction (
    user_id bigint NOT NULL,
    sequence bigint NOT NULL,
    original_transaction_id text NOT NULL,
    transaction_id text NOT NULL,
    origin text NOT NULL,
    app bigint NOT NULL,
    product_id text NOT NULL,
    quantity bigint NOT NULL,
    purchase_date bigint NOT NULL,
    redeemed_at bigint NOT NULL,
    stated_at bigint NOT NULL,
    revocation_date bigint,
    revocation_reason bigint,
    expires_at bigint,
    grace_ends_at bigint,
    grace_stated_at bigint,
    proof_digest bytea NOT NULL,
    anchor_digest bytea,
    leaf_digest bytea,
    environment text,
    type text,
    ownership_type text,
    transaction_reason text,
    original_purchase_date bigint,
    expires_date bigint,
    web_order_line_item_id text,
    subscription_group_id text,
    is_upgraded bigint,
    price bigint,
    currency text,
    storefront text,
    storefront_id text,
    offer_type bigint,
    offer_id text,
    offer_discount_type text,
    offer_period text,
    is_trial_period bigint,
    is_in_intro_offer_period bigint,
    app_account_token text,
    app_transaction_id text,
    item_id bigint,
    revocation_type text,
    revocation_percentage bigint,
    billing_plan_type text,
    commitment_info text,
    advanced_commerce_info text,
    signed_date bigint,
    CONSTRAINT redeemed_transaction_anchor_digest_check CHECK ((length(anchor_digest) = 32)),
    CONSTRAINT redeemed_transaction_leaf_digest_check CHECK ((length(leaf_digest) = 32)),
    CONSTRAINT redeemed_transaction_proof_digest_check CHECK ((length(proof_digest) = 32)),
    CONSTRAINT redeemed_transaction_quantity_check CHECK ((quantity > 0)),
    CONSTRAINT redeemed_transaction_sequence_check CHECK ((sequence > 0))
);

CREATE TABLE refusal (
    user_id bigint NOT NULL,
    transaction_id text NOT NULL,
    origin text NOT NULL,
    app bigint NOT NULL,
    reason text NOT NULL
);

CREATE TABLE session (
    user_id bigint NOT NULL,
    session_id bytea NOT NULL,
    refresh_id bytea NOT NULL,
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
    spending_id text NOT NULL,
    balance text NOT NULL,
    amount bigint NOT NULL,
    reason text NOT NULL,
    spent_by text NOT NULL,
    spent_at bigint NOT NULL,
    idempotency_key text,
    request_digest bytea,
    left_after bigint,
    CONSTRAINT spending_amount_check CHECK ((amount > 0)),
    CONSTRAINT spending_reason_check CHECK ((reason <> ''::text)),
    CONSTRAINT spending_request_digest_check CHECK ((length(request_digest) = 32))
);

CREATE TABLE subscription (
    user_id bigint NOT NULL,
    original_transaction_id text NOT NULL,
    origin text NOT NULL,
    app bigint NOT NULL,
    stated_at bigint NOT NULL,
    proof_digest bytea NOT NULL,
    environment text,
    product_id text,
    auto_renew_product_id text,
    auto_renew_status bigint,
    expiration_intent bigint,
    is_in_billing_retry_period bigint,
    grace_period_expires_date bigint,
    price_increase_status bigint,
    renewal_date bigint,
    renewal_price bigint,
    currency text,
    offer_type bigint,
    offer_id text,
    offer_discount_type text,
    offer_period text,
    recent_subscription_start_date bigint,
    eligible_win_back_offer_ids text,
    app_account_token text,
    app_transaction_id text,
    renewal_billing_plan_type text,
    commitment_info text,
    advanced_commerce_info text,
    CONSTRAINT subscription_proof_digest_check CHECK ((length(proof_digest) = 32))
);

CREATE TABLE team_grant (
    user_id bigint NOT NULL,
    sequence bigint NOT NULL,
    grant_id text NOT NULL,
    collection text NOT NULL,
    number bigint NOT NULL,
    reason text NOT NULL,
    granted_by text NOT NULL,
    granted_at bigint NOT NULL,
    ends_at bigint,
    revoked_at bigint,
    revoked_by text,
    revocation_reason text,
    CONSTRAINT team_grant_check CHECK ((ends_at > granted_at)),
    CONSTRAINT team_grant_check1 CHECK ((((revoked_at IS NULL) = (revoked_by IS NULL)) AND ((revoked_at IS NULL) = (revocation_reason IS NULL)))),
    CONSTRAINT team_grant_number_check CHECK ((number >= 0)),
    CONSTRAINT team_grant_reason_check CHECK ((reason <> ''::text)),
    CONSTRAINT team_grant_sequence_check CHECK ((sequence > 0))
);

CREATE TABLE team_revocation (
    user_id bigint NOT NULL,
    original_transaction_id text NOT NULL,
    origin text NOT NULL,
    app bigint NOT NULL,
    sequence bigint NOT NULL,
    reason text NOT NULL,
    revoked_by text NOT NULL,
    revoked_at bigint NOT NULL,
    reinstated_by text,
    reinstated_at bigint,
    CONSTRAINT team_revocation_check CHECK (((reinstated_by IS NULL) = (reinstated_at IS NULL))),
    CONSTRAINT team_revocation_reason_check CHECK ((reason <> ''::text)),
    CONSTRAINT team_revocation_sequence_check CHECK ((sequence > 0))
);

CREATE TABLE "user" (
    user_id bigint NOT NULL,
    issuer text NOT NULL,
    name text NOT NULL,
    app_account_token text NOT NULL,
    is_app_account_token_settled bigint NOT NULL,
    accepts_any_spelling bigint NOT NULL,
    first_seen_at bigint NOT NULL,
    version bigint NOT NULL,
    last_transaction bigint NOT NULL,
    last_grant bigint NOT NULL,
    audit_number bigint NOT NULL,
    audit_digest bytea NOT NULL,
    CONSTRAINT user_app_account_token_check CHECK ((length(app_account_token) = 36)),
    CONSTRAINT user_audit_digest_check CHECK ((length(audit_digest) = 32)),
    CONSTRAINT user_name_check CHECK ((name <> ''::text))
);

CREATE TABLE user_change (
    user_id bigint NOT NULL,
    number bigint NOT NULL,
    kind text NOT NULL,
    subject text NOT NULL,
    happened_at bigint NOT NULL,
    CONSTRAINT user_change_number_check CHECK ((number > 0))
);

CREATE TABLE user_name (
    name text NOT NULL,
    issuer text NOT NULL,
    user_id bigint NOT NULL,
    CONSTRAINT user_name_name_check CHECK ((name <> ''::text))
);

CREATE TABLE webhook_attempt (
    user_id bigint NOT NULL,
    audit_number bigint NOT NULL,
    endpoint_id text NOT NULL,
    number bigint NOT NULL,
    attempted_at bigint NOT NULL,
    status bigint,
    error text,
    CONSTRAINT webhook_attempt_number_check CHECK ((number > 0))
);

CREATE TABLE webhook_delivery (
    user_id bigint NOT NULL,
    audit_number bigint NOT NULL,
    endpoint_id text NOT NULL,
    message_id text NOT NULL,
    happened_at bigint NOT NULL,
    attempts bigint NOT NULL,
    next_attempt_at bigint,
    is_delivered bigint NOT NULL,
    last_attempt bigint NOT NULL,
    CONSTRAINT webhook_delivery_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT webhook_delivery_check CHECK (((is_delivered = 0) OR (next_attempt_at IS NULL))),
    CONSTRAINT webhook_delivery_is_delivered_check CHECK ((is_delivered = ANY (ARRAY[(0)::bigint, (1)::bigint]))),
    CONSTRAINT webhook_delivery_last_attempt_check CHECK ((last_attempt >= 0))
);

CREATE TABLE webhook_endpoint (
    endpoint_id text NOT NULL,
    url text NOT NULL,
    created_at bigint NOT NULL,
    created_by text NOT NULL,
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
    product_id text NOT NULL,
    wished_at bigint NOT NULL
);

ALTER TABLE ONLY account_email
    ADD CONSTRAINT account_email_pkey PRIMARY KEY (email_lowercase);

ALTER TABLE ONLY account
    ADD CONSTRAINT account_pkey PRIMARY KEY (user_id);

ALTER TABLE ONLY account_token
    ADD CONSTRAINT account_token_pkey PRIMARY KEY (app_account_token);

ALTER TABLE ONLY api_key
    ADD CONSTRAINT api_key_pkey PRIMARY KEY (key_id);

ALTER TABLE ONLY app
    ADD CONSTRAINT app_bundle_id_key UNIQUE (bundle_id);

ALTER TABLE ONLY app
    ADD CONSTRAINT app_pkey PRIMARY KEY (app);

ALTER TABLE ONLY audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (user_id, number);

ALTER TABLE ONLY balance_addition
    ADD CONSTRAINT balance_addition_pkey PRIMARY KEY (user_id, addition_id);

ALTER TABLE ONLY catalog_change
    ADD CONSTRAINT catalog_change_pkey PRIMARY KEY (number);

ALTER TABLE ONLY catalog_picture
    ADD CONSTRAINT catalog_picture_pkey PRIMARY KEY (collection, number);

ALTER TABLE ONLY chosen_item
    ADD CONSTRAINT chosen_item_pkey PRIMARY KEY (user_id, collection);

ALTER TABLE ONLY claim
    ADD CONSTRAINT claim_pkey PRIMARY KEY (transaction_id, origin, app);

ALTER TABLE ONLY credit
    ADD CONSTRAINT credit_pkey PRIMARY KEY (user_id, sequence);

ALTER TABLE ONLY entitlement
    ADD CONSTRAINT entitlement_pkey PRIMARY KEY (user_id, sequence, collection, number);

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

ALTER TABLE ONLY original
    ADD CONSTRAINT original_pkey PRIMARY KEY (original_transaction_id, origin, app);

ALTER TABLE ONLY parked_transaction
    ADD CONSTRAINT parked_transaction_pkey PRIMARY KEY (transaction_id, origin, app);

ALTER TABLE ONLY profile
    ADD CONSTRAINT profile_pkey PRIMARY KEY (user_id);

ALTER TABLE ONLY purchase_state
    ADD CONSTRAINT purchase_state_pkey PRIMARY KEY (user_id, original_transaction_id, origin, app);

ALTER TABLE ONLY reconciliation
    ADD CONSTRAINT reconciliation_pkey PRIMARY KEY (subject);

ALTER TABLE ONLY redeemed_transaction
    ADD CONSTRAINT redeemed_transaction_pkey PRIMARY KEY (user_id, sequence);

ALTER TABLE ONLY redeemed_transaction
    ADD CONSTRAINT redeemed_transaction_user_id_original_transaction_id_origin_key UNIQUE (user_id, original_transaction_id, origin, app, transaction_id);

ALTER TABLE ONLY refusal
    ADD CONSTRAINT refusal_pkey PRIMARY KEY (user_id, transaction_id, origin, app, reason);

ALTER TABLE ONLY session
    ADD CONSTRAINT session_pkey PRIMARY KEY (user_id, session_id);

ALTER TABLE ONLY spending
    ADD CONSTRAINT spending_pkey PRIMARY KEY (user_id, spending_id);

ALTER TABLE ONLY subscription
    ADD CONSTRAINT subscription_pkey PRIMARY KEY (user_id, original_transaction_id, origin, app);

ALTER TABLE ONLY team_grant
    ADD CONSTRAINT team_grant_pkey PRIMARY KEY (user_id, sequence);

ALTER TABLE ONLY team_grant
    ADD CONSTRAINT team_grant_user_id_grant_id_key UNIQUE (user_id, grant_id);

ALTER TABLE ONLY team_revocation
    ADD CONSTRAINT team_revocation_pkey PRIMARY KEY (user_id, original_transaction_id, origin, app, sequence);

ALTER TABLE ONLY user_change
    ADD CONSTRAINT user_change_pkey PRIMARY KEY (user_id, number);

ALTER TABLE ONLY user_name
    ADD CONSTRAINT user_name_pkey PRIMARY KEY (name, issuer);

ALTER TABLE ONLY "user"
    ADD CONSTRAINT user_pkey PRIMARY KEY (user_id);

ALTER TABLE ONLY webhook_attempt
    ADD CONSTRAINT webhook_attempt_pkey PRIMARY KEY (user_id, audit_number, endpoint_id, number);

ALTER TABLE ONLY webhook_delivery
    ADD CONSTRAINT webhook_delivery_pkey PRIMARY KEY (user_id, audit_number, endpoint_id);

ALTER TABLE ONLY webhook_endpoint
    ADD CONSTRAINT webhook_endpoint_pkey PRIMARY KEY (endpoint_id);

ALTER TABLE ONLY wish
    ADD CONSTRAINT wish_pkey PRIMARY KEY (user_id, product_id);

CREATE INDEX catalog_change_of_product ON catalog_change USING btree (product_id, number);

CREATE INDEX kept_answer_about_nobody ON kept_answer USING btree (caller) WHERE (user_id IS NULL);

CREATE INDEX kept_answer_about_user ON kept_answer USING btree (user_id) WHERE (user_id IS NOT NULL);

CREATE INDEX kept_answer_by_age ON kept_answer USING btree (kept_at);

CREATE INDEX notification_of_original ON notification USING btree (original_transaction_id, origin, app) WHERE (original_transaction_id IS NOT NULL);

CREATE INDEX notification_that_asks ON notification USING btree (signed_at) WHERE ((type = 'CONSUMPTION_REQUEST'::text) AND (settled_at IS NULL));

CREATE INDEX parked_transaction_by_age ON parked_transaction USING btree (stated_at);

CREATE INDEX parked_transaction_of_original ON parked_transaction USING btree (original_transaction_id, origin, app);

CREATE INDEX purchase_state_that_changes ON purchase_state USING btree (changes_at) WHERE (changes_at IS NOT NULL);

CREATE INDEX session_by_end ON session USING btree (ends_at);

CREATE INDEX session_by_identifier ON session USING btree (session_id);

CREATE INDEX session_by_refresh_identifier ON session USING btree (refresh_id);

CREATE UNIQUE INDEX spending_by_idempotency_key ON spending USING btree (user_id, idempotency_key) WHERE (idempotency_key IS NOT NULL);

CREATE UNIQUE INDEX team_revocation_that_stands ON team_revocation USING btree (user_id, original_transaction_id, origin, app) WHERE (reinstated_at IS NULL);

CREATE INDEX user_of_any_spelling ON "user" USING btree (user_id, issuer) WHERE (accepts_any_spelling = 1);

CREATE INDEX webhook_delivery_by_age ON webhook_delivery USING btree (endpoint_id, happened_at, message_id);

CREATE INDEX webhook_delivery_delivered ON webhook_delivery USING btree (endpoint_id, happened_at, message_id) WHERE (is_delivered = 1);

CREATE INDEX webhook_delivery_due ON webhook_delivery USING btree (endpoint_id, next_attempt_at, happened_at) WHERE (next_attempt_at IS NOT NULL);

CREATE INDEX webhook_delivery_failed ON webhook_delivery USING btree (endpoint_id, happened_at, message_id) WHERE ((next_attempt_at IS NULL) AND (is_delivered = 0));

CREATE INDEX webhook_delivery_message ON webhook_delivery USING btree (message_id, endpoint_id);

CREATE INDEX webhook_delivery_pending ON webhook_delivery USING btree (endpoint_id, happened_at, message_id) WHERE (next_attempt_at IS NOT NULL);

ALTER TABLE ONLY account
    ADD CONSTRAINT account_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(user_id);

ALTER TABLE ONLY audit
    ADD CONSTRAINT audit_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(user_id);

ALTER TABLE ONLY balance_addition
    ADD CONSTRAINT balance_addition_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(user_id);

ALTER TABLE ONLY chosen_item
    ADD CONSTRAINT chosen_item_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(user_id);

ALTER TABLE ONLY credit
    ADD CONSTRAINT credit_user_id_sequence_fkey FOREIGN KEY (user_id, sequence) REFERENCES redeemed_transaction(user_id, sequence);

ALTER TABLE ONLY entitlement
    ADD CONSTRAINT entitlement_user_id_sequence_fkey FOREIGN KEY (user_id, sequence) REFERENCES redeemed_transaction(user_id, sequence);

ALTER TABLE ONLY member
    ADD CONSTRAINT member_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(user_id);

ALTER TABLE ONLY profile
    ADD CONSTRAINT profile_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(user_id);

ALTER TABLE ONLY purchase_state
    ADD CONSTRAINT purchase_state_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(user_id);

ALTER TABLE ONLY redeemed_transaction
    ADD CONSTRAINT redeemed_transaction_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(user_id);

ALTER TABLE ONLY refusal
    ADD CONSTRAINT refusal_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(user_id);

ALTER TABLE ONLY session
    ADD CONSTRAINT session_user_id_fkey FOREIGN KEY (user_id) REFERENCES account(user_id);

ALTER TABLE ONLY spending
    ADD CONSTRAINT spending_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(user_id);

ALTER TABLE ONLY subscription
    ADD CONSTRAINT subscription_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(user_id);

ALTER TABLE ONLY team_grant
    ADD CONSTRAINT team_grant_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(user_id);

ALTER TABLE ONLY team_revocation
    ADD CONSTRAINT team_revocation_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(user_id);

ALTER TABLE ONLY user_change
    ADD CONSTRAINT user_change_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(user_id);

ALTER TABLE ONLY webhook_attempt
    ADD CONSTRAINT webhook_attempt_user_id_audit_number_endpoint_id_fkey FOREIGN KEY (user_id, audit_number, endpoint_id) REFERENCES webhook_delivery(user_id, audit_number, endpoint_id);

ALTER TABLE ONLY webhook_delivery
    ADD CONSTRAINT webhook_delivery_user_id_audit_number_fkey FOREIGN KEY (user_id, audit_number) REFERENCES audit(user_id, number);

ALTER TABLE ONLY wish
    ADD CONSTRAINT wish_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(user_id);

INSERT INTO ledger_schema VALUES (18);
