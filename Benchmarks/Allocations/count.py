"""Prints the allocations of a service for requests of each kind, of which it sends many, one after the other over one connection.

    count.py URL FILE KEY PUBLIC_KEY TRANSACTIONS

FILE has the number of allocations of the process until now (allocations.c). KEY and PUBLIC_KEY are API keys of a back end and of an
app. TRANSACTIONS is a file with a signed transaction in each line. The ledger has the users of `Benchmarks/Service/seed.py`. A line of
the output has the name of the kind and the number for a request: the median of several rounds, because what the service does at times
of its own allocates, too. A redemption is alone in its commit, which many share under load: its number is the highest one.
"""
import http.client
import itertools
import statistics
import struct
import sys
import urllib.parse

ROUNDS = 9

url, file, key, public_key, transactions = sys.argv[1:]
connection = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc, timeout=10)
proofs = open(transactions)


def allocations() -> int:
    with open(file, "rb") as counter:
        return struct.unpack("=Q", counter.read())[0]


def send(path: str, credential: str | None, body: str | None = None) -> None:
    headers = {"Authorization": f"Bearer {credential}"} if credential else {}
    if body:
        headers["Content-Type"] = "application/json"
    connection.request("POST" if body else "GET", path, body, headers)
    answer = connection.getresponse()
    answer.read()
    if answer.status not in (200, 204):
        sys.exit(f"{path} answers with {answer.status}.")


def redeem(number: int) -> None:
    proof = proofs.readline().strip() or sys.exit(f"{transactions} has too few transactions.")
    send(f"/v1/users/u{number}/transactions", key, f'{{"signedTransaction":"{proof}"}}')


# The requests of a round, and the request of each number. All redemptions are fewer than the 1,024 signatures after which a key gets a
# table of its multiples (SigningKeys), which takes thousands of allocations once.
KINDS = {
    "live": (2000, lambda number: send("/health/live", None)),
    "products": (500, lambda number: send("/v1/products", key)),
    "items-cold": (100, lambda number: send(f"/v1/users/r{number}/items", key)),
    "items-repeated": (500, lambda number: send(f"/v1/users/r{number % 20}/items", key)),
    "info-cold": (100, lambda number: send(f"/v1/subscribers/c{number}", public_key)),
    "info-repeated": (500, lambda number: send(f"/v1/subscribers/c{number % 20}", public_key)),
    "redeem-alone": (80, redeem),
}

for name, (requests, request) in KINDS.items():
    numbers = itertools.count()
    # The first requests make what the later ones use again.
    for number in itertools.islice(numbers, max(requests, 200)):
        request(number)
    counts = []
    for _ in range(ROUNDS):
        before = allocations()
        for number in itertools.islice(numbers, requests):
            request(number)
        counts.append((allocations() - before) / requests)
    print(name, round(statistics.median(counts)), "allocations")
