"""Fills a ledger with the sums of ten million transactions of a year, for `make bench-figures`.

    seed.py sqlite FILE     writes into the ledger's file
    seed.py postgres        prints what `psql` reads

A ledger that has an app keeps it.

The sums are those that the transactions of a shop would make: twelve products, of which a few sell most, sixty storefronts and
ten currencies. Day by day they vary by a fifth.
"""
import datetime
import random
import sqlite3
import sys

TRANSACTIONS = 10_000_000
PRODUCTS = 12
CURRENCIES = "USD EUR JPY GBP KRW CAD AUD CHF SEK BRL".split()
STOREFRONTS = 60
# A year that ends with the last whole month, and the month before it, from which levels come.
LAST = datetime.date.today().replace(day=1) - datetime.timedelta(days=1)
DAYS = 365 + 31
EPOCH = datetime.date(1970, 1, 1)
COLUMNS = "day, span, metric, breakdown, app, origin, product_id, storefront, currency, amount"

# The share of a day's transactions that a metric counts.
COUNTS = {
    "units": 1.05, "transactions": 1, "without_price": 0.01, "refunds": 0.02, "refunded_transactions": 0.02,
    "new_customers": 0.2, "renewals": 0.55, "conversions": 0.06, "converted_trials": 0.06, "trials_new": 0.12,
    "trials_ended": 0.06, "trials_expired": 0.05, "subscriptions_new": 0.15, "subscriptions_resubscribed": 0.02,
    "subscriptions_changed": 0.01, "subscriptions_refunded": 0.01, "subscriptions_expired": 0.13,
}
MONEY = {
    "revenue": 1, "refunded_revenue": 0.02, "mrr_new": 0.15, "mrr_resubscribed": 0.02, "mrr_changed": 0.01,
    "mrr_refunded": 0.01, "mrr_expired": 0.13,
}
PRICE = 5_990
# The users who pay, who are counted by currency.
USERS = {"payers": 0.6, "payers_new": 0.1}
# Each sum of a level, with the metrics that raise it and those that lower it.
NETS = {
    "trials": (["trials_new"], ["trials_ended", "trials_expired"]),
    "subscriptions": (
        ["subscriptions_new", "subscriptions_resubscribed", "subscriptions_changed"],
        ["subscriptions_refunded", "subscriptions_expired"],
    ),
    "mrr": (["mrr_new", "mrr_resubscribed", "mrr_changed"], ["mrr_refunded", "mrr_expired"]),
}


def shares(names):
    """Shares that fall from name to name: the first sells most."""
    weights = [1 / (place + 1) for place in range(len(names))]
    return [(name, weight / sum(weights)) for name, weight in zip(names, weights)]


products = shares([f"com.example.garden.plan{number:02}" for number in range(PRODUCTS)])
storefronts = [
    (name, share, CURRENCIES[place % len(CURRENCIES)])
    for place, (name, share) in enumerate(
        shares([chr(65 + number // 26) + chr(65 + number % 26) + "X" for number in range(STOREFRONTS)]))
]
currencies = [
    (currency, sum(share for _, share, other in storefronts if other == currency)) for currency in CURRENCIES
]


def subjects(is_money):
    """The breakdown, product, storefront, currency and share of each row of a metric."""
    for currency, share in currencies if is_money else [("", 1)]:
        yield 0, "", "", currency, share
        for product, part in products:
            yield 1, product, "", currency, share * part
    for storefront, share, currency in storefronts:
        yield 2, "", storefront, currency if is_money else "", share


def rows():
    dice = random.Random(1)
    months = {}
    for number in range(DAYS):
        date = LAST - datetime.timedelta(days=DAYS - 1 - number)
        day, month = (date - EPOCH).days, (date.replace(day=1) - EPOCH).days
        found = {}
        for has_currency, metrics in ((False, COUNTS), (True, MONEY), (True, USERS)):
            for metric, weight in metrics.items():
                for breakdown, product, storefront, currency, share in subjects(has_currency):
                    count = TRANSACTIONS / 365 * weight * share * dice.uniform(0.8, 1.2)
                    amount = round(count * (PRICE if metric in MONEY else 1))
                    found[(metric, breakdown, product, storefront, currency)] = amount
        for net, (added, subtracted) in NETS.items():
            for breakdown, product, storefront, currency, _ in subjects(net == "mrr"):
                key = (breakdown, product, storefront, currency)
                found[(net,) + key] = sum(found[(metric,) + key] for metric in added) - sum(
                    found[(metric,) + key] for metric in subtracted)
        for (metric, *subject), amount in sorted(found.items()):
            if amount == 0:
                continue
            breakdown, product, storefront, currency = subject
            rest = (metric, breakdown, 1, "apple/Production", product, storefront, currency)
            yield (day, 0) + rest + (amount,)
            months[(month, 1) + rest] = months.get((month, 1) + rest, 0) + amount
    for key, amount in sorted(months.items()):
        yield key + (amount,)


def cohorts():
    """Of each month's new payers, a tenth less each month after."""
    date = LAST.replace(day=1)
    for age in range(13):
        for after in range(age + 1):
            yield (date - EPOCH).days, after, 1, "apple/Production", round(TRANSACTIONS / 120 * 0.9**after)
        date = (date - datetime.timedelta(days=1)).replace(day=1)


COHORT_COLUMNS = "day, months_after, app, origin, users"
APP = (
    "INSERT INTO app (app, bundle_id) SELECT 1, 'com.example.garden' WHERE NOT EXISTS (SELECT 1 FROM app WHERE app = 1)"
)
if sys.argv[1] == "sqlite":
    database = sqlite3.connect(sys.argv[2])
    database.execute("PRAGMA synchronous = OFF")
    database.execute(APP)
    database.executemany(f"INSERT INTO figure ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows())
    database.executemany(f"INSERT INTO figure_cohort ({COHORT_COLUMNS}) VALUES (?, ?, ?, ?, ?)", cohorts())
    database.commit()
    print(database.execute("SELECT count(*) FROM figure").fetchone()[0])
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
else:
    print(f"{APP};")
    print(f"COPY figure ({COLUMNS}) FROM stdin;")
    for row in rows():
        print(*row, sep="\t")
    print("\\.")
    print(f"COPY figure_cohort ({COHORT_COLUMNS}) FROM stdin;")
    for row in cohorts():
        print(*row, sep="\t")
    print("\\.")
    print("VACUUM ANALYZE figure;")
