"""Asks a service for each figure of a year, and prints how long the answers take, for `make bench-figures`.

    measure.py URL KEY NAME ROUNDS

The figures are those of the ledger that seed.py fills, day by day: of all, of each product and of each storefront.
"""
import datetime
import http.client
import json
import statistics
import sys
import time
import urllib.parse

GOAL = 50
url, key, name, rounds = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
last = datetime.date.today().replace(day=1) - datetime.timedelta(days=1)
first = last - datetime.timedelta(days=364)
address = urllib.parse.urlsplit(url)
connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)


def get(path):
    """The answer, and the milliseconds until its last byte."""
    start = time.perf_counter()
    connection.request("GET", path, headers={"Authorization": f"Bearer {key}"})
    response = connection.getresponse()
    body = response.read()
    milliseconds = (time.perf_counter() - start) * 1000
    if response.status != 200:
        sys.exit(f"bench-figures: {path} is answered with {response.status}: {body.decode()}")
    return json.loads(body), milliseconds


figures = {figure["figure"]: figure["kind"] for figure in get("/v1/figures")[0]["figures"]}
# Users are not counted by product, and cohorts not by groups.
GROUPS = {"average": ("", "storefront"), "cohort": ("",)}
measured = 0
print(f"\n{name}: a year by day, {rounds} times each, over HTTP")
print(f"{'figure':24}{'group':12}{'values':>8}{'median':>10}{'worst':>10}")
slow = 0
for figure, kind in figures.items():
    for group in GROUPS.get(kind, ("", "product", "storefront")):
        path = f"/v1/figures/{figure}?by=day&from={first}&to={last}" + (f"&group={group}" if group else "")
        answers = [get(path) for _ in range(rounds)]
        series = answers[0][0]["series"]
        values = sum(
            len(each["values"]) + len(each.get("denominators") or [])
            + sum(len(part) for part in (each.get("parts") or {}).values())
            for each in series
        )
        times = [milliseconds for _, milliseconds in answers]
        median = statistics.median(times)
        slow += median > GOAL
        measured += 1
        mark = "  over the goal" if median > GOAL else ""
        print(f"{figure:24}{group or '-':12}{values:8}{median:7.1f} ms{max(times):7.1f} ms{mark}")
print(f"{name}: {slow} of {measured} medians are over the goal of {GOAL} ms.", flush=True)
