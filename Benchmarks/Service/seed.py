"""Prints the SQL that fills a ledger with redeemed transactions, for `make bench-service`.

    seed.py sqlite|postgres|sqlite-peer|postgres-peer COUNT

Users u0, u1 and so on have five transactions each. Every user buys once in each of five rounds. The audit log has the right
size but no hash chain. SQLite gets no statistics, because the service gathers none there.
"""
import sys

storage, _, peer = sys.argv[1].partition("-")
count = int(sys.argv[2])
users = count // 5


def series(first: int, last: int) -> str:
    if storage == "postgres":
        return f"(SELECT generate_series({first}::bigint, {last}::bigint) AS n) AS series"
    return (
        f"(WITH RECURSIVE series(n) AS (SELECT {first} UNION ALL SELECT n + 1 FROM series WHERE n < {last})"
        " SELECT n FROM series) AS series"
    )


def finish() -> None:
    if storage == "postgres":
        print("ALTER SYSTEM RESET ALL; SELECT pg_reload_conf(); VACUUM ANALYZE; CHECKPOINT;")


def digest() -> str:
    return "decode(md5(n::text) || md5(n::text), 'hex')" if storage == "postgres" else "randomblob(32)"


identifier = f"CAST(1000000000000000 + n AS TEXT)"
token = (
    "'00000000-0000-4000-8000-' || lpad(to_hex(n), 12, '0')"
    if storage == "postgres"
    else "'00000000-0000-4000-8000-' || printf('%012x', n)"
)
moment = 1_790_000_000_000
product = f"'com.memolease.sesac1.sprout' || ((n + n / {users}) % 5 + 1)"
if storage == "postgres":
    # A failed seed can be repeated, and the generated rows satisfy the foreign keys by construction.
    print("ALTER SYSTEM SET fsync = off; ALTER SYSTEM SET full_page_writes = off; SELECT pg_reload_conf();")
    print("SET session_replication_role = replica;")
else:
    print("PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; PRAGMA cache_size = -200000;")
batch = 1_000_000
if peer:
    proof = "md5(n::text) || md5(n::text)" if storage == "postgres" else "hex(randomblob(32))"
    for first in range(0, count, batch):
        rows = series(first, min(first + batch, count) - 1)
        print(
            'INSERT INTO purchase (transaction_id, original_transaction_id, "user", product_id, purchase_date, proof, granted_at)'
            f" SELECT {identifier}, {identifier}, 'u' || (n % {users}), {product}, {moment}, {proof}, {moment} FROM {rows};"
        )
    finish()
    sys.exit()
print("INSERT INTO app (app, bundle_id) VALUES (1, 'com.memolease.sesac1');")
for first in range(0, users, batch):
    rows = series(first, min(first + batch, users) - 1)
    print(
        'INSERT INTO "user" (user_id, issuer, name, app_account_token, is_app_account_token_settled,'
        " accepts_any_spelling, first_seen_at, version, last_transaction, last_grant, audit_number, audit_digest)"
        f" SELECT n + 1, '', 'u' || n, {token}, 0, 0, {moment}, 0, {count // users}, 0, {count // users}, {digest()} FROM {rows};"
        f"INSERT INTO user_name (name, issuer, user_id) SELECT 'u' || n, '', n + 1 FROM {rows};"
        f"INSERT INTO account_token (app_account_token, user_id) SELECT {token}, n + 1 FROM {rows};"
    )
for first in range(0, count, batch):
    rows = series(first, min(first + batch, count) - 1)
    owner, sequence = f"n % {users} + 1", f"n / {users} + 1"
    print(
        "INSERT INTO claim (transaction_id, origin, app, original_transaction_id, user_id)"
        f" SELECT {identifier}, 'local/Sandbox', 1, {identifier}, {owner} FROM {rows};"
        "INSERT INTO original (original_transaction_id, origin, app, user_id)"
        f" SELECT {identifier}, 'local/Sandbox', 1, {owner} FROM {rows};"
        "INSERT INTO redeemed_transaction (user_id, sequence, original_transaction_id, transaction_id, origin, app,"
        " product_id, quantity, purchase_date, redeemed_at, stated_at, proof_digest, anchor_digest, leaf_digest)"
        f" SELECT {owner}, {sequence}, {identifier}, {identifier}, 'local/Sandbox', 1,"
        f" {product}, 1, {moment}, {moment}, {moment}, {digest()}, {digest()}, {digest()} FROM {rows};"
        "INSERT INTO entitlement (user_id, sequence, collection, number, origin, granted_at, is_revoked)"
        f" SELECT {owner}, {sequence}, 'sprout', (n + n / {users}) % 5 + 1, 'local/Sandbox', {moment}, 0 FROM {rows};"
        "INSERT INTO audit (user_id, number, happened_at, event, actor, origin, reference, subject, digest)"
        f" SELECT {owner}, {sequence}, {moment}, 'granted', 'user', 'local/Sandbox', {identifier},"
        f" {product}, {digest()} FROM {rows};"
    )
finish()
