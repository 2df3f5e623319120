"""The sales figures of a ledger's export, computed by the definitions of Documentation/Figures.md and by nothing of Till.

    till ledger export ledger.jsonl && python3 Tests/Browser/figures.py ledger.jsonl

It reads the rows of transactions, which the App Store has signed, and none of the sums that Till keeps.
"""

import collections
import dataclasses
import datetime
import functools
import json
import sys

DAY = 86_400_000
# The divisor and the factor of a price for a month, by the length of the period in days.
LENGTHS = {1: (30, 1), 3: (10, 1), 7: (4, 1), 14: (2, 1), 30.4: (1, 1), 60.9: (1, 2), 91.3: (1, 3), 182.6: (1, 6), 365.2: (1, 12)}
# Two periods follow directly if at most this lies between them.
GAP = 60_000


@dataclasses.dataclass
class Period:
    """A period of a subscription, paid or free."""

    start: int
    end: int
    is_trial: bool
    product: str
    currency: str
    mrr: int
    # True if only the time ended it: no refund, and no other period.
    is_expired: bool
    is_paid_later: bool = False


def day(moment):
    return moment // DAY


def month_of(number):
    """The number of the month of a day."""
    date = datetime.date(1970, 1, 1) + datetime.timedelta(days=number)
    return date.year * 12 + date.month - 1


def first_day(text):
    return (datetime.date.fromisoformat(text) - datetime.date(1970, 1, 1)).days


def month_price(row):
    days = (row["expires_date"] - row["purchase_date"]) / DAY
    factor, divisor = LENGTHS[min(LENGTHS, key=lambda length: abs(length - days) / length)]
    return row.get("price", 0) * factor // divisor


class Figures:
    """The figures of the purchases in an environment: `sandbox` has all that are not of production."""

    def __init__(self, path, environment="production", now=None):
        self.now = now
        rows = collections.defaultdict(list)
        with open(path) as file:
            for line in file:
                record = json.loads(line)
                if "table" in record:
                    rows[record["table"]].append(record["row"])
        products = {row["product"]: row["product_id"] for row in rows["product"]}
        for row in rows["redeemed_transaction"]:
            row["product_id"] = products[row["product"]]
        is_wanted = {"production": lambda origin: origin.endswith("/Production"), "sandbox": lambda origin: not origin.endswith("/Production")}
        self.transactions = [
            row for row in rows["redeemed_transaction"]
            if is_wanted[environment](row["origin"]) and row.get("ownership_type", "PURCHASED") == "PURCHASED"
        ]
        # Restoring repeats a purchase without an end: the first transaction counts.
        once = {}
        for row in sorted(self.transactions, key=lambda row: row["transaction_id"] != row["original_transaction_id"]):
            if row.get("expires_date") is None:
                once.setdefault((row["origin"], row["original_transaction_id"], row["product_id"]), row)
        self.transactions = [row for row in self.transactions if row.get("expires_date") is not None] + list(once.values())
        self.subscriptions = collections.defaultdict(list)
        for row in self.transactions:
            if row.get("expires_date") is not None:
                self.subscriptions[row["origin"], row["original_transaction_id"]].append(row)
        self.periods = {key: self._periods(rows) for key, rows in self.subscriptions.items()}

    @staticmethod
    def is_trial(row):
        return row.get("offer_discount_type") == "FREE_TRIAL"

    def _periods(self, rows):
        # An upgrade at the moment at which a period begins leaves nothing of that period.
        begun = {row["purchase_date"] for row in rows if not row.get("is_upgraded")}
        rows = [row for row in rows if not row.get("is_upgraded") or row["purchase_date"] not in begun]
        rows.sort(key=lambda row: row["purchase_date"])
        periods = []
        for row, following in zip(rows, [*rows[1:], None]):
            stated = max(row["expires_date"], row.get("grace_ends_at") or 0)
            end = min(stated, row.get("revocation_date") or stated)
            if following:
                end = min(end, following["purchase_date"])
            # Of two periods that begin at one moment, the first one lasts no time.
            if end <= row["purchase_date"]:
                continue
            is_followed = following is not None and following["purchase_date"] - end <= GAP
            periods.append(Period(
                row["purchase_date"], end, self.is_trial(row), row["product_id"], row.get("currency", ""), month_price(row),
                end == stated and not is_followed))
        for index, period in enumerate(periods):
            period.is_paid_later = period.is_trial and any(not later.is_trial for later in periods[index + 1:])
        return periods

    # Sums: of the days from the first to the last.

    @functools.cache
    def sums(self, first, last):
        figures = collections.Counter()
        for row in self.transactions:
            currency, quantity = row.get("currency", ""), row.get("quantity", 1)
            if first <= day(row["purchase_date"]) <= last and not self.is_trial(row):
                figures["transactions", ""] += 1
                figures["units", ""] += quantity
                if row.get("price") is None or not currency:
                    figures["without-price", ""] += 1
                else:
                    figures["revenue", currency] += row["price"]
                figures["refund-rate", ""] += row.get("revocation_date") is not None
            if row.get("revocation_date") is not None and first <= day(row["revocation_date"]) <= last and not self.is_trial(row):
                figures["refunds", ""] += 1
                if row.get("price") is not None and currency:
                    percentage = row.get("revocation_percentage")
                    figures["refunded-revenue", currency] += row["price"] if percentage is None else row["price"] * percentage // 100_000
        firsts = {}
        for row in self.transactions:
            key = row["user_id"], row["app"]
            firsts[key] = min(firsts.get(key, row["purchase_date"]), row["purchase_date"])
        figures["new-customers", ""] = sum(first <= day(moment) <= last for moment in firsts.values())
        for periods in self.periods.values():
            had_trial = was_paid = False
            previous = None
            for period in periods:
                is_here = first <= day(period.start) <= last
                if period.is_trial:
                    figures["new-trials", ""] += is_here
                    figures["trial-conversion", ""] += is_here and period.is_paid_later
                    had_trial = True
                else:
                    figures["conversions", ""] += is_here and had_trial and not was_paid
                    follows = previous is not None and not previous.is_trial and period.start - previous.end <= GAP
                    figures["renewals", ""] += is_here and follows
                    was_paid = True
                previous = period
        figures["churn", ""] = self._churn(first, last)
        return figures

    def _churn(self, first, last):
        """The subscriptions that ended in the days, less those that were resubscribed."""
        ended = 0
        for periods in self.periods.values():
            paid = [period for period in periods if not period.is_trial]
            for index, period in enumerate(paid):
                following = paid[index + 1] if index + 1 < len(paid) else None
                if following and following.start - period.end <= GAP:
                    continue
                if first <= day(period.end) <= last and not self._may_renew(period):
                    ended += 1
                if following and first <= day(following.start) <= last:
                    ended -= 1
        return ended

    def _may_renew(self, period):
        """True on the day on which the period ends: until it is over, the App Store may still renew."""
        return self.now is not None and period.is_expired and day(period.end) >= day(self.now)

    # Users who pay, and their cohorts.

    def _payments(self):
        """The days of each user's payments, by app and user, with their currencies."""
        found = collections.defaultdict(list)
        for row in self.transactions:
            if not self.is_trial(row) and row.get("price") and row.get("currency"):
                found[row["app"], row["user_id"]].append((day(row["purchase_date"]), row["currency"]))
        return found

    @functools.cache
    def payers(self, first, last):
        """The users who paid in the days, by currency."""
        return collections.Counter(
            currency for payments in self._payments().values()
            for currency in {currency for moment, currency in payments if first <= moment <= last})

    @functools.cache
    def cohorts(self):
        """The users by the month of the first payment, and by the months after it in which they paid or were subscribed."""
        subscribed = collections.defaultdict(set)
        for rows in self.subscriptions.values():
            for period in self.periods[rows[0]["origin"], rows[0]["original_transaction_id"]]:
                if not period.is_trial:
                    subscribed[rows[0]["app"], rows[0]["user_id"]] |= {
                        month for month in range(month_of(day(period.start)), month_of(day(period.end)))}
        found = collections.Counter()
        for customer, payments in self._payments().items():
            first = min(month_of(moment) for moment, _ in payments)
            for month in {month_of(moment) for moment, _ in payments} | subscribed[customer]:
                if month >= first:
                    found[first, month - first] += 1
        return found

    # Levels: at the end of a day.

    @functools.cache
    def levels(self, last):
        end = (last + 1) * DAY
        figures = collections.Counter()
        for periods in self.periods.values():
            for period in periods:
                if period.start < end and (period.end >= end or self._may_renew(period) and day(period.end) >= last):
                    figures["active-trials" if period.is_trial else "active-subscriptions", ""] += 1
                    if not period.is_trial:
                        figures["mrr", period.currency] += period.mrr
                        figures["arr", period.currency] += 12 * period.mrr
                    break
        return figures


if __name__ == "__main__":
    computed = Figures(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "production")
    days = [day(row["purchase_date"]) for row in computed.transactions]
    for (figure, currency), value in sorted({**computed.sums(min(days), max(days)), **computed.levels(max(days))}.items()):
        print(f"{figure:24}{currency:5}{value}")
