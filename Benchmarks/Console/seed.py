"""Prints the SQL that adds what the console's pages show to the ledger of ../Service/seed.py, for `make bench-console`.

    seed.py sqlite|postgres COUNT ORIGIN FIRST LAST CLAIM

COUNT to LAST are those of the other seed. CLAIM is the claim of an unclaimed purchase as JSON. Every second user is a subscriber.
The user "regular" has five thousand transactions, and twenty thousand audit records. Everything is spread over the time, so that
some of it is of the last day. The audit log has no hash chain.
"""
import json
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.append(str(pathlib.Path(__file__).parents[1] / "Service"))
from statements import Statements  # noqa: E402

storage, count, origin, beginning, end = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
claim = json.loads(sys.argv[6])
users = count // 5
regular = users + 1
statements = Statements(storage)
DAY = 86_400_000
APP = "com.memolease.sesac1"
REGULAR_TRANSACTIONS, REGULAR_RECORDS, REGULAR_GRANTS = 5_000, 20_000, 500
REFUSALS, TEAM_ACTIONS, NOTIFICATIONS, UNCLAIMED, PROOFS = 60_000, 20_000, 500_000, 20_000, 20_000
CHANGES, MEMBERS, KEYS = 1_000, 30, 100
ENDPOINTS = ("we_first", "we_second")
# The codes of refusals, of which some are frequent.
CODES = (
    "CASE n % 20 WHEN 0 THEN 'anchorUnknown' WHEN 1 THEN 'appMismatch' WHEN 2 THEN 'originNotAccepted'"
    " WHEN 3 THEN 'chainInvalid' WHEN 4 THEN 'signatureInvalid' ELSE 'ownedByAnotherUser' END"
)
# The place of the event among the words of its column (FrequentWords). A user's own record has no actor.
GRANTED, USER = "'0'", "NULL"
# The numbers of the products, after the eleven of the other seed.
MONTHLY, SEEDS = 12, 13
FACTS = (
    "environment, type, ownership_type, transaction_reason, original_purchase_date, web_order_line_item_id,"
    " subscription_group_id, price, currency, storefront, storefront_id, signed_date"
)


def moment(number: int, part: float = 1) -> str:
    """The moment of row n of `number` rows, in the last part of the time."""
    first = end - int((end - beginning) * part)
    return f"({first} + n * {(end - first) // number})"


def insert(table: str, columns: str, values: str, first: int, last: int) -> None:
    print(f"INSERT INTO {table} ({columns}) SELECT {values} FROM {statements.series(first, last)};")


def facts(purchased: str, type: str, price: int) -> str:
    # The places of Production, PURCHASED and PURCHASE among the words of their columns (FrequentWords).
    return (
        f"'0', {type}, '1', '0', {purchased}, CAST(n AS TEXT), '5E5ADE04', {price}, 'KRW', 'KOR',"
        f" '143466', {purchased}"
    )


def transactions(
    user: str, sequence: str, number: str, original: str, product: str, bought: str, expires: str, type: str, count: int,
    gives: str = "false",
) -> None:
    """The transactions of n from 0 until `count`, with their claims. Those under a condition give the garden until they expire."""
    insert("claim", "transaction_id, origin, app, original_transaction_id, user_id, owner_id",
           f"{number}, {origin}, 1, nullif({original}, {number}), {user}, CASE WHEN {original} = {number} THEN {user} END", 0, count - 1)
    insert("redeemed_transaction",
           "user_id, sequence, original_transaction_id, transaction_id, origin, app, product, quantity, purchase_date,"
           f" redeemed_at, stated_at, expires_at, expires_date, proof_digest, is_revoked, collection, number, begins_at,"
           f" ends_at, {FACTS}",
           f"{user}, {sequence}, {original}, {number}, {origin}, 1, {product}, 1, {bought}, {bought} + 2000,"
           f" {bought}, {expires}, {expires}, {statements.digest()}, 0, CASE WHEN {gives} THEN 'garden' END, CASE WHEN {gives} THEN 1 END,"
           f" CASE WHEN {gives} THEN {bought} END, {expires}, {facts(bought, type, 4_900_000)}", 0, count - 1)


def subscriptions(user: str, original: str, stated: str, first: int, last: int) -> None:
    """The renewal statements and states of subscriptions that go on."""
    renews = f"{end + 20 * DAY} + n"
    insert("subscription",
           "user_id, original_transaction_id, origin, app, stated_at, proof_digest, environment, product_id,"
           " auto_renew_product_id, auto_renew_status, renewal_date, renewal_price, currency",
           f"{user}, {original}, {origin}, 1, {stated}, {statements.digest()}, '0', '{APP}.gardener.monthly',"
           f" '{APP}.gardener.monthly', 1, {renews}, 4900000, 'KRW'", first, last)
    insert("purchase_state", "user_id, original_transaction_id, origin, app, state, renews, changes_at",
           f"{user}, {original}, {origin}, 1, 'active', 1, {renews}", first, last)


def audit(user: str, number: str, happened: str, event: str, actor: str, place: str, subject: str, reason: str,
          first: int, last: int) -> None:
    insert("audit", "user_id, number, happened_at, event, actor, origin, reference, subject, reason, digest",
           f"{user}, {number}, {happened}, {event}, {actor}, {place}, {statements.identifier('1000000000000000 + n')}, {subject}, {reason},"
           f" {statements.digest()}", first, last)


def uuid(kind: str) -> str:
    return f"'{kind}-0000-4000-8000-' || {statements.hexadecimal('n', 12)}"


def notifications(kind: str, original: str, signed: str, type: str, outcome: str, settled: str, first: int, last: int) -> None:
    content = json.dumps({
        "notificationType": "DID_RENEW", "version": "2.0", "signedDate": end,
        "data": {"bundleId": APP, "bundleVersion": "1", "environment": "Production", "status": 1},
    }).replace("'", "''")
    insert("notification",
           "notification_uuid, origin, app, type, transaction_id, signed_at, received_at, proof_digest, settled_at,"
           " original_transaction_id, outcome, content",
           f"{uuid(kind)}, {origin}, 1, {type}, {original}, {signed}, {signed} + 3000, {statements.digest()}, {settled},"
           f" {original}, {outcome}, '{content}'", first, last)


def subscribers() -> None:
    """Every second user subscribes as the last purchase."""
    number, bought, user = statements.identifier("5000000000000000 + n"), moment(users // 2, 1 / 13), "2 * n + 1"
    last = users // 2 - 1
    transactions(
        user, "6", number, number, str(MONTHLY), bought, f"{bought} + {31 * DAY}",
        "'3'", last + 1, "true")
    subscriptions(user, number, bought, 0, last)
    audit(user, "6", bought, GRANTED, USER, origin, f"'{APP}.gardener.monthly'", "NULL", 0, last)


def regular_customer() -> None:
    """Nine consumables for each renewal of one of twenty subscriptions."""
    is_renewal = "n % 10 = 0"
    number = statements.identifier("3000000000000000 + n")
    original = f"CASE WHEN {is_renewal} THEN {statements.identifier('3000000000000000 + n % 200')} ELSE {number} END"
    bought = moment(REGULAR_TRANSACTIONS)
    ends = f"{bought} + {31 * DAY}"
    last = REGULAR_TRANSACTIONS - 1
    token = statements.uuid("'ffffffff-0000-4000-8000-000000000000'")
    insert('"user"',
           "user_id, issuer, name, app_account_token, is_app_account_token_settled, first_seen_at, version,"
           " last_transaction, last_grant, audit_number, audit_digest",
           f"{regular}, '', 'regular', {token}, 0, {beginning}, 0, {REGULAR_TRANSACTIONS},"
           f" {REGULAR_GRANTS}, {REGULAR_RECORDS}, {statements.digest()}", 0, 0)
    insert("user_name", "name, issuer, user_id", f"'regular', '', {regular}", 0, 0)
    insert("account_token", "app_account_token, user_id", f"{token}, {regular}", 0, 0)
    transactions(
        str(regular), "n + 1", number, original,
        f"CASE WHEN {is_renewal} THEN {MONTHLY} ELSE {SEEDS} END", bought,
        f"CASE WHEN {is_renewal} THEN {ends} END",
        f"CASE WHEN {is_renewal} THEN '3' ELSE '0' END", last + 1, is_renewal)
    subscriptions(str(regular), statements.identifier("3000000000000000 + n * 10"), str(end - DAY), 0, 19)
    print(f"INSERT INTO credit (user_id, sequence, balance, amount, origin, is_revoked) SELECT {regular}, n + 1, 'seeds', 10,"
          f" {origin}, 0 FROM {statements.series(0, last)} WHERE NOT {is_renewal};")
    audit(str(regular), "n + 1", moment(REGULAR_RECORDS),
          f"CASE n % 4 WHEN 0 THEN {GRANTED} WHEN 1 THEN 'refused' WHEN 2 THEN 'expired' ELSE 'itemGiven' END",
          f"CASE n % 4 WHEN 0 THEN {USER} WHEN 1 THEN {USER} WHEN 2 THEN 'App Store' ELSE 'member Ada' END",
          f"CASE WHEN n % 4 < 3 THEN {origin} END", f"CASE WHEN n % 4 < 3 THEN '{APP}.gardener.monthly' ELSE 'sprout 1' END",
          "CASE n % 4 WHEN 1 THEN 'ownedByAnotherUser' WHEN 3 THEN 'A present.' END", 0, REGULAR_RECORDS - 1)
    insert("team_grant",
           "user_id, sequence, grant_id, collection, number, reason, granted_by, granted_at",
           f"{regular}, n + 1, {statements.uuid(uuid('aaaaaaaa'))}, 'sprout', n % 5 + 1, 'A present.', 'member Ada', {moment(REGULAR_GRANTS)}",
           0, REGULAR_GRANTS - 1)
    notifications("bbbbbbbb", original, bought, f"CASE WHEN {is_renewal} THEN 'DID_RENEW' ELSE 'ONE_TIME_CHARGE' END",
                  "'granted'", "NULL", 0, last)
    insert("profile", "user_id, nickname", f"{regular}, 'regular'", 0, 0)
    insert("wish", "user_id, product_id, wished_at", f"{regular}, '{APP}.sprout' || n, {end}", 1, 5)


def team() -> None:
    """The team, its grants, and the changes of the catalog. The refusals of users are more frequent in the last four weeks."""
    user, round = f"n % {users} + 1", f"n / {users}"
    audit(user, f"100 + 2 * ({round})", moment(REFUSALS, 1 / 13), "'refused'", USER, origin, f"'{APP}.sprout1'", CODES,
          0, REFUSALS - 1)
    audit(user, f"101 + 2 * ({round})", moment(TEAM_ACTIONS), "'itemGiven'", "'member ' || CASE n % 2 WHEN 0 THEN 'Ada' ELSE 'Grace' END",
          "NULL", "'sprout 1'", "'A present.'", 0, TEAM_ACTIONS - 1)
    insert("team_grant", "user_id, sequence, grant_id, collection, number, reason, granted_by, granted_at",
           f"{user}, {round} + 1, {statements.uuid(uuid('cccccccc'))}, 'sprout', 1, 'A present.', 'member Ada', {moment(TEAM_ACTIONS)}", 0, TEAM_ACTIONS - 1)
    insert("team_member", "name, role, created_at",
           f"CASE n WHEN 0 THEN 'Ada' WHEN 1 THEN 'Grace' ELSE 'Member ' || n END, 'viewer', {beginning}", 0, MEMBERS - 1)
    insert("team_change", "number, happened_at, event, actor, member, role",
           f"n, {moment(CHANGES)}, 'roleChanged', 'member Ada', 'Grace', 'viewer'", 1, CHANGES)
    # The last change puts the product on sale.
    insert("catalog_change", "number, happened_at, changed_by, kind, subject, product_id, app",
           f"n, {moment(CHANGES)}, 'member Ada', CASE n % 2 WHEN 1 THEN 'withdrawn' ELSE 'restored' END, 'product', '{APP}.sprout1', '{APP}'",
           1, CHANGES)
    insert("api_key", "key_id, name, scopes, secret_digest, created_at",
           f"{statements.hexadecimal('n', 12)}, 'Key ' || n, 'items', {statements.digest()}, {beginning}", 1, KEYS)


def app_store() -> None:
    """A notification about every second transaction, some of rare types, and open consumption requests."""
    notifications(
        "dddddddd", statements.identifier("1000000000000000 + 2 * n"), moment(NOTIFICATIONS),
        "CASE n % 100 WHEN 0 THEN 'REFUND' WHEN 1 THEN 'EXPIRED' ELSE 'ONE_TIME_CHARGE' END",
        "CASE n % 100 WHEN 0 THEN 'revoked' WHEN 1 THEN 'recorded' ELSE 'granted' END", "NULL",
        0, min(NOTIFICATIONS, count // 2) - 1)
    # Half a day is left to answer.
    notifications("eeeeeeee", statements.identifier("1000000000000001 + 2 * n"), f"({end} - n * 60000)", "'CONSUMPTION_REQUEST'",
                  "'recorded'", f"CASE WHEN n >= 500 THEN {end} END", 0, 4_999)
    text = json.dumps({
        **claim, "transactionIdentifier": "@", "originalTransactionIdentifier": "@", "origin": origin,
    }).replace("'", "''")
    claimed = f"replace('{text}', '@', CAST(7000000000000000 + n AS TEXT))"
    claimed = f"convert_to({claimed}, 'UTF8')" if statements.is_postgres else f"CAST({claimed} AS BLOB)"
    identifier = statements.identifier("7000000000000000 + n")
    insert("parked_transaction", "transaction_id, origin, app, original_transaction_id, stated_at, claim",
           f"{identifier}, {origin}, 1, {identifier}, {moment(UNCLAIMED)},"
           f" {claimed}", 0, UNCLAIMED - 1)
    bytes = "convert_to(repeat('x', 2000), 'UTF8')" if statements.is_postgres else "zeroblob(2000)"
    insert("kept_proof", "user_id, proof_digest, bytes, certificates",
           f"n % {users} + 1, {statements.digest()}, {bytes}, {statements.digest()}", 0, PROOFS - 1)


def customer_sums() -> None:
    """The last purchase and the sum of each customer, by which lists are sorted."""
    print("INSERT INTO customer_activity (user_id, is_sandbox, last_purchase_at)"
          " SELECT user_id, 0, max(purchase_date) FROM redeemed_transaction GROUP BY user_id;"
          "INSERT INTO customer_spending (user_id, is_sandbox, currency, amount)"
          " SELECT user_id, 0, currency, sum(price) FROM redeemed_transaction WHERE currency IS NOT NULL"
          " GROUP BY user_id, currency;")


def webhooks() -> None:
    """Two endpoints: the messages of four weeks, older ones that failed, and some that wait for another attempt."""
    for place, endpoint in enumerate(ENDPOINTS):
        insert("webhook_endpoint", "endpoint_id, url, created_at, created_by, secret, format",
               f"'{endpoint}', 'http://127.0.0.1:9/{endpoint}', {beginning} + {place}, 'member Ada', {statements.digest()}, 'standard'", 0, 0)
        insert("webhook_change", "endpoint_id, happened_at, change_id, event, changed_by",
               f"'{endpoint}', {moment(CHANGES)}, "
               f"{'decode(md5(n::text), ' + chr(39) + 'hex' + chr(39) + ')' if statements.is_postgres else 'randomblob(16)'},"
               " 'secretReplaced', 'member Ada'", 1, CHANGES)
        recent = f"happened_at > {end - 28 * DAY}"
        print(
            "INSERT INTO webhook_delivery (user_id, audit_number, endpoint_id, companion, message_id, happened_at, attempts,"
            " next_attempt_at, is_delivered, last_attempt)"
            f" SELECT user_id, number, '{endpoint}', '', 'msg_' || user_id || '_' || number, happened_at, 1,"
            f" CASE WHEN {recent} AND user_id % 100 = 0 THEN {end + 365 * DAY} END,"
            f" CASE WHEN {recent} AND user_id % 100 > 1 THEN 1 ELSE 0 END, 1"
            f" FROM audit WHERE event <> 'refused' AND ({recent} OR user_id % 100 = 1);"
            "INSERT INTO webhook_attempt (user_id, audit_number, endpoint_id, companion, number, attempted_at, status, duration_ms)"
            " SELECT user_id, audit_number, endpoint_id, '', 1, happened_at, CASE is_delivered WHEN 1 THEN 204 ELSE 500 END, 12"
            f" FROM webhook_delivery WHERE endpoint_id = '{endpoint}';")


statements.begin()
statements.add_products(MONTHLY, [f"{APP}.gardener.monthly", f"{APP}.seeds10"])
subscribers()
regular_customer()
team()
app_store()
customer_sums()
webhooks()
# Nothing is left to do in the background.
for table, subject, columns, values in (
        ("reconciliation", "purchase states", "reconciled_until, findings", f"{end}, '{{}}'"),
        ("figure_upkeep", "backfill", "done_at", end)):
    print(f"INSERT INTO {table} (subject, {columns}) SELECT '{subject}', {values} WHERE NOT EXISTS"
          f" (SELECT 1 FROM {table} WHERE subject = '{subject}');")
statements.finish()
