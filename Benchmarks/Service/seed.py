"""Prints the SQL that fills a ledger or a peer's database with redeemed transactions, for `make bench-service` and
`make bench-console`.

    seed.py sqlite|postgres|sqlite-peer|postgres-peer COUNT [ORIGIN FIRST LAST]
    seed.py sqlite|postgres|sqlite-peer|postgres-peer readers USERS

The first makes COUNT transactions of users u0, u1 and so on, who have five each. The transactions are of one moment, or from the
moment FIRST until LAST, in milliseconds since 1970. The second adds users who are only read, USERS of each kind: r0, r1 and so on
with ten transactions, the doors' customers c0, c1 and so on with ten, too, and in SQLite t0, t1 and so on with thirty. A peer's
database gets the first kind alone. Every user buys once in each round. The audit log has the right size but no hash chain.

With `--columns FILE`, a ledger of another version gets the columns that it has. A line is TABLE.COLUMN, and 1 for an integer that
must be there, which is 0 where this version has none, or 0 for any other column.
"""
import sys
from typing import NamedTuple

from statements import Statements

arguments = sys.argv[1:]
columns = None
if "--columns" in arguments:
    place = arguments.index("--columns")
    columns = dict(line.split() for line in open(arguments[place + 1]))
    del arguments[place:place + 2]
storage, _, peer = arguments[0].partition("-")
statements = Statements(storage, columns)
origin, beginning, end = "4", 1_790_000_000_000, 1_790_000_000_000
if arguments[1] != "readers" and arguments[2:]:
    origin, beginning, end = arguments[2], int(arguments[3]), int(arguments[4])
APP = "com.memolease.sesac1"
# The places of Non-Consumable, Sandbox, PURCHASED, PURCHASE and granted among the words of their columns (FrequentWords).
TYPE, ENVIRONMENT, OWNERSHIP, REASON, EVENT = "'1'", "'1'", "'1'", "'0'", "'0'"
BATCH = 1_000_000


class Group(NamedTuple):
    """Users with the same number of transactions."""

    name: str
    users: int
    transactions: int
    # The numbers before those of the first user and the first transaction.
    user: int
    transaction: int
    issuer: str = ""

    def add(self) -> None:
        count = self.users * self.transactions
        if not peer:
            for rows in batches(self.users):
                self._add_users(rows)
        for rows in batches(count):
            self._add_transactions(rows, count)

    def _add_users(self, rows: str) -> None:
        user = f"n + {self.user} + 1"
        name = f"'{self.name}' || n"
        token = statements.uuid(f"'00000000-0000-4000-8000-' || {statements.hexadecimal(f'n + {self.user}', 12)}")
        statements.insert('"user"', {
            "user_id": user, "issuer": f"'{self.issuer}'", "name": name, "app_account_token": token,
            "is_app_account_token_settled": 0, "first_seen_at": beginning, "version": 0, "last_transaction": self.transactions,
            "last_grant": 0, "audit_number": self.transactions, "audit_digest": statements.digest(),
        }, rows)
        statements.insert("user_name", {"name": name, "issuer": f"'{self.issuer}'", "user_id": user}, rows)
        statements.insert("account_token", {"app_account_token": token, "user_id": user}, rows)

    def _add_transactions(self, rows: str, count: int) -> None:
        round, place = f"n / {self.users}", f"n % {self.users}"
        transaction = f"{self.transaction} + n"
        # The catalog's eleven products, four of sprouts and seven of backgrounds, begun by each user at another one.
        choice = f"({place} + {round}) % 11"
        collection = f"CASE WHEN {choice} < 4 THEN 'sprout' ELSE 'background' END"
        number = f"CASE WHEN {choice} < 4 THEN {choice} + 1 ELSE {choice} - 3 END"
        product = f"'{APP}.' || {collection} || {number}"
        moment = beginning if beginning == end else f"({beginning} + n * {(end - beginning) // count})"
        if peer:
            identifier = f"CAST({transaction} AS TEXT)"
            name = f"'{self.name}' || ({place})"
            statements.insert("owner", {"original_transaction_id": identifier, '"user"': name}, rows)
            statements.insert("purchase", {
                "transaction_id": identifier, "original_transaction_id": identifier, '"user"': name, "product_id": product,
                "purchase_date": moment, "proof": f"{statements.hexadecimal('n', 32)} || {statements.hexadecimal('n', 32)}",
                "granted_at": moment,
            }, rows)
            return
        key = {"user_id": f"{place} + {self.user} + 1", "sequence": f"{round} + 1"}
        identifier = statements.identifier(transaction)
        name = {"transaction_id": identifier, "origin": origin, "app": 1}
        statements.insert("claim", name | {"user_id": key["user_id"], "owner_id": key["user_id"]}, rows)
        statements.insert("redeemed_transaction", key | name | {
            "original_transaction_id": identifier,
            "product": f"{choice} + 1", "quantity": 1, "purchase_date": moment, "redeemed_at": moment, "stated_at": moment,
            "environment": ENVIRONMENT, "type": TYPE, "ownership_type": OWNERSHIP, "transaction_reason": REASON,
            "original_purchase_date": moment, "price": 1_200_000, "currency": "'KRW'", "storefront": "'KOR'",
            "storefront_id": "'143466'", "signed_date": moment,
            "proof_digest": statements.digest(), "collection": collection, "number": number, "is_revoked": 0,
        }, rows)
        statements.insert("audit", {
            "user_id": key["user_id"], "number": key["sequence"], "happened_at": moment, "event": EVENT,
            "origin": origin, "app": 1, "reference": identifier,
            "product": f"{choice} + 1", "digest": statements.digest(),
        }, rows)


def batches(count: int) -> list[str]:
    """Tables that together have the numbers from 0 until `count` as n."""
    return [statements.series(first, min(first + BATCH, count) - 1) for first in range(0, count, BATCH)]


if arguments[1] == "readers":
    users = int(arguments[2])
    groups = [Group("r", users, 10, 1_000_000_000, 1_100_000_000_000_000)]
    if not peer:
        groups.append(Group("c", users, 10, 2_000_000_000, 1_200_000_000_000_000, issuer="customer"))
        if storage == "sqlite":
            groups.append(Group("t", users, 30, 3_000_000_000, 1_300_000_000_000_000))
else:
    groups = [Group("u", int(arguments[1]) // 5, 5, 0, 1_000_000_000_000_000)]
statements.begin()
if not peer:
    statements.add_app(APP)
    names = [f"sprout{number}" for number in range(1, 5)] + [f"background{number}" for number in range(1, 8)]
    statements.add_products(1, [f"{APP}.{name}" for name in names])
for group in groups:
    group.add()
statements.finish()
