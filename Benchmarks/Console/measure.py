"""Requests each page of the console of a service, and prints how long the answers take, for `make bench-console`.

    measure.py NAME LINK ROUNDS COUNT SERVICE_PROCESS [DATABASE_PROCESS]

LINK is the one-time link of an administrator. The ledger is that of seed.py. The program fails if the 99th percentile of a page
is over the limit, or if a page of the console is missing here. A busy machine delays some answers, so a page over the limit is
measured up to three times, and the best time counts.
"""
import datetime
import math
import os
import pathlib
import re
import statistics
import sys
import urllib.parse

sys.path.append(str(pathlib.Path(__file__).parents[2] / "Tests/Browser"))
import routes  # noqa: E402
from browser import Browser  # noqa: E402

LIMIT = 200
ATTEMPTS = 3
# A file with everything about a customer. It grows with the customer, and is no page.
WITHOUT_LIMIT = {"regular: export"}
PASSWORD = "correct horse battery"
# They send as long as the browser listens.
STREAMS = {"activity", "store/stream"}
# The catalog of the demonstration has none.
PICTURES = {"item-pictures/:collection/:number"}
APP = "com.memolease.sesac1"
name, link, rounds, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
processes = [int(number) for number in sys.argv[5:]]
browser = Browser(link)


def processor():
    """The milliseconds of processor time of the service, and of the database with its children."""
    total = 0
    for place, process in enumerate(processes):
        children = []
        if place:
            for each in filter(str.isdigit, os.listdir("/proc")):
                try:
                    fields = pathlib.Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
                except OSError:
                    continue
                if int(fields[1]) == process:
                    children.append(fields)
        own = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        total += sum(int(ticks) for fields in [own, *children] for ticks in fields[11:13]) + sum(map(int, own[13:15]))
    return total * 1000 / os.sysconf("SC_CLK_TCK")


def log_in():
    parts = urllib.parse.urlsplit(link)
    browser.send(parts.path, {"code": parts.fragment, "new-password": PASSWORD, "repetition": PASSWORD}, parts.path)
    browser.send("/console/log-in", {"name": "Bench", "password": PASSWORD, "next": "/console"}, "/console/log-in")


def pages():
    """The pages by their names, in the order of the navigation."""
    found = {}

    def add(title, path):
        if path is None:
            sys.exit(f"bench-console: there is no page \"{title}\"")
        found[title] = path
        return path

    def add_list(title, path, pattern=r"[?&]cursor="):
        """A list: its first page and its second one."""
        add(title, path)
        add(f"{title}, second page", browser.link(path, pattern))

    add("overview", "/console")
    add("overview, sandbox", "/console?environment=sandbox")
    today = datetime.datetime.now(datetime.timezone.utc).date()
    year = f"from={today - datetime.timedelta(days=364)}&to={today}"
    figures = add("figures", "/console/figures")
    for figure in dict.fromkeys(re.findall(r'href="/console/figures/([a-z-]+)', browser.get(figures), re.IGNORECASE)):
        add(f"figure {figure} by day", f"/console/figures/{figure}?by=day&{year}")
    for interval in ("week", "month"):
        add(f"figure revenue by {interval}", f"/console/figures/revenue?by={interval}&{year}")
    for group in ("product", "storefront"):
        add(f"figure revenue by day and {group}", f"/console/figures/revenue?by=day&group={group}&{year}")
        add(f"figure revenue by day and {group}, CSV", f"/console/figures/revenue/csv?by=day&group={group}&{year}")

    add_list("customers", "/console/customers")
    user = count // 10
    for kind, text in {
        "name": f"u{user}", "beginning of names": "u1", "account token": "ffffffff-0000-4000-8000-000000000000",
        "transaction": str(1_000_000_000_000_000 + count // 2), "original transaction": "3000000000000000",
        "unclaimed transaction": "7000000000000042", "product": "sprout", "unknown order": "MX12345678",
    }.items():
        add(f"search by {kind}", f"/console/customers?search={text}")
    add("search by a part of a name", "/console/customers?search=egula")
    add("search by a part of no name", "/console/customers?search=zzz")
    add_list("customers, newest", "/console/customers?list=newest")
    for selection in ("lastPurchase", "spent", "notPaid", "ended"):
        add(f"customers, {selection}", f"/console/customers?list={selection}")
    add("customers as CSV", "/console/customers/csv?list=spent")
    add_list("customers of a product", f"/console/customers?product={APP}.sprout1")
    add("customers of a product of few", f"/console/customers?product={APP}.gardener.yearly")
    for customer in (f"u{user}", "regular"):
        path = add(f"customer {customer}", f"/console/customers/-/{customer}")
        add(f"{customer}: why an item is owned", f"{path}/explanation?item=garden+1")
        add(f"{customer}: why an item is not owned", f"{path}/explanation?item=background+1")
    add_list("regular: timeline", f"{path}/timeline")
    timeline = found["regular: timeline, second page"]
    add_list("regular: transactions", f"{path}/transactions")
    add_list("regular: grants", f"{path}/grants")
    add("regular: redemption", f"{path}/events/1")
    add("regular: refusal", f"{path}/events/19998")
    add("regular: notification", browser.link(timeline, "/notifications/"))
    # A transaction whose proof the service keeps, with its payment at the store.
    payment = add("store: payment", browser.send(
        "/console/store/buy",
        {"account": "bench", "product": f"{APP}.seeds10", "quantity": "1", "outcome": "purchased", "then": "redeem", "user": "regular"},
        "/console/store/buy"))
    transaction = add("regular: transaction", browser.link(f"{path}/transactions", f"{path}/transactions/[0-9]"))
    add("regular: money back", browser.link(transaction, "/money-back[?]"))
    add("proof", browser.link(transaction, r"/proofs/.*[0-9a-f]{64}"))
    add("regular: export", f"{path}/export")

    add("refusals", "/console/refusals")
    for code in ("ownedByAnotherUser", "anchorUnknown"):
        add_list(f"refusals, {code}", f"/console/refusals/{code}")
    add_list("unclaimed", "/console/unclaimed")
    add("unclaimed, by transaction", "/console/unclaimed?search=7000000000000042")
    add("unclaimed purchase", browser.link("/console/unclaimed", "/unclaimed/[0-9]"))
    add("proofs", "/console/proofs")

    add("products", "/console/products")
    add("products by text", "/console/products?text=sprout")
    product = add("product", f"/console/products/{APP}.sprout1")
    add("product: picture", f"{product}/picture")
    add("product: edit", f"{product}/edit")
    add_list("product: history", f"{product}/history")
    add("product: change", f"{product}/history/900")
    add_list("history of the catalog", "/console/catalog-history")
    add("new product", "/console/new-product")

    add_list("notifications", "/console/app-store")
    for title, query in {
        "of a frequent type": "type=ONE_TIME_CHARGE", "of a rare type": "type=REFUND", "of an outcome": "outcome=revoked",
        "of an app": f"app={APP}", "of a type and an outcome": "type=ONE_TIME_CHARGE&outcome=revoked",
        "of a type without any": "type=TEST",
    }.items():
        add(f"notifications {title}", f"/console/app-store?{query}")
    add("notification", browser.link("/console/app-store", r"app-store/notification\?"))
    add("reconciliation", "/console/app-store/reconciliation")
    add_list("consumption", "/console/app-store/consumption")

    add("webhooks", "/console/webhooks")
    endpoint = "/console/webhooks/we_first"
    add_list("webhook", endpoint)
    for state in ("pending", "failed", "delivered"):
        add(f"webhook, {state}", f"{endpoint}?state={state}")
    add("webhook: delivery", browser.link(endpoint, "/deliveries/"))
    add("webhook: secret", f"{endpoint}/secret")

    add_list("store", "/console/store")
    add("store: buy", "/console/store/buy")
    add_list("store: queue", "/console/store?state=queue")
    add("store: account", "/console/store?account=bench")
    add("store: receipt", "/console/store/account/receipt?account=bench")
    add("store: subscriptions", "/console/store?state=subscribed")
    add("store: transaction", browser.link("/console/store", r"/store\?transaction="))
    add_list("store: notifications", "/console/store/notifications")
    add("store: notification", browser.link("/console/store/notifications", "/store/notifications/[^?]"))
    add("store: settings", "/console/store/settings")
    add("store: clock", "/console/store/clock")

    add("health", "/console/health")
    add_list("health: team", "/console/health/team")
    add("health: actions of a member", "/console/health/team?member=Ada")
    add("health: actions of a member without any", "/console/health/team?member=Bench")
    add("health: actions of a kind", "/console/health/team?event=erased")
    add_list("team", "/console/team")
    add("account", "/console/account")
    add("log-in", "/console/log-in")
    return found


def missing(paths):
    """The routes of pages that no path has."""
    reached = {route.path for route in map(routes.reading, paths) if route}
    readable = {route.path for route in routes.all_routes() if not route.is_form}
    return sorted(readable - reached - STREAMS - PICTURES)


def measured(path):
    """The milliseconds of each answer, and the processor time of one."""
    before = processor()
    times = [browser.answer("GET", path)[1] for _ in range(rounds)]
    return times, (processor() - before) / rounds


def percentile(times, part):
    return sorted(times)[math.ceil(part * len(times)) - 1]


log_in()
found = pages()
without = missing(found.values())
print(f"\n{name}: each page {rounds} times over HTTP, on {len(os.sched_getaffinity(0))} cores")
print(f"{'page':50}{'kB':>7}{'p50 ms':>9}{'p99':>8}{'max':>8}{'processor':>11}")
slow = 0
for title, path in found.items():
    if os.environ.get("BENCH_PAGES", "") not in title:
        continue
    text, _ = browser.answer("GET", path)
    times, used = measured(path)
    for _ in range(ATTEMPTS - 1):
        if percentile(times, 0.99) > LIMIT and title not in WITHOUT_LIMIT:
            times, used = min((times, used), measured(path), key=lambda one: percentile(one[0], 0.99))
    high = percentile(times, 0.99)
    is_slow = high > LIMIT and title not in WITHOUT_LIMIT
    slow += is_slow
    print(f"{title:50}{len(text) / 1000:7.0f}{statistics.median(times):9.1f}{high:8.1f}{max(times):8.1f}{used:11.1f}"
          + ("  over the limit" if is_slow else ""), flush=True)
print(f"{name}: {slow} pages are over the limit of {LIMIT} ms.")
if without:
    print(f"bench-console: these pages are not measured: {', '.join(without)}", file=sys.stderr)
sys.exit(1 if slow or without else 0)
