"""Prints the SQL that fills a ledger with redeemed transactions, for `make bench-service` and `make bench-console`.

    seed.py sqlite|postgres|sqlite-peer|postgres-peer COUNT [ORIGIN FIRST LAST]

Users u0, u1 and so on have five transactions each. Every user buys once in each of five rounds. The transactions are of one
moment, or from the moment FIRST until LAST, in milliseconds since 1970. The audit log has the right size but no hash chain.
"""
import sys

from statements import Statements

storage, _, peer = sys.argv[1].partition("-")
count = int(sys.argv[2])
origin, beginning, end = (sys.argv[3], int(sys.argv[4]), int(sys.argv[5])) if sys.argv[3:] else (
    "local/Sandbox", 1_790_000_000_000, 1_790_000_000_000)
users = count // 5
statements = Statements(storage)
series, digest = statements.series, statements.digest

identifier = f"CAST(1000000000000000 + n AS TEXT)"
token = f"'00000000-0000-4000-8000-' || {statements.hexadecimal('n', 12)}"
moment = beginning if beginning == end else f"({beginning} + n * {(end - beginning) // count})"
product = f"'com.memolease.sesac1.sprout' || ((n + n / {users}) % 5 + 1)"
statements.begin()
batch = 1_000_000
if peer:
    proof = "md5(n::text) || md5(n::text)" if storage == "postgres" else "hex(randomblob(32))"
    for first in range(0, count, batch):
        rows = series(first, min(first + batch, count) - 1)
        print(
            'INSERT INTO purchase (transaction_id, original_transaction_id, "user", product_id, purchase_date, proof, granted_at)'
            f" SELECT {identifier}, {identifier}, 'u' || (n % {users}), {product}, {moment}, {proof}, {moment} FROM {rows};"
        )
    statements.finish()
    sys.exit()
statements.add_app("com.memolease.sesac1")
for first in range(0, users, batch):
    rows = series(first, min(first + batch, users) - 1)
    print(
        'INSERT INTO "user" (user_id, issuer, name, app_account_token, is_app_account_token_settled,'
        " first_seen_at, version, last_transaction, last_grant, audit_number, audit_digest)"
        f" SELECT n + 1, '', 'u' || n, {token}, 0, {beginning}, 0, {count // users}, 0, {count // users}, {digest()} FROM {rows};"
        f"INSERT INTO user_name (name, issuer, user_id) SELECT 'u' || n, '', n + 1 FROM {rows};"
        f"INSERT INTO account_token (app_account_token, user_id) SELECT {token}, n + 1 FROM {rows};"
    )
for first in range(0, count, batch):
    rows = series(first, min(first + batch, count) - 1)
    owner, sequence = f"n % {users} + 1", f"n / {users} + 1"
    print(
        "INSERT INTO claim (transaction_id, origin, app, original_transaction_id, user_id)"
        f" SELECT {identifier}, '{origin}', 1, {identifier}, {owner} FROM {rows};"
        "INSERT INTO original (original_transaction_id, origin, app, user_id)"
        f" SELECT {identifier}, '{origin}', 1, {owner} FROM {rows};"
        "INSERT INTO redeemed_transaction (user_id, sequence, original_transaction_id, transaction_id, origin, app,"
        " product_id, quantity, purchase_date, redeemed_at, stated_at, proof_digest, anchor_digest, leaf_digest)"
        f" SELECT {owner}, {sequence}, {identifier}, {identifier}, '{origin}', 1,"
        f" {product}, 1, {moment}, {moment}, {moment}, {digest()}, {digest()}, {digest()} FROM {rows};"
        "INSERT INTO entitlement (user_id, sequence, collection, number, origin, app, purchase_date, granted_at,"
        " transaction_id, original_transaction_id, product_id, is_revoked, is_upgraded, is_trial, is_introductory)"
        f" SELECT {owner}, {sequence}, 'sprout', (n + n / {users}) % 5 + 1, '{origin}', 1, {moment}, {moment},"
        f" {identifier}, {identifier}, {product}, 0, 0, 0, 0 FROM {rows};"
        "INSERT INTO audit (user_id, number, happened_at, event, actor, origin, reference, subject, digest)"
        f" SELECT {owner}, {sequence}, {moment}, 'granted', 'user', '{origin}', {identifier},"
        f" {product}, {digest()} FROM {rows};"
    )
statements.finish()
